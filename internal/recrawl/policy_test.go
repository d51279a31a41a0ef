package recrawl

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNext(t *testing.T) {
	t.Parallel()
	p := Defaults()
	for _, c := range []struct {
		name     string
		document bool
		had      time.Duration
		event    Event
		want     time.Duration
		again    bool
	}{
		{"a page's first visit", false, 0, Changed, 14 * day, true},
		{"a first page of publications", false, 0, Gained, 7 * day, true},
		{"unchanged", false, 10 * day, Unchanged, 14 * day, true},
		{"changed", false, 10 * day, Changed, 8 * day, true},
		{"gained documents", false, 10 * day, Gained, 5 * day, true},
		{"never above the bound", false, 80 * day, Unchanged, 90 * day, true},
		{"never below the bound", false, day, Gained, day, true},
		{"a document's first visit", true, 0, Changed, 90 * day, true},
		{"a document's bounds are wider", true, 300 * day, Unchanged, 360 * day, true},
		{"missing for the first time", false, 0, NotFound, 30 * day, true},
		{"still missing", false, 30 * day, NotFound, 60 * day, true},
		{"given up", false, 60 * day, NotFound, 0, false},
		{"a document that vanished", true, 90 * day, NotFound, 180 * day, true},
		{"failing", false, 2 * day, Failing, 4 * day, true},
		{"failing from the start", false, 0, Failing, day, true},
		{"unchanged a day later", false, 10 * day, Unchanged.After(day, 10*day), 10 * day, true},
		{"unchanged when it was due", false, 10 * day, Unchanged.After(10*day, 10*day), 14 * day, true},
		{"changed a day later", false, 10 * day, Changed.After(day, 10*day), 8 * day, true},
		{"forbidden", false, 10 * day, Permanent, 0, false},
	} {
		next, again := p.Next(c.document, c.had, c.event)
		require.Equal(t, c.want, next, c.name)
		require.Equal(t, c.again, again, c.name)
	}
}

func TestNextStaysWithinBounds(t *testing.T) {
	t.Parallel()
	p := Defaults()
	had := time.Duration(0)
	for range 50 {
		had, _ = p.Next(false, had, Unchanged)
	}
	require.Equal(t, p.Max, had)
	for range 50 {
		had, _ = p.Next(false, had, Changed)
	}
	require.Equal(t, p.Min, had)
}

func TestSite(t *testing.T) {
	t.Parallel()
	p := Defaults()
	for _, c := range []struct {
		name           string
		had            time.Duration
		o              Outcome
		rest, interval time.Duration
	}{
		{"first crawl", 0, Outcome{Ended: true, Gained: 9}, 14 * day, 14 * day},
		{"nothing new", 10 * day, Outcome{Ended: true}, 14 * day, 14 * day},
		{"changed", 10 * day, Outcome{Ended: true, Changed: 1}, 8 * day, 8 * day},
		{"new papers", 10 * day, Outcome{Ended: true, Changed: 1, Gained: 1}, 5 * day, 5 * day},
		{"somebody's papers are missing", 10 * day, Outcome{Ended: true, Wanted: true}, 7 * day, 14 * day},
		{"nothing new a day later", 10 * day, Outcome{Ended: true, Soon: true}, 10 * day, 10 * day},
		{"not worth it", 10 * day, Outcome{Ended: true, Barren: true}, 360 * day, 14 * day},
		{"not worth it, but somebody's papers are missing", 10 * day, Outcome{Ended: true, Barren: true, Wanted: true}, 180 * day, 14 * day},
		{"refused once", 10 * day, Outcome{Retries: 1}, time.Hour, 10 * day},
		{"refused four times", 10 * day, Outcome{Retries: 4}, 8 * time.Hour, 10 * day},
		{"refused for ever", 10 * day, Outcome{Retries: 400}, 30 * day, 10 * day},
	} {
		rest, interval := p.Site(c.had, c.o)
		require.Equal(t, c.rest, rest, c.name)
		require.Equal(t, c.interval, interval, c.name)
	}
}

func TestRevisits(t *testing.T) {
	t.Parallel()
	p := Policy{Revisit: 3}
	require.Equal(t, []bool{false, false, true, false, false, true},
		[]bool{p.Revisits(1), p.Revisits(2), p.Revisits(3), p.Revisits(4), p.Revisits(5), p.Revisits(6)})
	require.False(t, Policy{}.Revisits(5))
}
