package homepage

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/web/page"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pagesByError answers every page with an error.
type pagesByError struct{ err error }

func (g pagesByError) Get(_ context.Context, u string) (*page.Page, string, error) {
	return nil, u, g.err
}

// noPages is a search engine that fails, or knows nothing.
type noPages struct{ err error }

func (noPages) Name() string                                                     { return "none" }
func (s noPages) Search(context.Context, string, int) ([]evidence.Result, error) { return nil, s.err }

// What did not answer is told from what is not there.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	ada := gleaner.Author{Name: "Ada Lovelace", PID: "l/AL"}
	listed := Subject{Author: ada, Listed: []Listed{{URL: "http://www.example.edu/~ada/", Source: "dblp"}}}
	busy := &fetch.Error{Outcome: fetch.Busy, Status: 503}
	for _, tc := range []struct {
		name           string
		subject        Subject
		page, search   error
		reason         string
		again, mustErr bool
	}{
		{"page out", listed, busy, nil,
			"homepage did not answer (http://www.example.edu/~ada/: busy, status 503)", true, false},
		{"page gone", listed, &fetch.Error{Outcome: fetch.NotFound, Status: 404}, nil, evidence.AllDead, false, false},
		{"page blocked", listed, ErrBlacklisted, nil, evidence.Barred, false, false},
		{"search out", Subject{Author: ada}, nil, &SearchError{Status: 503, Err: errBusy}, evidence.NoSearch, true, true},
		{"nothing there", Subject{Author: ada}, nil, nil, evidence.NoCandidates, false, false},
	} {
		d, err := New(Config{Getter: pagesByError{tc.page}, Searcher: noPages{tc.search}}).find(t.Context(), tc.subject)
		assert.Equal(t, tc.mustErr, errors.Is(err, ErrSearchUnavailable), tc.name)
		assert.Equal(t, tc.reason, d.NotFound, tc.name)
		assert.Equal(t, tc.again, !d.Again(time.Now(), 0).NextTry.IsZero(), tc.name)
	}
}

// The program's own trouble is no evidence about anybody.
func TestTheRecordsTroubleDecidesNothing(t *testing.T) {
	t.Parallel()
	away := fmt.Errorf("%w: connection refused", ErrRecord)
	s := Subject{Author: gleaner.Author{Name: "Ada Lovelace"}, Listed: []Listed{{URL: "http://www.example.edu/~ada/", Source: "dblp"}}}
	_, err := New(Config{Getter: pagesByError{away}}).find(t.Context(), s)
	require.ErrorIs(t, err, ErrRecord)
	_, err = New(Config{Getter: pagesByError{errors.New("x")}, Searcher: noPages{away}}).find(t.Context(), s)
	require.ErrorIs(t, err, ErrRecord)
}

// Each look that leaves something unanswered puts the next one off.
func TestAgain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(tries int, waits ...time.Duration) time.Duration {
		var d evidence.Decision
		for _, w := range waits {
			d.Unanswered = append(d.Unanswered, evidence.Unanswered{RetryAfter: w})
		}
		return d.Again(now, tries).NextTry.Sub(now)
	}
	assert.Equal(t, 5*time.Minute, at(0, 0))
	assert.Equal(t, 10*time.Minute, at(1, 0))
	assert.Equal(t, 24*time.Hour, at(60, 0))
	assert.Equal(t, time.Hour, at(0, time.Hour), "who asks for a pause gets it")
	assert.Equal(t, 5*time.Minute, at(0, time.Hour, time.Minute), "but the others need not wait for it")
	assert.Zero(t, evidence.Decision{Tries: 3, NextTry: now}.Again(now, 3).NextTry, "all answered")
}
