package app

import (
	"fmt"
	"math"
	"net/netip"
	"runtime/debug"
	"strconv"
	"time"

	"gleaner/internal/config"
	"gleaner/internal/fetch"
)

func pacing(cfg *config.Config) fetch.Pacing {
	delay := cfg.Duration("delay")
	return fetch.Pacing{MinDelay: delay, Unpaced: delay == 0, MaxDelay: max(delay, cfg.Duration("max-delay")),
		MaxCrawlDelay: max(delay, cfg.Duration("max-crawl-delay")), MaxRetryAfter: cfg.Duration("max-retry-after"),
		Factor: cfg.Float("delay-factor"), ParkAfter: cfg.Number("park-after"), ParkFor: cfg.Duration("park-for"), Floor: cfg.Duration("min-delay"),
		BackoffBase: cfg.Duration("retry-base") / 3, Rest: rest(cfg.Duration("min-delay"))}.Defaults()
}

// rest is the least pause after a failure, ten seconds whatever the settings say of
// retries. Only who lowers the floor of all pauses, which is for servers of their
// own, lowers it too.
func rest(floor time.Duration) time.Duration { return min(10*time.Second, 20*floor) }

// linger is how long a request under way may take when its worker is told to
// stop: half of the worker's stop timeout, and a third of a lease.
const linger = 10 * time.Second

func fetchConfig(cfg *config.Config) (fetch.Config, error) {
	fc := fetch.Config{Product: "Gleaner", Version: Version, Contact: cfg.Text("contact"), CAFile: cfg.Text("ca-file"), Proxy: cfg.Text("proxy"), Pacing: pacing(cfg), Linger: linger}
	fc.Memory = fetch.NewMemory(memory() / 2)
	fc.Limits.DocumentBytes, fc.Limits.PageBytes = int64(cfg.Float("max-document-bytes")), int64(cfg.Float("max-page-bytes"))
	for _, s := range config.Fields(cfg.Text("allow-addresses")) {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return fc, fmt.Errorf("config: allow-addresses: %q is no network such as 10.1.0.0/16", s)
		}
		if p.Addr().IsLoopback() {
			fc.AllowLoopback = true
		}
		fc.AllowPrivate = append(fc.AllowPrivate, p)
	}
	for _, s := range config.Fields(cfg.Text("ports")) {
		port, err := strconv.ParseUint(s, 10, 16)
		if err != nil || port == 0 {
			return fc, fmt.Errorf("config: ports: %q is no port", s)
		}
		fc.Ports = append(fc.Ports, uint16(port))
	}
	for _, s := range config.Fields(cfg.Text("pace-by")) {
		switch s {
		case "host":
		case "domain":
			fc.PaceBy |= fetch.PaceByDomain
		case "address":
			fc.PaceBy |= fetch.PaceByAddress
		default:
			return fc, fmt.Errorf("config: pace-by: want host, domain or address, not %q", s)
		}
	}
	return fc, nil
}

// memory is what the process may take (GOMEMLIMIT), or two GiB where it is not
// told: the bodies in flight may take half of it together, what is unpacked a
// quarter. They are two, since who holds a body may wait to unpack it.
func memory() int64 {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit
	}
	return 2 << 30
}

// Proxied says whether web pages are fetched through a proxy by these settings.
func Proxied(cfg *config.Config) (bool, error) {
	c, err := Client(cfg)
	if err != nil {
		return false, err
	}
	return c.Proxied(), nil
}

// UserAgent is how the web sees a worker of these settings. The error is that of
// a setting of the polite client that is not valid.
func UserAgent(cfg *config.Config) (string, error) {
	fc, err := fetchConfig(cfg)
	if err != nil {
		return "", err
	}
	c, err := fetch.New(fc)
	if err != nil {
		return "", err
	}
	return c.UserAgent(), nil
}
