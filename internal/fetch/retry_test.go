package fetch

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

// TestANoIsNotSaidFromMemory: workers that remember a refusal hear of it when a
// person has robots.txt asked for anew.
func TestANoIsNotSaidFromMemory(t *testing.T) {
	t.Parallel()
	const denied, opened = "User-agent: *\nDisallow: /", "User-agent: *\nAllow: /"
	for name, c := range map[string]struct {
		first http.HandlerFunc
		no    gleaner.Outcome
	}{
		"out of order": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, RobotsUnavailable},
		"denied":       {saying(denied), RobotsDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var open atomic.Bool
			s, asked := robotsSite(t, func(w http.ResponseWriter, r *http.Request) {
				if open.Load() {
					_, _ = w.Write([]byte(opened))
					return
				}
				c.first(w, r)
			})
			record := newMemoryRobots(10)
			shared := func(cfg *Config) {
				cfg.Robots, cfg.Gate = record, newMemoryGate(cfg.Pacing, nil)
				cfg.Pacing.BackoffBase, cfg.Pacing.BackoffMax = time.Hour, time.Hour // of robots.txt
			}
			workers := []*Client{testClient(t, shared), testClient(t, shared)}
			ask := func(want gleaner.Outcome) {
				for _, w := range workers {
					require.Equal(t, want, outcome(w, s.URL+"/a"))
				}
			}
			ask(c.no)
			open.Store(true)
			ask(c.no)
			require.EqualValues(t, 1, asked.Load(), "until then it is not asked for again")
			host := s.Listener.Addr().String()
			rec, ok, err := record.LoadRobots(context.Background(), host, RobotsRecord{})
			require.True(t, ok)
			require.NoError(t, err)
			rec.ExpiresAt = time.Now()
			require.NoError(t, record.SaveRobots(context.Background(), host, rec))
			ask(gleaner.OK)
			require.EqualValues(t, 2, asked.Load())
		})
	}
}
