package app

import (
	"math"
	"runtime/debug"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/politeness"
	"gleaner/internal/service/config"
)

func pacing(cfg *config.Config) fetch.Pacing {
	delay, pace := cfg.Web.Delay, cfg.Policy.Pace
	return fetch.Pacing{MinDelay: delay, Unpaced: delay == 0, MaxDelay: max(delay, pace.MaxDelay),
		MaxCrawlDelay: max(delay, pace.MaxCrawlDelay), MaxRetryAfter: pace.MaxRetryAfter,
		Factor: pace.Factor, ParkAfter: pace.ParkAfter, ParkFor: pace.ParkFor, Floor: cfg.Web.MinDelay,
		BackoffBase: cfg.Policy.Crawl.RetryBase / 3, Rest: rest(cfg.Web.MinDelay)}
}

// rest is the least pause after a failure, ten seconds whatever the settings say of
// retries. Only who lowers the floor of all pauses, which is for servers of their
// own, lowers it too.
func rest(floor time.Duration) time.Duration { return min(10*time.Second, 20*floor) }

// linger is how long a request under way may take when its worker is told to
// stop: half of the worker's stop timeout, and a third of a lease.
const linger = 10 * time.Second

func fetchConfig(cfg *config.Config) fetch.Config {
	fc := fetch.Config{Contact: cfg.Web.Contact, CAFile: cfg.Web.CAFile, Proxy: string(cfg.Web.Proxy), Pacing: pacing(cfg), Linger: linger,
		AllowPrivate: cfg.Web.AllowAddresses, Ports: cfg.Web.Ports}
	fc.Limits.DocumentBytes, fc.Limits.PageBytes = int64(cfg.Policy.Fetch.DocumentBytes), int64(cfg.Policy.Fetch.PageBytes)
	for _, by := range cfg.Web.PaceBy {
		switch by {
		case "domain":
			fc.PaceBy |= fetch.PaceByDomain
		case "address":
			fc.PaceBy |= fetch.PaceByAddress
		}
	}
	return fc
}

// webConfig is that of every polite client of this process: they share the turns of
// hosts, what is known of them, and the memory.
func (a *App) webConfig() fetch.Config {
	fc := fetchConfig(a.Config)
	fc.Memory = a.memory
	fc.Gate, fc.Robots, fc.Blocked = a.Keeper, politeness.NewRobots(a.DB.Pool), a.DB.Blocked
	return fc
}

// memory is what the process may take (GOMEMLIMIT), or two GiB where it is not
// told: the bodies in flight of all clients may take three eighths of it together,
// the windows of their decoders an eighth, what is unpacked a quarter. That is
// apart, since who holds a body may wait to unpack it.
func memory() int64 {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit
	}
	return 2 << 30
}

// bodies is the bound of what clients take.
func bodies() *fetch.Memory { return fetch.NewMemory(memory() / 8 * 3) }
