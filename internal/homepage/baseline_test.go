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

func TestEveryNameOfTheVenueIsAskedWhereTheBudgetAllows(t *testing.T) {
	t.Parallel()
	sub := Subject{Author: gleaner.Author{PID: "1", Name: "Ada Alda"}, Venue: []string{"WEBDB", "Web and Databases", "Workshop W"},
		Papers: []gleaner.Paper{{Title: "On the Letters of Engines"}}}
	var getter Getter = pagesByError{errNoPage}
	ask := func(limit, spent int, fails error) []string {
		e, c := &engine{fails: fails}, newMemoryCache()
		searcher := Cached(e, c, Budget{Limit: limit})
		for range spent {
			_, err := c.Spend(t.Context(), e.Name(), searcher.periodStart(searcher.budget.Now()), limit)
			require.NoError(t, err)
		}
		_, err := New(Config{Searcher: searcher, Spare: searcher.Spare, Getter: getter}).find(t.Context(), sub)
		if fails == nil {
			require.NoError(t, err)
		}
		return e.asked
	}
	names, title := []string{"Ada Alda WEBDB", "Ada Alda Web and Databases", "Ada Alda Workshop W"}, "Ada Alda On the Letters of Engines"
	all, some := []string{names[0], title, names[1], names[2]}, []string{names[0], title, names[1]}
	assert.Equal(t, all, ask(0, 0, nil), "without a budget")
	assert.Equal(t, all, ask(100, 47, nil), "half of it unused")
	assert.Equal(t, some, ask(100, 48, nil), "the surest, when less is left")
	assert.Equal(t, some, ask(0, 0, errBusy), "an engine that fails is not pressed")
	assert.Len(t, ask(100, 98, nil), 2, "the budget is never passed")

	sub.Listed = []Listed{{URL: "http://www.example.edu/~alda/", Source: "dblp"}}
	getter = onePage{Title: "Ada Alda's home page", Headings: []string{"Ada Alda"}, Text: "Ada Alda. Publications: On the Letters of Engines."}
	assert.Equal(t, names, ask(0, 0, nil), "of an author who is found, too")
	assert.Equal(t, names[:1], ask(100, 50, nil), "unless the budget is short")
}
