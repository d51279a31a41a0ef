package homepage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/web/page"
)

// Config is what a Finder needs. Only Getter is required.
type Config struct {
	Searcher Searcher // nil: only listed pages and co-authors' links are looked at
	Getter   Getter
	Model    *Model // nil: defaultModel
	// MaxFetches bounds the pages asked for per author; 0: 8.
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
	h := newHunt(f, s)
	if len(h.person.names) == 0 {
		h.d.NotFound = evidence.NoCandidates
		return h.d, nil
	}
	for _, stage := range []func(context.Context) error{h.listed, h.byVenue, h.byTitle, h.byCoAuthors, h.rest, h.rise} {
		if err := stage(ctx); err != nil {
			return h.d, err
		}
		if h.broken != nil {
			return h.d, h.broken
		}
	}
	h.decide()
	if err := h.places(ctx); err != nil {
		return h.d, err
	}
	if len(h.d.Homepages) == 0 && h.answered == 0 && len(h.failures) > 0 {
		return h.d, fmt.Errorf("%w: %w", ErrSearchUnavailable, errors.Join(h.failures...))
	}
	return h.d, nil
}

// hunt is the state of one Find.
type hunt struct {
	f          *Finder
	s          Subject
	person     *person
	d          evidence.Decision
	sites      []*site
	byKey      map[string]*site
	answered   int // searches that brought an answer
	failures   []error
	broken     error           // of the record: nothing can be decided
	unreadable string          // the page that was set aside, and as what
	asked      map[string]bool // addresses that were asked for
	foreign    map[string]bool // those of pages that need not be the person's
	listings   int             // pages that were asked for as lists of people
	pages      map[string]*page.Page
	bound      int // of fetches
	limit      int // of fetches before a further site is looked at, in the present stage
}

func newHunt(f *Finder, s Subject) *hunt {
	return &hunt{f: f, s: s, person: newPerson(s), d: evidence.Decision{Author: s.Author, Unanswered: slices.Clone(s.Unanswered)}, byKey: map[string]*site{}, asked: map[string]bool{}, foreign: map[string]bool{}, pages: map[string]*page.Page{}, bound: f.cfg.MaxFetches, limit: f.cfg.MaxFetches}
}

// listed enters what directories name, most trusted first, and looks at it.
func (h *hunt) listed(ctx context.Context) error {
	order := map[string]int{"user": 0, "dblp": 1, "orcid": 2, "semanticscholar": 3, evidence.SourceCrawl: 4}
	rank := func(l Listed) int {
		if o, ok := order[l.Source]; ok {
			return o
		}
		return len(order)
	}
	ls := slices.Clone(h.s.Listed)
	slices.SortStableFunc(ls, func(a, b Listed) int { return rank(a) - rank(b) })
	for _, l := range ls {
		h.enter(lead{url: l.URL, source: evidence.SourceListed + ":" + l.Source})
	}
	return h.visit(ctx, 4)
}

// byVenue asks for name and venue.
func (h *hunt) byVenue(ctx context.Context) error {
	rs, err := h.search(ctx, venueQuery(h.s.Author, h.s.Venue))
	if err != nil {
		return err
	}
	h.enterResults(rs, evidence.SourceVenue)
	// Namesakes must not use up what the later, surer sources need.
	h.limit = max(1, h.f.cfg.MaxFetches-reserved)
	defer func() { h.limit = h.f.cfg.MaxFetches }()
	return h.visit(ctx, 4)
}

// reserved is how many of the fetches are kept for what comes after the first
// search.
const reserved = 3

// byTitle asks for name and title: a page that lists the paper may never name
// the venue.
func (h *hunt) byTitle(ctx context.Context) error {
	titles := make([]string, 0, len(h.s.Papers))
	for _, p := range h.s.Papers {
		titles = append(titles, p.Title)
	}
	slices.SortStableFunc(titles, func(a, b string) int { return len(b) - len(a) })
	for _, t := range titles[:min(1, len(titles))] {
		if h.found() {
			return nil
		}
		rs, err := h.search(ctx, titleQuery(h.s.Author, t))
		if err != nil {
			return err
		}
		h.enterResults(rs, evidence.SourceTitle)
		if err := h.visit(ctx, 2); err != nil {
			return err
		}
	}
	return nil
}

// maxCoAuthorPages bounds the co-authors' pages that are searched for a link.
const maxCoAuthorPages = 2

// byCoAuthors looks for a link with the author's name on co-authors' pages.
func (h *hunt) byCoAuthors(ctx context.Context) error {
	pages := slices.Compact(slices.Sorted(slices.Values(h.s.CoAuthorHomepages)))
	for _, u := range pages[:min(maxCoAuthorPages, len(pages))] {
		if h.found() || h.d.Fetches >= h.limit {
			return nil
		}
		h.foreign[u] = true
		pg, final, err := h.get(ctx, u)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		if h.follow(pg, final, evidence.SourceCoAuthor) == 0 {
			h.lists(ctx, pg, final)
		}
		if err := h.visit(ctx, 3); err != nil {
			return err
		}
	}
	return nil
}

// rest spends what is left of the bound on what was not looked at, while
// nothing is found.
func (h *hunt) rest(ctx context.Context) error {
	if h.found() {
		return nil
	}
	return h.visit(ctx, h.f.cfg.MaxFetches)
}

// searchResults is how many results of a search are looked at, as many as Zhuang et al. do.
const searchResults = 10

// search asks once. A failure is noted, not returned: other sources remain, and
// results may come with it.
func (h *hunt) search(ctx context.Context, query string) ([]evidence.Result, error) {
	if h.f.cfg.Searcher == nil {
		return nil, nil
	}
	h.d.Searches++
	rs, err := h.f.cfg.Searcher.Search(ctx, query, searchResults)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, ErrRecord) {
		return nil, err
	}
	if err != nil {
		h.failures = append(h.failures, err)
		h.d.Problems = append(h.d.Problems, err.Error())
		h.unanswered(unansweredSearch(query, err))
	}
	if err == nil || len(rs) > 0 { // of several engines, one
		h.answered++
	}
	return rs[:min(len(rs), searchResults)], nil
}

func (h *hunt) enterResults(rs []evidence.Result, source string) {
	for _, r := range rs {
		h.enter(lead{url: r.URL, title: r.Title, snippet: r.Snippet, source: source, rank: r.Rank})
	}
}

// found reports whether a page scores high enough to stop looking further.
func (h *hunt) found() bool {
	return slices.ContainsFunc(h.sites, func(s *site) bool {
		return s.c.Fetched && s.c.Rule == "" && s.c.Score >= h.f.model.Threshold && s.c.Features[fOther] == 0
	})
}

// parseURL parses an address that weburl made canonical.
func parseURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		return &url.URL{}
	}
	return u
}

// sameAddress compares addresses without scheme and closing slash.
func sameAddress(a, b string) bool { return AddressKey(a) == AddressKey(b) }
