package pool_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/notify/notifytest"
)

// TestOperatorIsToldWhatHappened: a worker tells by webhook and mail that a harvest
// ended, that a site refused and that matches wait for review; a webhook that fails is
// asked again, and nobody is told anything twice.
func TestOperatorIsToldWhatHappened(t *testing.T) {
	t.Parallel()
	box := notifytest.New(t)
	var mu sync.Mutex
	var posted []string
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if posted = append(posted, string(body)); len(posted) == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(hook.Close)
	w := newWorldBehind(t, map[string]string{"notify-webhook": hook.URL, "notify-smtp": "smtp://" + box.Address, "notify-mail-from": "gleaner@library.example",
		"notify-mail-to": "ada@library.example", "notify-review": "1"}, asItIs)
	exec := func(sql string) {
		_, err := w.db.Pool.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	for _, channel := range []string{"webhook", "mail"} {
		n, err := w.db.News(t.Context(), channel, 1)
		require.NoError(t, err)
		require.True(t, n.Empty(), "a new channel is told nothing of old")
	}
	require.NoError(t, w.db.SaveHarvest(t.Context(), store.Harvest{ID: "conf/x/2001", Venue: "conf/x", Options: []byte("{}"), Stage: "papers"}))
	require.NoError(t, w.db.SetStage(t.Context(), "conf/x/2001", gleaner.StageFailed, "its venue is unknown"))
	_, err := store.EnsureSite(t.Context(), w.db.Pool, "shy.example")
	require.NoError(t, err)
	exec(`UPDATE sites SET state='refused', reason='403', crawl_finished=now() - interval '5 minutes'`)
	require.NoError(t, w.db.SavePapers(t.Context(), []gleaner.Paper{{Key: "conf/x/A", Venue: "conf/x", Year: 2001, Title: "A"}}, nil))
	exec(`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) VALUES ('a', 'a', 'a', 1, 'pdf', 'accepted')`)
	exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/x/A', 'a', 'ambiguous', .5)`)
	exec(`UPDATE harvests SET started_at=started_at - interval '10 minutes', completed_at=completed_at - interval '5 minutes'`)
	exec(`UPDATE chores SET last=last - interval '10 minutes' WHERE name LIKE 'notice %'`)
	stop := w.work(t)
	t.Cleanup(stop)
	told := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append(box.Mails(), posted...)
	}
	require.Eventually(t, func() bool { return len(told()) >= 3 }, 2*time.Minute, 100*time.Millisecond)
	require.Eventually(t, func() bool {
		n, err := w.db.News(t.Context(), "webhook", 1)
		return err == nil && n.Empty() && n.Review == 1
	}, time.Minute, 100*time.Millisecond, "it would be told again")
	require.Len(t, box.Mails(), 1, "what the webhook failed at was told by mail twice")
	require.Len(t, told(), 3)
	for _, said := range told() {
		for _, want := range []string{"conf/x/2001 failed", "its venue is unknown", "shy.example", "1 match to review"} {
			require.Contains(t, said, want)
		}
	}
}
