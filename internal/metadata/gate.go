package metadata

import (
	"math"
	"time"

	"gleaner/internal/fetch"
)

// NewLocalGate paces requests within this process, by the delay of each service and what it
// asks for, and lets every caller wait for its turn. Clients that share a gate share a pace.
func NewLocalGate() fetch.Gate {
	const day = 24 * time.Hour
	return fetch.NewGate(fetch.Pacing{
		Unpaced: true, MaxCrawlDelay: day, MaxRetryAfter: day, MaxBlock: day,
		BackoffBase: 1, BackoffMax: 1, ParkAfter: math.MaxInt, // each client has a breaker
	})
}
