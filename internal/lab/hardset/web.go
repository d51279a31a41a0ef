package hardset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"
	"gleaner/internal/lab/homepages"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// doc is one address of the made-up web.
type doc struct {
	body      string
	location  string // a redirect
	unindexed bool   // search does not know it
}

// Web is a made-up web with the authors to be found on it and the truth.
type Web struct {
	Subjects []homepage.Subject
	Labels   []homepages.Label

	rand   *rand.Rand
	styles []int
	docs   map[string]*doc
	order  []string
	index  *sampleweb.Index
}

// Generate makes a web for the given number of authors.
func Generate(ctx context.Context, seed uint64, authors int) (*Web, error) {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	w := &Web{rand: r, docs: map[string]*doc{}, index: sampleweb.NewIndex()}
	w.styles = some(r, []int{0, 1, 2, 3, 4}, 0.7)
	people := makePeople(r, authors)
	makePapers(r, people)
	listed := make([][]string, len(people))
	drawn := deck()
	for i, p := range people {
		s := pick(r, drawn)
		listed[i] = w.build(p, s)
		if s.key == "namesakes" {
			w.namesake(p)
			w.otherResearcher(p)
		} else if s.exists && chance(r, 0.15) {
			w.namesake(p)
		}
		w.portals(p, 0.25)
		for k := range 2 {
			w.paperPages(r, p, k)
		}
	}
	w.links(people)
	w.directories(people)
	for i, p := range people {
		w.subject(p, listed[i])
	}
	for _, u := range w.order {
		d := w.docs[u]
		if d.unindexed || d.location != "" {
			continue
		}
		pg, _, err := w.Get(ctx, u)
		if err != nil {
			return nil, err
		}
		w.index.Put(evidence.Page{URL: u, Title: pg.Title, Text: pg.Text})
	}
	return w, nil
}

// subject writes down what is known of a person beforehand, and the truth.
func (w *Web) subject(p *person, listed []string) {
	s := homepage.Subject{Author: p.author, Venue: []string{"HARD", "Conference on Hard Problems"}, Papers: slices.Clone(p.wanted)}
	// Sources differ in what they tell: some name one author a paper.
	alone := chance(w.rand, 0.25)
	for i := range s.Papers {
		if alone {
			s.Papers[i].Authors = []gleaner.Author{p.author}
		}
	}
	for _, o := range p.coAuthors {
		if alone {
			break
		}
		s.CoAuthors = append(s.CoAuthors, o.author)
	}
	if chance(w.rand, 0.3) {
		s.Listed = append(s.Listed, homepage.Listed{URL: "https://scholar.google.com/citations?user=" + p.login, Source: "dblp"})
	}
	for _, u := range listed {
		s.Listed = append(s.Listed, homepage.Listed{URL: u, Source: pick(w.rand, []string{"dblp", "dblp", "orcid", "semanticscholar"})})
	}
	w.Subjects = append(w.Subjects, s)
	w.Labels = append(w.Labels, homepages.Label{Author: gleaner.Author{PID: p.author.PID, Name: p.author.Name}, Homepages: p.homepages})
}

// put adds a page unless its address is taken.
func (w *Web) put(u string, d doc) {
	c, err := weburl.Canonical("", u)
	if err != nil || w.docs[c] != nil {
		return
	}
	w.docs[c] = &d
	w.order = append(w.order, c)
}

func (w *Web) Get(ctx context.Context, u string) (*page.Page, string, error) {
	for range 5 {
		c, err := weburl.Canonical("", u)
		if err != nil {
			return nil, u, err
		}
		d := w.docs[c]
		if d == nil && !strings.HasSuffix(c, "/") {
			c += "/"
			d = w.docs[c]
		}
		if d == nil {
			return nil, u, fmt.Errorf("%s: not found", u)
		}
		if d.location == "" {
			pg, err := page.Parse(c, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, []byte(d.body))
			return pg, c, err
		}
		u = d.location
	}
	return nil, u, fmt.Errorf("%s: too many redirects", u)
}

// Searcher searches the pages of the web that a search engine would know.
func (w *Web) Searcher() homepage.Searcher { return w.index }

// Pages lists the addresses of the web, sorted.
func (w *Web) Pages() []string { return slices.Sorted(slices.Values(w.order)) }
