package homepage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"gleaner/internal/gleaner/evidence"
)

// Config holds the parts and limits of a Finder. Only Getter is required.
type Config struct {
	Searcher Searcher // nil: only listed pages and co-authors' links are candidates
	Getter   Getter
	Model    *Model // nil: defaultModel
	// MaxFetches bounds the pages requested per author; 0: 8.
	MaxFetches int
	// MaxKept bounds the homepages kept per author; 0: 3.
	MaxKept int
}

// Finder finds homepages. It holds no state between authors and is safe for
// concurrent use.
type Finder struct {
	cfg   Config
	model *Model
}

// New returns a Finder.
func New(cfg Config) *Finder {
	cfg.MaxFetches = cmp.Or(cfg.MaxFetches, 8)
	cfg.MaxKept = cmp.Or(cfg.MaxKept, 3)
	model := cfg.Model
	if model == nil {
		model = defaultModel()
	}
	return &Finder{cfg: cfg, model: model}
}

// find looks for one author's homepages. The decision is complete in itself;
// the error is that of ctx, ErrRecord, or ErrSearchUnavailable (with the decision
// as far as it goes).
func (f *Finder) find(ctx context.Context, s Subject) (evidence.Decision, error) {
	a := newAuthorSearch(f, s)
	err := a.run(ctx)
	a.decision.Fetches, a.decision.Unanswered = a.reader.fetches, a.reader.unanswered
	return a.decision, err
}

// authorSearch is the search for the homepages of one author.
type authorSearch struct {
	cfg        Config
	subject    Subject
	person     *person
	reader     *reader
	candidates *candidates
	decision   evidence.Decision
	answered   int             // searches that were answered
	failures   []error         // of searches
	foreign    map[string]bool // addresses of pages that need not be the person's
	listings   int             // pages requested as lists of people
	limit      int             // of fetches before a further site is looked at, in the present stage
}

func newAuthorSearch(f *Finder, s Subject) *authorSearch {
	p := newPerson(s)
	return &authorSearch{cfg: f.cfg, subject: s, person: p, reader: newReader(f.cfg, s),
		candidates: &candidates{person: p, subject: s, model: f.model, byKey: map[string]*site{}},
		decision:   evidence.Decision{Author: s.Author}, foreign: map[string]bool{}, limit: f.cfg.MaxFetches}
}

func (a *authorSearch) run(ctx context.Context) error {
	if len(a.person.names) == 0 {
		a.decision.NotFound = evidence.NoCandidates
		return nil
	}
	stages := []func(context.Context) error{a.listed, a.byVenue, a.byTitle, a.byCoAuthors, a.byPrescore, a.byHomeLinks}
	for _, stage := range stages {
		if err := stage(ctx); err != nil {
			return err
		}
		if a.reader.recordErr != nil {
			return a.reader.recordErr
		}
	}
	a.decide()
	if err := a.places(ctx); err != nil {
		return err
	}
	if len(a.decision.Homepages) == 0 && a.answered == 0 && len(a.failures) > 0 {
		return fmt.Errorf("%w: %w", ErrSearchUnavailable, errors.Join(a.failures...))
	}
	return nil
}

// listed adds the pages that directories name, most trusted first, and visits them.
func (a *authorSearch) listed(ctx context.Context) error {
	order := map[string]int{"user": 0, "dblp": 1, "orcid": 2, "semanticscholar": 3, evidence.SourceCrawl: 4}
	rank := func(l Listed) int {
		if o, ok := order[l.Source]; ok {
			return o
		}
		return len(order)
	}
	ls := slices.Clone(a.subject.Listed)
	slices.SortStableFunc(ls, func(a, b Listed) int { return rank(a) - rank(b) })
	for _, l := range ls {
		a.candidates.enter(lead{url: l.URL, source: evidence.SourceListed + ":" + l.Source})
	}
	return a.visit(ctx, 4)
}

// byVenue searches for name and venue.
func (a *authorSearch) byVenue(ctx context.Context) error {
	rs, err := a.search(ctx, venueQuery(a.subject.Author, a.subject.Venue))
	if err != nil {
		return err
	}
	a.candidates.enterResults(rs, evidence.SourceVenue)
	// Namesakes must not use up the fetches that the later, more reliable sources need.
	a.limit = max(1, a.cfg.MaxFetches-reserved)
	defer func() { a.limit = a.cfg.MaxFetches }()
	return a.visit(ctx, 4)
}

// reserved is how many fetches are reserved for the stages after the first search.
const reserved = 3

// byTitle searches for name and title: a page that lists the paper may not name
// the venue.
func (a *authorSearch) byTitle(ctx context.Context) error {
	titles := make([]string, 0, len(a.subject.Papers))
	for _, p := range a.subject.Papers {
		titles = append(titles, p.Title)
	}
	slices.SortStableFunc(titles, func(a, b string) int { return len(b) - len(a) })
	for _, t := range titles[:min(1, len(titles))] {
		if a.candidates.found() {
			return nil
		}
		rs, err := a.search(ctx, titleQuery(a.subject.Author, t))
		if err != nil {
			return err
		}
		a.candidates.enterResults(rs, evidence.SourceTitle)
		if err := a.visit(ctx, 2); err != nil {
			return err
		}
	}
	return nil
}

// maxCoAuthorPages bounds the co-authors' pages that are searched for a link.
const maxCoAuthorPages = 2

// byCoAuthors follows links with the author's name on co-authors' pages.
func (a *authorSearch) byCoAuthors(ctx context.Context) error {
	pages := slices.Compact(slices.Sorted(slices.Values(a.subject.CoAuthorHomepages)))
	for _, u := range pages[:min(maxCoAuthorPages, len(pages))] {
		if a.candidates.found() || a.reader.fetches >= a.limit {
			return nil
		}
		a.foreign[u] = true
		pg, final, err := a.reader.get(ctx, u)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		if a.follow(pg, final, evidence.SourceCoAuthor) == 0 {
			a.searchPeopleLists(ctx, pg, final)
		}
		if err := a.visit(ctx, 3); err != nil {
			return err
		}
	}
	return nil
}

// byPrescore spends the remaining fetches on sites that were not visited, unless a homepage
// was found.
func (a *authorSearch) byPrescore(ctx context.Context) error {
	if a.candidates.found() {
		return nil
	}
	return a.visit(ctx, a.cfg.MaxFetches)
}

// searchResults is how many results of a search are used, as many as in Zhuang et al.
const searchResults = 10

// search runs one query. It notes a failure instead of returning it, since other
// sources remain, and returns the results that came with the failure.
func (a *authorSearch) search(ctx context.Context, query string) ([]evidence.Result, error) {
	if a.cfg.Searcher == nil {
		return nil, nil
	}
	a.decision.Searches++
	rs, err := a.cfg.Searcher.Search(ctx, query, searchResults)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, ErrRecord) {
		return nil, err
	}
	if err != nil {
		a.failures = append(a.failures, err)
		a.decision.Problems = append(a.decision.Problems, err.Error())
		a.reader.note(unansweredSearch(query, err))
	}
	if err == nil || len(rs) > 0 { // at least one of several engines answered
		a.answered++
	}
	return rs[:min(len(rs), searchResults)], nil
}

// parseURL parses a canonical address.
func parseURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		return &url.URL{}
	}
	return u
}

// sameAddress compares addresses without scheme and closing slash.
func sameAddress(a, b string) bool { return AddressKey(a) == AddressKey(b) }
