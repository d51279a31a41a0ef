package homepage

import (
	"context"
	"strings"
	"sync"
	"testing"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/web/page"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// engine is a search engine that answers by the name in a query, and keeps what it
// was asked.
type engine struct {
	answers map[string][]evidence.Result // by name
	fails   error
	mu      sync.Mutex
	asked   []string
}

func (*engine) Name() string { return "engine" }

func (e *engine) Search(ctx context.Context, query string, _ int) ([]evidence.Result, error) {
	if err := pay(ctx); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, query)
	for name, rs := range e.answers {
		if strings.HasPrefix(query, name) {
			return rs, e.fails
		}
	}
	return nil, e.fails
}

// onePage is what every address answers.
type onePage page.Page

func (p onePage) Get(_ context.Context, u string) (*page.Page, string, error) {
	return new(page.Page(p)), u, nil
}

func TestAnAuthorTakesTwoSearchesAtMost(t *testing.T) {
	t.Parallel()
	sub := Subject{Author: gleaner.Author{PID: "1", Name: "Ada Alda"}, Venue: []string{"WEBDB", "Web and Databases", "Workshop W"},
		Papers: []gleaner.Paper{{Title: "On the Letters of Engines"}}}
	var getter Getter = pagesByError{errNoPage}
	ask := func(limit int) []string {
		e := &engine{}
		_, err := New(Config{Searcher: Cached(e, newMemoryCache(), Budget{Limit: limit}), Getter: getter}).find(t.Context(), sub)
		require.NoError(t, err)
		return e.asked
	}
	both := []string{"Ada Alda WEBDB", "Ada Alda On the Letters of Engines"}
	assert.Equal(t, both, ask(0))
	assert.Equal(t, both[:1], ask(1), "the budget is never passed")

	sub.Listed = []Listed{{URL: "http://www.example.edu/~alda/", Source: "dblp"}}
	getter = onePage{Title: "Ada Alda's home page", Headings: []string{"Ada Alda"}, Text: "Ada Alda. Publications: On the Letters of Engines."}
	assert.Equal(t, both[:1], ask(0), "one where that leads to the homepage")
}

func TestVenueQuery(t *testing.T) {
	t.Parallel()
	a := gleaner.Author{Name: "Wei Wang 0003"}
	assert.Equal(t, "Wei Wang Workshop on the Web", venueQuery(a, []string{" Workshop on  the Web", "webdb"}))
	assert.Equal(t, "Wei Wang", venueQuery(a, nil))
}
