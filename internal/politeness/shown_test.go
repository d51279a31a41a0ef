package politeness

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/record/store"
)

// TestWhoSetThePaceIsOnRecord: how often a host is asked, and who set that, is
// there to be seen while the request is under way and after it.
func TestWhoSetThePaceIsOnRecord(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, fetch.Pacing{MinDelay: 2 * time.Second, Floor: time.Second}, "a")
	k.Keep(func(_ context.Context, site int, def time.Duration) (time.Duration, bool, error) {
		return def, false, nil
	})
	pace := func(host string) store.Pace {
		t.Helper()
		s, err := db.Site(t.Context(), host)
		require.NoError(t, err)
		return s.Pace
	}
	for host, c := range map[string]struct {
		delay, robots, hand time.Duration
		visit               fetch.Visit
		before, after       store.Pace
	}{
		"new.test":         {visit: fetch.Visit{Status: 200}, before: store.Pace{Seconds: 2, By: "default"}, after: store.Pace{Seconds: 2, By: "default"}},
		"asked.test":       {delay: 7 * time.Second, visit: fetch.Visit{Status: 200}, before: store.Pace{Seconds: 7, By: "--delay"}, after: store.Pace{Seconds: 7, By: "--delay"}},
		"hurry.test":       {delay: time.Millisecond, visit: fetch.Visit{Status: 200}, before: store.Pace{Seconds: 1, By: "min-delay"}, after: store.Pace{Seconds: 1, By: "min-delay"}},
		"robots.test":      {robots: 20 * time.Second, visit: fetch.Visit{Status: 200}, before: store.Pace{Seconds: 20, By: "Crawl-delay"}, after: store.Pace{Seconds: 20, By: "Crawl-delay"}},
		"learnt.test":      {visit: fetch.Visit{Status: 200, CrawlDelay: 9 * time.Second}, before: store.Pace{Seconds: 2, By: "default"}, after: store.Pace{Seconds: 9, By: "Crawl-delay"}},
		"slow.test":        {visit: fetch.Visit{Status: 200, Elapsed: 3 * time.Second}, before: store.Pace{Seconds: 2, By: "default"}, after: store.Pace{Seconds: 15, By: "slow answers"}},
		"busy.test":        {visit: fetch.Visit{Status: 429, Failed: true, RetryAfter: time.Hour}, before: store.Pace{Seconds: 2, By: "default"}, after: store.Pace{Seconds: 2, By: "default", Rest: "Retry-After"}},
		"broken.test":      {visit: fetch.Visit{Status: 500, Failed: true}, before: store.Pace{Seconds: 2, By: "default"}, after: store.Pace{Seconds: 2, By: "default", Rest: "failures"}},
		"hand.test":        {hand: 9 * time.Second, visit: fetch.Visit{Status: 200}, before: store.Pace{Seconds: 9, By: "set by hand", AtLeast: 9}, after: store.Pace{Seconds: 9, By: "set by hand", AtLeast: 9}},
		"hand-asked.test":  {hand: 3 * time.Second, delay: 7 * time.Second, visit: fetch.Visit{Status: 200}, before: store.Pace{Seconds: 7, By: "--delay", AtLeast: 3}, after: store.Pace{Seconds: 7, By: "--delay", AtLeast: 3}},
		"hand-slow.test":   {hand: 9 * time.Second, visit: fetch.Visit{Status: 200, Elapsed: 3 * time.Second}, before: store.Pace{Seconds: 9, By: "set by hand", AtLeast: 9}, after: store.Pace{Seconds: 15, By: "slow answers", AtLeast: 9}},
		"hand-robots.test": {hand: 9 * time.Second, robots: 20 * time.Second, visit: fetch.Visit{Status: 200}, before: store.Pace{Seconds: 20, By: "Crawl-delay", AtLeast: 9}, after: store.Pace{Seconds: 20, By: "Crawl-delay", AtLeast: 9}},
	} {
		if c.hand > 0 {
			require.NoError(t, Slow(t.Context(), db.Pool, host, c.hand))
		}
		done, err := k.Every(c.delay).Turn(t.Context(), host, c.robots)
		require.NoError(t, err)
		require.Equal(t, c.before, pace(host), host)
		done(c.visit)
		is := pace(host)
		require.Equal(t, c.after.Rest != "", is.Until != nil, host)
		if c.after.Rest == "Retry-After" {
			require.WithinDuration(t, time.Now().Add(time.Hour), *is.Until, time.Minute, host)
		}
		is.Until = nil
		require.Equal(t, c.after, is, host)
	}
	// What was slow is so no more, and what asked for a pause has had it.
	for _, host := range []string{"slow.test", "busy.test"} {
		storetest.Exec(t, db.Pool,
			`UPDATE sites SET next_allowed_at=now(), paced_until=now(), asked_until=now() WHERE host=$1`, host)
		visit(t, k, host, 0, fetch.Visit{Status: 200})
		require.Equal(t, store.Pace{Seconds: 2, By: "default"}, pace(host), host)
	}
}

// TestWithoutAPauseThereIsNone on record either, whatever it was before.
func TestWithoutAPauseThereIsNone(t *testing.T) {
	t.Parallel()
	db := open(t)
	for _, p := range []fetch.Pacing{{MinDelay: time.Millisecond}, unpaced} {
		visit(t, NewKeeper(db.Pool, p, "a"), "own.test", 0, fetch.Visit{Status: 200})
	}
	s, err := db.Site(t.Context(), "own.test")
	require.NoError(t, err)
	require.Equal(t, store.Pace{By: "default"}, s.Pace)
}
