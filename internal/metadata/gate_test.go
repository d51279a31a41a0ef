package metadata

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
)

// brokenGate has lost its database, for so many turns.
type brokenGate struct {
	fetch.Gate
	lost int
}

var errLostDatabase = errors.New("the database is away")

func (g *brokenGate) Turn(ctx context.Context, host string, d time.Duration) (func(fetch.Visit), error) {
	if g.lost > 0 {
		g.lost--
		return nil, errLostDatabase
	}
	return g.Gate.Turn(ctx, host, d)
}

// TestALostDatabaseIsNoFailureOfAService: however often no turn could be had,
// the service is asked at once when turns can be had again.
func TestALostDatabaseIsNoFailureOfAService(t *testing.T) {
	t.Parallel()
	cfg, s := stubConfig(t, map[string][]reply{"pid/1/2": one(`<dblpperson name="Ann Lee" pid="1/2"><person key="homepages/1/2"><author pid="1/2">Ann Lee</author></person></dblpperson>`)})
	gate := &brokenGate{Gate: NewLocalGate(), lost: 5}
	cfg.Gate = gate
	d := NewDBLP(cfg)
	for range 5 {
		_, err := d.Person(t.Context(), "1/2")
		require.ErrorIs(t, err, errLostDatabase)
		require.False(t, isUnavailable(err))
	}
	require.Empty(t, s.asked)
	assert.Equal(t, 0, gate.lost)
	if p, err := d.Person(t.Context(), "1/2"); err != nil || p.Author.PID != "1/2" {
		t.Errorf("got %+v, %v", p, err)
	}
	gate.lost = 1
	papers := []gleaner.Paper{{Key: "a", Title: "A", DOI: "10.1000/a"}}
	_, err := LocateCopies(t.Context(), []CopySource{NewUnpaywall(cfg)}, papers)
	require.ErrorIs(t, err, errLostDatabase, "copies: got")
}
