package homepages

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"
	"gleaner/internal/web/page"
)

// pages are a web.
type pages map[string]string

func (p pages) Get(_ context.Context, u string) (*page.Page, string, error) {
	body, ok := p[u]
	if !ok {
		return nil, u, errors.New("not found")
	}
	pg, err := page.Parse(u, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, []byte(body))
	return pg, u, err
}

const (
	doesHome = "http://www.example.edu/~doe/"
	doesPage = `<html><head><title>Jane Doe</title></head><body><h1>Jane Doe</h1>
	<p>Professor at the University of Nowhere. My research is in computer science; I teach algorithms.</p>
	<ul><li>On the Letters of Analytical Engines. <a href="p1.pdf">PDF</a></li></ul></body></html>`
)

// doe wrote one paper alone.
var doe = homepage.Subject{Author: gleaner.Author{PID: "d", Name: "Jane Doe"}, Venue: []string{"X"},
	Papers: []gleaner.Paper{{Title: "On the Letters of Analytical Engines", Authors: []gleaner.Author{{PID: "d", Name: "Jane Doe"}}}}}

// listedAt is a subject of whom a directory lists her page.
func listedAt(s homepage.Subject) homepage.Subject {
	s.Listed = []homepage.Listed{{URL: doesHome, Source: "dblp"}}
	return s
}

// meanwhile is a book in which somebody else decides on an author who is about to give a
// page up.
type meanwhile struct {
	*notes
	decides evidence.Decision
}

func (m meanwhile) ApplyOverrides(ctx context.Context, d evidence.Decision) (evidence.Decision, error) {
	return d, m.notes.Save(ctx, m.decides)
}

// TestSettlingLosesNobodysWord: who was given another page since the decisions were read
// keeps it.
func TestSettlingLosesNobodysWord(t *testing.T) {
	t.Parallel()
	given := func(name, url string, score float64) evidence.Decision {
		c := evidence.Candidate{URL: url, Kept: true, Score: score, Features: map[string]float64{"identity": score}}
		return evidence.Decision{Author: gleaner.Author{Name: name}, Candidates: []evidence.Candidate{c}, Homepages: []evidence.Candidate{c}}
	}
	const shared, own = "http://www.cs.example.edu/lace/", "http://babbage.example/"
	for want, decides := range map[string]evidence.Decision{own: given("Charles Babbage", own, 1), "": given("Mary Somerville", own, 1)} {
		m := meanwhile{&notes{of: map[string]note{}}, decides}
		for _, d := range []evidence.Decision{given("Charles Babbage", shared, 0.5), given("Ada Lovelace", shared, 1)} {
			require.NoError(t, m.Save(t.Context(), d))
		}
		require.NoError(t, homepage.Search{Book: m}.Settle(t.Context()))
		left, err := m.Decisions(t.Context(), []string{gleaner.Author{Name: "Charles Babbage"}.ID()}, time.Time{})
		require.NoError(t, err)
		require.Equal(t, want, left[0].Best())
	}
}

// TestNamesakesOfOnePage: who gives it up has none, in memory as in the record, and is
// looked for again.
func TestNamesakesOfOnePage(t *testing.T) {
	t.Parallel()
	other := homepage.Subject{Author: gleaner.Author{PID: "e", Name: "Jane Doe"}, Venue: doe.Venue, Papers: []gleaner.Paper{{Title: "Flowers of the Southern Valleys"}}}
	web := pages{doesHome: strings.ReplaceAll(doesPage, "</body>", strings.Repeat("<p>Jane Doe: research at the university</p>", 20)+"</body>")}
	ds, err := FindAll(t.Context(), homepage.New(homepage.Config{Getter: web}), []homepage.Subject{listedAt(doe), listedAt(other)}, 2)
	require.NoError(t, err)
	require.Equal(t, doesHome, ds[0].Best())
	require.Empty(t, ds[1].Homepages)
	require.Equal(t, evidence.GivenToAnother, ds[1].NotFound)
}
