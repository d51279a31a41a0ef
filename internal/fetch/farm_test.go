package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/realdata"
)

// startFarm serves two small sites of our own and returns the proxy to ask and
// the file of its authority.
func startFarm(t *testing.T) (proxy, ca string) {
	data := t.TempDir()
	for _, host := range []string{"www.ada.example.org", "www.bob.example.org"} {
		require.NoError(t, os.MkdirAll(filepath.Join(data, host), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(data, host, "index.html"), []byte("<html><title>"+host+"</title></html>"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(data, host, "paper.pdf"), []byte("%PDF-1.4 small"), 0o644))
	}
	farm := realdata.StartFarm(t, data, "-no-search")
	return farm.Proxy.String(), farm.CA
}

// control asks the farm's own host through its proxy.
func control(t *testing.T, proxy, path string, body []byte) []byte {
	p, err := url.Parse(proxy)
	require.NoError(t, err)
	h := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(p)}}
	defer h.CloseIdleConnections()
	resp, err := h.Post("http://ctl.farm"+path, "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, 200, resp.StatusCode)
	var out bytes.Buffer
	_, err = out.ReadFrom(resp.Body)
	require.NoError(t, err)
	return out.Bytes()
}

// TestFarm asks a farm that misbehaves in each of its ways.
func TestFarm(t *testing.T) {
	t.Parallel()
	proxy, ca := startFarm(t)
	const host = "www.ada.example.org"
	tests := []struct {
		name  string
		fault map[string]any
		path  string
		want  gleaner.Outcome
	}{
		{"nothing wrong", nil, "/", gleaner.OK},
		{"latency", map[string]any{"latency_ms": 20}, "/", gleaner.OK},
		{"busy", map[string]any{"error_every": 1, "retry_after": 120}, "/", Busy},
		{"server error", map[string]any{"error_every": 1, "error_code": 500}, "/", ServerError},
		{"dropped", map[string]any{"drop_every": 1}, "/", ConnectFailure},
		{"hung", map[string]any{"hang_every": 1}, "/", Timeout},
		{"slow", map[string]any{"slow_body": 10}, "/", SlowBody},
		{"loop", map[string]any{"loop": true}, "/", RedirectLoop},
		{"bomb", map[string]any{"bomb": true}, "/", Inflated},
		{"trap", map[string]any{"trap": true}, "/cal/1/", gleaner.OK},
		{"private redirect", map[string]any{"redirect_to": "http://10.0.0.1/"}, "/", AddressDenied},
		{"redirect away", map[string]any{"redirect_to": "http://www.bob.example.org/"}, "/", RedirectOffHost},
		{"robots away", map[string]any{"robots_code": 503}, "/", RobotsUnavailable},
		{"robots say no", map[string]any{"robots_text": "User-agent: *\nDisallow: /"}, "/", RobotsDenied},
		{"wall as PDF", map[string]any{"html_as_pdf": true}, "/paper.pdf", gleaner.OK},
	}
	for _, tt := range tests {
		faults, err := json.Marshal(map[string]any{host: tt.fault})
		require.NoError(t, err)
		if tt.fault == nil {
			faults = []byte("{}")
		}
		control(t, proxy, "/faults", faults)
		c := testClient(t, func(cfg *Config) { cfg.Proxy = proxy })
		_, err = c.Fetch(context.Background(), Request{URL: "http://" + host + tt.path})
		require.Equal(t, tt.want, OutcomeOf(err), "%s: %v", tt.name, err)
	}
	// The farm buffers what it promises, so a cut answer may not even begin.
	control(t, proxy, "/faults", []byte(`{"`+host+`":{"cut_every":1}}`))
	c := testClient(t, func(cfg *Config) { cfg.Proxy, cfg.CAFile = proxy, ca })
	_, err := c.Fetch(context.Background(), Request{URL: "http://" + host + "/"})
	require.Contains(t, []gleaner.Outcome{Truncated, ConnectFailure}, OutcomeOf(err), "%v", err)

	control(t, proxy, "/faults", []byte("{}"))
	resp := mustFetch(t, c, Request{URL: "https://" + host + "/"}) // https through the proxy, with the farm's own authority
	require.Contains(t, string(resp.Body), host)
	again := mustFetch(t, c, Request{URL: "https://" + host + "/", ETag: resp.Header.Get("ETag")})
	require.Equal(t, http.StatusNotModified, again.Status)
}

// TestFarmSeesNoTwoRequestsTooClose has many ask for one host with dropped
// connections in between, and looks at the farm's own log.
func TestFarmSeesNoTwoRequestsTooClose(t *testing.T) {
	t.Parallel()
	proxy, _ := startFarm(t)
	const host, delay = "www.bob.example.org", 60 * time.Millisecond
	control(t, proxy, "/faults", []byte(`{"`+host+`":{"drop_every":3}}`))
	c := testClient(t, func(cfg *Config) {
		cfg.Proxy = proxy
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
	for line := range strings.Lines(string(control(t, proxy, "/log", nil))) {
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
