package crawl

import (
	"slices"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
)

// A catalogue names the landing pages of papers. Where many lie in one directory,
// that is read first (page.SourceListing): of a list that names the documents
// those that read like wanted papers are taken before any landing page, and a
// landing page whose paper was found so is left alone.

// outcomeFound is that of a landing page which is not asked for, since its paper
// was found.
const outcomeFound gleaner.Outcome = "paper-found"

// listing is the place of a list in the window, -1 if there is none.
func (w *window) listing() int {
	if w.given == 0 {
		return -1
	}
	return slices.IndexFunc(w.entries, func(e *frontier.Entry) bool { return e.Link.Source == page.SourceListing })
}

// named reports whether a document waits that reads like a wanted paper: landing
// pages can wait for what it turns out to be.
func (l *loop) named() bool {
	return l.window.given > 0 && slices.ContainsFunc(l.window.entries, func(e *frontier.Entry) bool { return e.Document && e.Wanted >= wantedLead && !l.sections.paused(e) })
}

// landingSeed reports whether an entry is a landing page that a catalogue named.
func landingSeed(e *frontier.Entry) bool {
	return e.Role == frontier.Landing && e.Link.Source == page.SourceSeed
}

// noteFound remembers the titles of papers that were found on the site.
func (l *loop) noteFound(titles []string) {
	for _, t := range titles {
		l.found[text.Normalise(t)] = true
	}
}
