package report

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/harvest"
	"gleaner/internal/match"
	"gleaner/internal/record/store"
	"gleaner/internal/text"
)

// maxEvidence is the greatest number of lines of evidence for a paper.
const maxEvidence = 6

// missing sets for each missing paper the reason that is nearest to success.
func (b *builder) missing(ctx context.Context) error {
	papers, err := b.db.Missing(ctx, b.r.Harvest.ID)
	if err != nil {
		return err
	}
	clues, err := b.gather(ctx, papers)
	if err != nil {
		return err
	}
	b.r.Barren = clues.barren()
	for _, p := range papers {
		m := MissingPaper{Paper: p.Key, Title: p.Title, Year: p.Year, Authors: gleaner.Names(p.Authors)}
		m.Reason, m.Evidence = clues.explain(p)
		b.r.Missing = append(b.r.Missing, m)
		b.r.Reasons[m.Reason]++
	}
	return nil
}

// clues holds the evidence on record about missing papers.
type clues struct {
	matches map[string][]store.MatchClue
	links   map[string][]store.LinkClue
	kinds   map[clueKind]int            // number of links of each kind
	authors map[string]store.AuthorClue // by author id
	places  places
}

// add adds a link that mentions a paper. It keeps a few of each kind, since a site may have a
// million.
func (c *clues) add(paper string, l store.LinkClue) {
	k := clueKind{paper, l.Parent == "", l.Waiting, l.Failed && l.Tries == 0, l.Outcome, l.Document}
	if c.kinds[k]++; c.kinds[k] <= maxEvidence {
		c.links[paper] = append(c.links[paper], l)
	}
}

// clueKind groups links by the properties used in explanations.
type clueKind struct {
	paper                  string
	copy, waiting, untried bool
	outcome, document      string
}

func (b *builder) gather(ctx context.Context, papers []gleaner.Paper) (*clues, error) {
	c := &clues{links: map[string][]store.LinkClue{}, kinds: map[clueKind]int{}}
	matches, err := b.db.MatchClues(ctx, b.r.Harvest.ID)
	if err != nil {
		return nil, err
	}
	c.matches = each.By(matches, func(m store.MatchClue) string { return m.Paper })
	ix := match.NewIndex(papers)
	err = b.db.EachLinkClue(ctx, b.r.Harvest.ID, func(l store.LinkClue) {
		for _, key := range mentioned(ix, l) {
			c.add(key, l)
		}
	})
	if err != nil {
		return nil, err
	}
	var options struct{ Scope string }
	if err := json.Unmarshal(b.r.Harvest.Options, &options); err != nil {
		return nil, err
	}
	whole := options.Scope == harvest.ScopeHost
	if c.authors, err = b.db.AuthorClues(ctx, b.r.Harvest.ID, whole); err != nil {
		return nil, err
	}
	c.places, err = b.places(ctx, c.authors, whole)
	return c, err
}

// mentioned returns the papers that a link mentions: in its own words if they are like a title,
// else in the words around it, else in those above it.
func mentioned(ix *match.Index, l store.LinkClue) (keys []string) {
	for _, words := range []string{l.Anchor, l.Context, l.Heading} {
		if keys = ix.Mentioned(words); len(keys) > 0 {
			break
		}
	}
	return keys
}

func (c *clues) explain(p gleaner.Paper) (Reason, []string) {
	for _, try := range []func(gleaner.Paper) (Reason, []string){c.byMatch, byTitle, c.byLink} {
		if why, evidence := try(p); why != "" {
			return why, evidence[:min(len(evidence), maxEvidence)]
		}
	}
	why, lines := c.bySite(p)
	if why == "" {
		why, lines = c.noHomepage(p)
	}
	lines = slices.Concat(lines, c.settled(p), c.copies(p))
	return why, lines[:min(len(lines), maxEvidence)]
}

// copies describes the copies named by catalogues. The wall of a publisher is no reason; the
// missing copy of the author is.
func (c *clues) copies(p gleaner.Paper) []string {
	var out []string
	for _, l := range c.links[p.Key] {
		if l.Parent == "" && l.Failed {
			out = append(out, l.URL+" (named by a catalogue): "+l.Outcome)
		}
	}
	return out
}

func (c *clues) byMatch(p gleaner.Paper) (Reason, []string) {
	var ambiguous, rejected []string
	for _, m := range c.matches[p.Key] {
		if m.Settled == "no" {
			continue
		}
		line := fmt.Sprintf("%s: %s match (%.2f) as %s", m.URL, m.Verdict, m.Score, m.Form)
		for _, r := range m.Reasons {
			line += "; " + r
		}
		if m.Verdict == "ambiguous" {
			ambiguous = append(ambiguous, line)
		} else {
			rejected = append(rejected, line)
		}
	}
	if len(ambiguous) > 0 {
		return Ambiguous, ambiguous
	}
	if len(rejected) > 0 {
		return Rejected, rejected
	}
	return "", nil
}

// settled returns documents that a person rejected as the paper, which are no explanation.
func (c *clues) settled(p gleaner.Paper) (out []string) {
	for _, m := range c.matches[p.Key] {
		if m.Settled == "no" {
			out = append(out, m.URL+denied)
		}
	}
	return out
}

// NotTaken stands in evidence between the URL of a linked document and what that is.
const NotTaken = ": linked with the title, and not taken for it: "

// denied describes a document that a person rejected as the paper.
const denied = ": is not it, a person said"

// byTitle explains titles that cannot identify a document.
func byTitle(p gleaner.Paper) (Reason, []string) {
	if why := match.Unidentifiable(p); why != "" {
		return Unidentifiable, []string{why + ": only an identifier, or the very words over all of its authors, can tell a document"}
	}
	return "", nil
}

func (c *clues) byLink(p gleaner.Paper) (Reason, []string) {
	var rejected, refused, listed, failed, waiting []string
	for _, l := range c.links[p.Key] {
		switch {
		case l.Parent == "" && l.Document == "":
			// reported by copies
		case l.Outcome == store.LinkBarred:
			listed = append(listed, l.URL+": its host is on the blacklist (linked from "+l.Parent+")")
		case l.Waiting:
			waiting = append(waiting, l.URL+": waits to be asked for")
		case l.Failed && l.Outcome == "robots-denied":
			refused = append(refused, l.URL+": robots.txt forbids it (linked from "+l.Parent+")")
		case l.Failed && l.Tries == 0:
			failed = append(failed, fmt.Sprintf("%s: left out by a limit, %s (linked from %s)", l.URL, l.Outcome, l.Parent))
		case l.Failed:
			failed = append(failed, fmt.Sprintf("%s: %s after %s (linked from %s)", l.URL, l.Outcome, text.Count(l.Tries, "try"), l.Parent))
		case strings.HasPrefix(l.Document, "new "):
			waiting = append(waiting, l.URL+": waits to be examined")
		case l.Document == store.LinkCleaned:
			rejected = append(rejected, l.URL+": linked with the title, and "+l.Document)
		case l.Document != "" && slices.ContainsFunc(c.matches[p.Key], func(m store.MatchClue) bool { return m.Settled == "no" && m.URL == l.URL }):
			rejected = append(rejected, l.URL+denied)
		case l.Document != "":
			rejected = append(rejected, l.URL+NotTaken+l.Document)
		}
	}
	switch {
	case len(rejected) > 0:
		return Rejected, slices.Concat(rejected, failed, refused)
	case len(failed) > 0:
		return FetchFailed, append(failed, refused...)
	case len(refused) > 0:
		return SiteRefused, refused
	case len(listed) > 0:
		return LeftOut, listed
	case len(waiting) > 0:
		return NotYet, waiting
	}
	return "", nil
}

func (c *clues) noHomepage(p gleaner.Paper) (Reason, []string) {
	var out []string
	why, undecided := NoHomepage, 0
	for _, a := range p.Authors {
		clue, sought := c.authors[a.ID()]
		if !sought {
			continue
		}
		if clue.NotFound == "" {
			undecided++
			continue
		}
		switch {
		case strings.HasPrefix(clue.NotFound, evidence.Barred):
			why = LeftOut
		case strings.HasPrefix(clue.NotFound, evidence.DidNotAnswer) && why == NoHomepage:
			why = NoAnswer
		}
		line := a.Name + ": " + clue.NotFound
		if clue.NextTry != nil && clue.NextTry.After(time.Now()) {
			line += ", next try " + clue.NextTry.UTC().Format("2006-01-02 15:04:05 MST")
		}
		out = append(out, line)
	}
	if undecided > 0 {
		out = append(out, fmt.Sprintf("%d of %s not looked for yet", undecided, text.Count(len(p.Authors), "author")))
	} else if len(out) == 0 {
		out = append(out, fmt.Sprintf("none of its %s is looked for", text.Count(len(p.Authors), "author")))
	}
	return why, out
}
