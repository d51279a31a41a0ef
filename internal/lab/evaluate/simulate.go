package evaluate

import (
	"context"
	"fmt"
	"log/slog"
	"math"

	"gleaner/internal/crawl"
	"gleaner/internal/fetch"
	"gleaner/internal/lab/memory"
	"gleaner/internal/library/collection"
	"gleaner/internal/match"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Kind is what a document turned out to be: "paper", "slides", "thesis", …;
// "" when that is not known.
type Kind string

// Paper is the kind that a crawl is after.
const Paper Kind = "paper"

// Judge says what the document at a canonical URL is. In the product it is the
// document filter; over a labelled snapshot, its labels.
type Judge func(url string) Kind

// Setup is what a simulated crawl needs beside its strategy.
type Setup struct {
	Site  Site
	Judge Judge
	// Wanted are the papers that the crawl is for, whose titles it looks out for; nil
	// for a crawl of all there is.
	Wanted *match.Index
	// Goal says of the document at a canonical URL which of the papers to be reached it is,
	// "" for none; nil is every paper.
	Goal func(url string) string
	// Listed are the pages of the whitelist from which the site is crawled, as the policy of that
	// name crawls it; nil for a crawl from its start.
	Listed []string
}

// goal says which of the papers to be reached a document of that kind is.
func (s Setup) goal(url string, kind Kind) string {
	switch {
	case s.Goal != nil:
		return s.Goal(url)
	case kind == Paper:
		return weburl.Key(url)
	}
	return ""
}

// Step is one request of a simulated crawl.
type Step struct {
	URL       string
	Parent    string
	Document  bool
	Kind      Kind
	Goal      string // which of the papers to be reached it is
	Failed    bool   // not in the snapshot: asked, but not counted
	Candidate page.Candidate
	Page      *page.Page // whose links were followed
}

// Run is a simulated crawl.
type Run struct {
	Strategy string
	Steps    []Step
}

// Simulate crawls a snapshot from its start to its end: the crawl's own loop, with
// the snapshot as its source, its record in memory and labels for verdicts. What a
// harvest would follow from the start page is followed (crawl.scope). No limit on
// the crawl as a whole ends it, since what is measured is the order.
func Simulate(setup Setup, s rank.Strategy) (Run, error) {
	start := setup.Site.Start()
	sim := &simulation{setup: setup, Frontier: memory.NewFrontier(), answers: map[frontier.Hash]Answer{}}
	cfg := crawl.Defaults()
	cfg.SlicePages, cfg.SliceTime, cfg.MaxPages, cfg.MaxBytes, cfg.MaxTime = math.MaxInt, math.MaxInt64, math.MaxInt, 0, 0
	cfg.TrapPages, cfg.Leads, cfg.Sitemaps = 0, "none", false
	site := crawl.Site{Host: weburl.Host(start), Crawl: 1, Scopes: []string{weburl.PathPrefix(start)}, Wanted: setup.Wanted}
	if site.Wanted == nil {
		site.Wanted = match.NewIndex(nil)
	}
	seeds := []string{start}
	if setup.Listed != nil {
		seeds, site.Scopes, site.ParentDomain, cfg.Policy = setup.Listed, nil, true, crawl.PolicyWhitelist
	}
	for _, u := range seeds {
		sim.Add([]frontier.Entry{{Candidate: page.Candidate{Link: page.Link{URL: u, Source: page.SourceSeed}}}})
	}
	r, err := crawl.Run(context.Background(), site, cfg, crawl.Parts{Source: sim, Recorder: sim, Judge: sim, Strategy: s, Log: slog.New(slog.DiscardHandler)})
	sim.run.Strategy = s.Name()
	if err == nil && r.Ending != crawl.Exhausted {
		err = fmt.Errorf("evaluate: the crawl of %s ended: %s: %s", start, r.Ending, r.Reason)
	}
	return sim.run, err
}

// simulation is the source, the recorder and the judge of a simulated crawl.
type simulation struct {
	*memory.Frontier
	setup   Setup
	answers map[frontier.Hash]Answer // by the URL asked for
	run     Run
}

// Ready implements crawl.Source and crawl.Judge.
func (*simulation) Ready(context.Context) error { return nil }

// Paced implements crawl.Source: as of a host that is paced, each visit is written
// before the next.
func (*simulation) Paced() bool { return true }

func (*simulation) Sitemaps(context.Context) ([]string, error) { return nil, nil }

// Bodies of answers that a snapshot does not have the bytes of.
const (
	someDocument = "%PDF-1.4\n"
	neither      = "\x00\x01"
)

func (s *simulation) Ask(_ context.Context, e *frontier.Entry, known func(string) bool) (*crawl.Answer, error) {
	a, err := s.setup.Site.Get(e.Link.URL)
	if err != nil {
		return nil, &fetch.Error{Outcome: fetch.NotFound, URL: e.Link.URL, Err: err}
	}
	if weburl.Key(a.URL) != weburl.Key(e.Link.URL) && known(a.URL) {
		return nil, &fetch.Error{Outcome: fetch.RedirectKnown, URL: e.Link.URL, Location: a.URL}
	}
	s.answers[e.Hash()] = a
	body := a.Body
	switch {
	case body != nil:
	case a.Document:
		body = []byte(someDocument + a.URL)
	case a.Page != nil:
		body = []byte(a.URL)
	default:
		body = []byte(neither)
	}
	return &crawl.Answer{Page: a.Page, Response: &fetch.Response{URL: a.URL, Status: 200, Body: body, Bytes: int64(len(body))}}, nil
}

func (s *simulation) Write(_ context.Context, w store.SliceWrite) (frontier.Written, error) {
	for i := range w.Visits {
		s.step(&w.Visits[i])
	}
	return s.Frontier.Write(w.Batch), nil
}

// step notes a visit.
func (s *simulation) step(v *frontier.Visit) {
	c := v.Entry.Candidate
	a, answered := s.answers[v.Entry.Hash()]
	st := Step{URL: c.Link.URL, Parent: c.Parent, Candidate: c, Failed: !answered}
	if from, ok := s.answers[frontier.HashOf(c.Parent)]; ok {
		st.Parent = from.URL
	}
	if answered {
		st.URL = a.URL
	}
	switch v.State {
	case frontier.Page:
		st.Page = a.Page
	case frontier.Document:
		st.Document, st.Kind = true, s.setup.Judge(a.URL)
		st.Goal = s.setup.goal(a.URL, st.Kind)
	}
	s.run.Steps = append(s.run.Steps, st)
}

func (*simulation) Keep(_ context.Context, f collection.File) (*collection.Kept, error) {
	return &collection.Kept{Documents: []collection.Document{{SHA256: f.URL}}}, nil
}

func (s *simulation) Judge(_ context.Context, d collection.Document) (crawl.Verdict, error) {
	v := crawl.Verdict{Accepted: s.setup.Judge(d.SHA256) == Paper}
	if s.setup.Goal != nil {
		if title := s.setup.Goal(d.SHA256); title != "" {
			v.Found, v.Titles = true, []string{title}
		}
	}
	return v, nil
}

func (*simulation) KeepPage(context.Context, collection.File, []string, string) (crawl.Verdict, bool, error) {
	return crawl.Verdict{}, false, nil
}
