package crawl

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTimeOfACrawlIsLimited: a server that keeps each answer back, or asks for a
// pause before each, has no crawl for ever, in however many slices; its crawl ends
// by name, with what it has.
func TestTimeOfACrawlIsLimited(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit time.Duration
		most  int // requests
		page  func(n int) func(http.ResponseWriter, *http.Request)
	}{
		"slow answers": {2 * time.Second, 2 * 25, func(n int) func(http.ResponseWriter, *http.Request) {
			return func(rw http.ResponseWriter, _ *http.Request) {
				time.Sleep(100 * time.Millisecond) // the server's, not the test's
				_, _ = fmt.Fprint(rw, links(fmt.Sprintf("/%d.html", n+1), fmt.Sprintf("/%d.pdf", n)))
			}
		}},
		"pauses": {time.Hour, 2 * 15, func(n int) func(http.ResponseWriter, *http.Request) {
			asked := 0
			return func(rw http.ResponseWriter, _ *http.Request) {
				if asked++; asked == 1 {
					rw.Header().Set("Retry-After", "240")
					rw.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				_, _ = fmt.Fprint(rw, links(fmt.Sprintf("/%d.html", n+1)))
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages := map[string]any{"/": links("/0.html")}
			for n := range 150 {
				pages[fmt.Sprintf("/%d.html", n)] = c.page(n)
				pages[fmt.Sprintf("/%d.pdf", n)] = fmt.Sprint(n)
			}
			w, s := newWorld(t), serve(t, pages)
			w.cfg.SlicePages, w.cfg.MaxTime, w.cfg.TrapPages, w.cfg.MaxDepth = 4, c.limit, 0, 150
			w.seed(t, s.host, "/", "/")
			cr := w.crawler(w.client)
			r := w.finish(t, cr, s.host)
			require.Equal(t, TimeLimit, r.Ending, "%s %v", r.Reason, w.record(t, s.host))
			require.Regexp(t, `^time-limit: \d+ requests took .+, the limit of a crawl is `, r.Reason)
			before := s.asked()
			require.Greater(t, len(before), 2, "what it had is kept")
			require.LessOrEqual(t, len(before), c.most)
			require.Equal(t, TimeLimit, w.finish(t, cr, s.host).Ending)
			require.Equal(t, before, s.asked(), "another slice of the crawl asks nothing")

			_, err := w.db.Pool.Exec(t.Context(), `UPDATE sites SET state='stopped'`)
			require.NoError(t, err)
			w.hurry(t, s.host)
			sliced(t, cr, s.host)
			require.NotEqual(t, before, s.asked(), "the next crawl has its own time")
		})
	}
}
