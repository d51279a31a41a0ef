package fetch

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/realdata"
)

// startFarm serves two small sites of our own.
func startFarm(t *testing.T) realdata.Farm {
	data := t.TempDir()
	for _, host := range []string{"www.ada.example.org", "www.bob.example.org"} {
		require.NoError(t, os.MkdirAll(filepath.Join(data, host), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(data, host, "index.html"), []byte("<html><title>"+host+"</title></html>"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(data, host, "paper.pdf"), []byte("%PDF-1.4 small"), 0o644))
	}
	return realdata.StartFarm(t, data, "-no-search")
}

// control asks the farm's own host.
func control(t *testing.T, farm realdata.Farm, path, body string) string {
	resp, err := farm.Client().Post("http://ctl.farm"+path, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	out, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(out)
}

// TestFarmSeesNoTwoRequestsTooClose has many ask for one host with dropped
// connections in between, and looks at the farm's own log.
func TestFarmSeesNoTwoRequestsTooClose(t *testing.T) {
	t.Parallel()
	farm := startFarm(t)
	const host, delay = "www.bob.example.org", 60 * time.Millisecond
	control(t, farm, "/faults", `{"`+host+`":{"drop_every":3}}`)
	c := testClient(t, func(cfg *Config) {
		cfg.Proxy = farm.Proxy.String()
		cfg.Pacing = Pacing{MinDelay: delay, Factor: 1, BackoffBase: delay, BackoffMax: delay, ParkAfter: 1000, Rand: func() float64 { return 1 }}
	})
	done := make(chan struct{})
	for range 4 {
		go func() {
			for range 5 {
				_, _ = c.Fetch(context.Background(), Request{URL: "http://" + host + "/"})
			}
			done <- struct{}{}
		}()
	}
	for range 4 {
		<-done
	}
	var last time.Time
	n := 0
	for line := range strings.Lines(control(t, farm, "/log", "")) {
		var e struct {
			Start    time.Time `json:"start"`
			Host     string    `json:"host"`
			InFlight int       `json:"in_flight"`
			Agent    string    `json:"agent"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e.Host != host {
			continue
		}
		n++
		require.LessOrEqual(t, e.InFlight, 1)
		require.False(t, e.Start.IsZero())
		if !last.IsZero() {
			require.GreaterOrEqual(t, e.Start.Sub(last), delay)
		}
		last = e.Start
	}
	require.Greater(t, n, 20, "robots.txt and twenty pages, with those that were asked again")
}
