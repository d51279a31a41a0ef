package crawl

import (
	"context"
	"slices"

	"gleaner/internal/collection"
	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/match"
	"gleaner/internal/page"
)

// A catalogue names the landing pages of papers. Where many lie in one directory,
// that is read first (page.SourceListing): of a list that names the documents
// those that read like wanted papers are taken before any landing page, and a
// landing page whose paper was found so is left alone.

// outcomeFound is that of a landing page which is not asked for, since its paper
// was found.
const outcomeFound fetch.Outcome = "paper-found"

// listing is the place of a list in the window, -1 if there is none.
func (w *window) listing() int {
	if w.given == 0 {
		return -1
	}
	return slices.IndexFunc(w.entries, func(e *frontier.Entry) bool { return e.Link.Source == page.SourceListing })
}

// named reports whether a document waits that reads like a wanted paper: landing
// pages can wait for what it turns out to be.
func (s *slice) named() bool {
	return s.window.given > 0 && slices.ContainsFunc(s.window.entries, func(e *frontier.Entry) bool { return e.Document && e.Wanted >= wantedLead })
}

// landingSeed reports whether an entry is a landing page that a catalogue named.
func landingSeed(e *frontier.Entry) bool {
	return e.Role == frontier.Landing && e.Link.Source == page.SourceSeed
}

// foundPapers remembers the papers that a document was judged to be, and leaves
// out their landing pages.
func (s *slice) foundPapers(ctx context.Context, j collection.Judgement) error {
	titles, err := s.db.TitlesOf(ctx, j.Papers())
	if err != nil {
		return err
	}
	s.noteFound(titles)
	s.leaveOut()
	return nil
}

func (s *slice) noteFound(titles []string) {
	for _, t := range titles {
		s.found[match.Normalise(t)] = true
	}
}

// foundElsewhere reports whether an entry is a landing page whose paper was found
// on this site.
func (s *slice) foundElsewhere(e *frontier.Entry) bool {
	return len(s.found) > 0 && landingSeed(e) && e.Was == frontier.Waiting && s.found[match.Normalise(e.Link.Anchor)]
}
