package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gleaner/internal/guard"
)

// Check says what keeps a part from answering; nil if it does.
type Check func(ctx context.Context) error

// checkTime bounds one check of /readyz.
const checkTime = 3 * time.Second

// Serve answers /metrics, /healthz (the process is up) and /readyz (every check
// passes) on an address until close is called.
func (t *Telemetry) Serve(address string, checks map[string]Check) (at string, close func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, fmt.Errorf("telemetry: metrics-address: %w", err)
	}
	s := &http.Server{Handler: t.handler(checks), ReadHeaderTimeout: 5 * time.Second}
	ended := guard.Go(func() {
		if err := s.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.log.Error("metrics and health are not served any more", "error", err)
		}
	})
	return l.Addr().String(), func() { _ = s.Close(); <-ended }, nil
}

// handler is what Serve serves.
func (t *Telemetry) handler(checks map[string]Check) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { ready(w, r, checks) })
	return mux
}

// ready runs all checks side by side and lists them: 200 if all passed, else 503.
func ready(w http.ResponseWriter, r *http.Request, checks map[string]Check) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTime)
	defer cancel()
	said, status := map[string]string{}, http.StatusOK
	var mu sync.Mutex
	all, _ := guard.WithContext(ctx)
	for name, check := range checks {
		all.Go(func() error {
			err := guard.Run(func() error { return check(ctx) })
			mu.Lock()
			defer mu.Unlock()
			said[name] = "ok"
			if err != nil {
				said[name], status = err.Error(), http.StatusServiceUnavailable
			}
			return nil
		})
	}
	_ = all.Wait()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(said)
}
