package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"gleaner/internal/gleaner"
)

// route is one address of the console: openapi.json describes it, and answer makes
// what it shows.
type route struct {
	method, path string
	page         string // the template
	what         string // in a sentence
	params       []param
	answer       func(ctx context.Context, c *Console, a *asked) (titled, error)
}

// param is what may be said in the address, or in a form.
type param struct {
	name, what string
	one        []string // of which it is one; nil for anything
	number     bool
	required   bool
}

// asked is a request with its parameters checked.
type asked struct {
	*http.Request
	params []param
}

// get is a parameter, "" where it was not given.
func (a *asked) get(name string) string {
	if v := a.PathValue(name); v != "" {
		return v
	}
	return a.Form.Get(name)
}

// number is one that was checked to be a number; 0 where it was not given.
func (a *asked) number(name string) int {
	n, _ := strconv.Atoi(a.Form.Get(name))
	return n
}

// years are those of one year, or none.
func (a *asked) years() gleaner.Years {
	y := a.number("year")
	return gleaner.Years{From: y, To: y}
}

// check holds what was given to what may be.
func (a *asked) check() error {
	if err := a.ParseForm(); err != nil {
		return fmt.Errorf("%w: %w", errInput, err)
	}
	for _, p := range a.params {
		v := a.get(p.name)
		if v == "" {
			if p.required {
				return fmt.Errorf("%w: %s is missing", errInput, p.name)
			}
			continue
		}
		if p.one != nil && !slices.Contains(p.one, v) {
			return fmt.Errorf("%w: %s is one of %v", errInput, p.name, p.one)
		}
		if _, err := strconv.Atoi(v); p.number && err != nil {
			return fmt.Errorf("%w: %s is a number", errInput, p.name)
		}
	}
	return nil
}

// answer serves a route.
func (c *Console) answer(to route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTime)
		defer cancel()
		a := &asked{Request: r, params: to.params}
		if err := a.check(); err != nil {
			c.fail(w, r, err)
			return
		}
		data, err := to.answer(ctx, c, a)
		if err != nil {
			c.fail(w, r, err)
			return
		}
		if on, ok := data.(interface{ Onward() string }); ok && !asJSON(r) && on.Onward() != "" {
			http.Redirect(w, r, on.Onward(), http.StatusSeeOther)
			return
		}
		c.show(w, r, http.StatusOK, to.page, data)
	})
}

// pageSize is how many rows a page lists.
const pageSize = 50

// more cuts a list that was asked for one row more than a page has, and says from
// where the next page goes on.
func more[T any](rows []T, key func(T) string) ([]T, string) {
	if len(rows) <= pageSize {
		return slices.Concat([]T{}, rows), ""
	}
	rows = rows[:pageSize]
	return rows, key(rows[pageSize-1])
}

// routes are all addresses of the console, but for the log-in and the style.
func routes() []route {
	after := param{name: "after", what: "what the page before gave as next"}
	return []route{
		{"GET", "/{$}", "harvests", "Lists harvests and how far they are, the latest first.", []param{after}, harvests},
		{"GET", "/harvests/{id...}", "harvest", "Says how far a harvest is, and what fails of it now.", nil, harvest},
	}
}
