package crawl

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/record/store"
)

// TestClocksApart: whatever the clock of the machine says on which a worker runs,
// what failed waits as long as it is to wait, by the database's clock, and what was
// asked since a moment of the database's was asked since.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]time.Duration{"the database is ahead": 10 * time.Minute, "the database is behind": -10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOn(t, devtest.PostgresApart(t, apart))
			busy := func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) }
			s := serve(t, map[string]any{"/": links("/busy.html", "/page.html"), "/busy.html": busy, "/page.html": links()})
			id := w.seed(t, s.host, "/", "/")
			began := storetest.Get[time.Time](t, w.db.Pool, `SELECT clock_timestamp()`)
			for range 2 {
				w.cfg.RetryBase = 5 * time.Minute
				r := sliced(t, w.crawler(w.client), s.host)
				require.Equal(t, Waiting, r.Ending, r.Reason)
				require.InDelta(t, 5*time.Minute, r.Wait, float64(time.Minute))
				require.Equal(t, 1, s.asked()["/busy.html"], "it is to rest for five minutes")
				w.rested(t, s.host)
			}
			early := storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM urls WHERE site_id=$1 AND fetched_at NOT BETWEEN $2 AND clock_timestamp()`, id, began)
			require.Zero(t, early, "URLs that were asked outside of the time of the crawl")

			// A harvest that began before the crawl asks nothing of it again.
			require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: "stopped"}, w.cfg.Recrawl))
			waiting, err := w.db.RequeueDue(t.Context(), s.host, store.PutBack{All: true, Before: began}, w.cfg.Recrawl)
			require.NoError(t, err)
			require.Zero(t, waiting)
		})
	}
}
