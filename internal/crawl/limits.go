package crawl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/page"
	"gleaner/internal/rank"
	"gleaner/internal/weburl"
)

// Outcomes of links that were not asked for.
const (
	outcomeDirectory fetch.Outcome = "directory-limit"
	outcomeSitemaps  fetch.Outcome = "sitemap-limit"
	outcomeURLs      fetch.Outcome = "url-limit"
)

// maxSkipped bounds the URLs of one site that are recorded as kept out by a
// limit; a trap has no end of them.
const maxSkipped = 500

// maxURLs bounds the URLs of one site that are entered. Each is a row: a page names
// twenty thousand, and pages may be had without end.
const maxURLs = 1_000_000

// limit names the limit that keeps a link of this site from being asked for, ""
// if none does.
func (s *slice) limit(e *frontier.Entry, met bool) fetch.Outcome {
	if why := s.outside(e); why != "" {
		return why
	}
	if !met && s.seen.urls >= s.most {
		return outcomeURLs
	}
	if !e.Document && s.seen.inDir(e.Link.URL) >= s.cfg.DirPages {
		return outcomeDirectory
	}
	return ""
}

// outside names the limit on shape or depth that a link of any site exceeds.
func (s *slice) outside(e *frontier.Entry) fetch.Outcome {
	if why := s.misshapen(e.Link.URL); why != "" {
		return why
	}
	if e.Depth > s.cfg.MaxDepth {
		return frontier.TooDeep
	}
	return ""
}

func (s *slice) misshapen(url string) fetch.Outcome {
	var shape *weburl.ShapeError
	if errors.As(s.cfg.Limits.CheckShape(url), &shape) {
		return fetch.Outcome(shape.Reason)
	}
	return ""
}

// mayRecord takes a place among the links kept out by a limit that are recorded,
// or counts one that is not.
func (s *slice) mayRecord() bool {
	if s.seen.skipped >= maxSkipped {
		s.unrecorded++
		return false
	}
	s.seen.skipped++
	return true
}

// skip records a link that a limit keeps out, among the first of its site.
func (s *slice) skip(e frontier.Entry, why fetch.Outcome) {
	if _, met := s.seen.known(e.Hash(), 0, 0); met {
		return
	}
	if !s.mayRecord() {
		return
	}
	s.seen.add(e.Hash(), e.Depth, e.Role)
	e.Skip = why
	s.batch.AddLink(e)
}

// leftAside tells a person what limits kept from being asked for.
func (s *slice) leftAside() string {
	var all []string
	if s.unrecorded > 0 {
		all = append(all, fmt.Sprintf("%d links beyond the limits were left out, beside %d that are recorded", s.unrecorded, s.seen.skipped))
	}
	if s.missedOut > 0 {
		all = append(all, fmt.Sprintf("%d links that other hosts gave were left out, since %d before them led to nothing", s.missedOut, maxMisses))
	}
	return strings.Join(all, "; ")
}

// overBudget tells when what is left of a site is not expected to be worth its
// requests, by what the strategy has learnt and by the yield of late.
func (s *slice) overBudget() error {
	if s.cfg.Budget <= 0 || s.window.empty() {
		return nil
	}
	waiting := len(s.window.candidates)
	expected, ok := rank.ExpectedYield(s.strategy, s.window.candidates)
	if !ok {
		expected = s.history.Expected(waiting)
	}
	if stop, reason := (rank.Budget{PerAccepted: s.cfg.Budget}).Stop(s.history, waiting, expected); stop {
		return &errStop{ending: OverBudget, reason: reason}
	}
	return nil
}

// poor tells a site that is not worth its requests: after the first pages of a
// crawl too few lead to documents (trap sites of the CINDI robot, Chen 2008:
// PRR < 5 % after 200 pages).
func (s *slice) poor() bool {
	return s.cfg.TrapPages > 0 && s.crawl.Read >= s.cfg.TrapPages && float64(s.crawl.Relevant) < s.cfg.TrapRate*float64(s.crawl.Read)
}

// trapped ends the crawl of a poor site. Documents that are known, homepages, and
// what other hosts led to are taken first.
func (s *slice) trapped() error {
	if !s.poor() || slices.ContainsFunc(s.window.entries, worthIt) {
		return nil
	}
	return &errStop{ending: Trap, reason: fmt.Sprintf("of %d pages only %d led to documents, less than %.0f %%", s.crawl.Read, s.crawl.Relevant, 100*s.cfg.TrapRate)}
}

// worthIt reports whether an entry is worth a request though its site is poor.
func worthIt(e *frontier.Entry) bool {
	return e.Document || e.Role != frontier.Member || e.Link.Source == page.SourceSeed
}
