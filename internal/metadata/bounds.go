package metadata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/match"
)

// ErrTooMuch names the limit that an answer passes. It stands within an
// ErrBadAnswer: no catalogue needs as much for what it was asked.
type ErrTooMuch struct {
	What  string
	Limit int
}

func (e ErrTooMuch) Error() string { return fmt.Sprintf("more than %d %s", e.Limit, e.What) }

// The limits of what is taken from catalogues, far beyond what theirs hold.
const (
	maxBody        = 64 << 20  // of one answer, inflated; a thousand Crossref works are about 12 MB
	maxMembers     = 500_000   // of all lists in one answer of JSON; a thousand works have about 40,000
	maxDepth       = 10_000    // of JSON, as encoding/json has it
	maxElements    = 400_000   // and attributes, in one answer of XML that is read as a whole
	maxStreamed    = 1_500_000 // of one that is read by the record; a volume of 18,000 papers has about 550,000
	maxTag         = 64 << 10  // bytes
	maxRecords     = 100_000   // of a volume
	maxListPages   = 200_000
	maxListEntries = 500_000
	maxListBytes   = 256 << 20 // in memory until the list is whole
	maxListTime    = 3 * time.Hour
	maxTitle       = 10_000    // bytes of a title or an address
	maxName        = 1_000     // bytes of a name, a key or another identifier
	maxAuthors     = 20_000    // of one paper; physics has some with 5,000
	maxListAuthors = 1_000_000 // of a volume; 30,000 papers of a large journal's year have about 250,000
	maxLinks       = 1_000     // of one paper
	maxOfAPerson   = 1_000     // addresses, names, affiliations
)

// errNothingNew is said of a service that would be asked for pages for ever.
var errNothingNew = errors.New("a page of a list that is not at its end brings nothing new")

// paging bounds a list that comes in pages.
type paging struct {
	pages, entries, bytes int
	began                 time.Time // the second page
}

// more counts a page that is not the last, with so many entries that no page
// before had. What is kept of it counts by its size in JSON.
func (p *paging) more(fresh int, kept any) error {
	raw, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	p.pages, p.entries, p.bytes = p.pages+1, p.entries+fresh, p.bytes+len(raw)
	if p.began.IsZero() {
		p.began = time.Now()
	}
	switch {
	case time.Since(p.began) > maxListTime: // an activity that lists has six hours
		return ErrTooMuch{"hours for a list", int(maxListTime.Hours())}
	case fresh == 0:
		return errNothingNew
	case p.bytes > maxListBytes:
		return ErrTooMuch{"bytes of a list", maxListBytes}
	case p.pages >= maxListPages:
		return ErrTooMuch{"pages of a list", maxListPages}
	case p.entries >= maxListEntries:
		return ErrTooMuch{"entries of a list", maxListEntries}
	}
	return nil
}

// listed pages through a service's list by its cursors, and returns each work once, by its
// id. page returns what comes after a cursor, how many works the list has, and the next
// cursor, "" at its end.
func listed[W any](service, addr string, id func(W) string, page func(cursor string) (some []W, total int, next string, err error)) ([]W, error) {
	var works []W
	var list paging
	seen := map[string]bool{}
	for cursor := "*"; ; {
		some, total, next, err := page(cursor)
		if err != nil {
			return nil, err
		}
		had := len(works)
		for _, w := range some {
			if !seen[id(w)] {
				seen[id(w)] = true
				works = append(works, w)
			}
		}
		if len(works) >= total {
			return works, nil
		}
		if len(some) == 0 || next == "" {
			return nil, ErrBadAnswer{service, addr, fmt.Errorf("the list ended after %d of %d works", len(works), total)}
		}
		if err := list.more(len(works)-had, works[had:]); err != nil {
			return nil, ErrBadAnswer{service, addr, err}
		}
		cursor = next
	}
}

// Sound leaves out papers that no catalogue can mean, and logs what is wrong: it is asked of
// all that a source lists before it goes into the record. A list of nothing else is refused,
// and one with several of them, more than one in ten. It leaves out papers over which the program panics, too: on record,
// they would stop every crawl.
func Sound(ctx context.Context, log *slog.Logger, source string, papers []gleaner.Paper) ([]gleaner.Paper, error) {
	var wrong []error
	kept := slices.DeleteFunc(slices.Clone(papers), func(p gleaner.Paper) bool {
		err := sound(p)
		if err != nil {
			wrong = append(wrong, ErrBadAnswer{source, cut(p.Key), err})
		}
		return err != nil
	})
	if n := len(wrong); n > 0 && (n == len(papers) || n > 1 && 10*n > len(papers)) {
		return nil, wrong[0]
	}
	for _, err := range wrong {
		log.WarnContext(ctx, "a paper is left out", "error", err)
	}
	kept = usable(ctx, log, source, kept, use)
	return kept, ctx.Err()
}

// FewAuthors refuses a volume whose papers have more authors in all than any has: each takes
// memory and a row.
func FewAuthors(source, volume string, papers []gleaner.Paper) error {
	n := 0
	for _, p := range papers {
		if n += len(p.Authors); n > maxListAuthors {
			return ErrBadAnswer{source, cut(volume), ErrTooMuch{"authors of a volume", maxListAuthors}}
		}
	}
	return nil
}

// usable leaves out the papers over which a use of one panics, and logs their keys.
func usable(ctx context.Context, log *slog.Logger, source string, papers []gleaner.Paper, use func(gleaner.Paper)) []gleaner.Paper {
	return slices.DeleteFunc(slices.Clone(papers), func(p gleaner.Paper) bool {
		return ctx.Err() != nil || guard.Logged(ctx, log, source+": "+cut(p.Key), func() error { use(p); return nil }) != nil
	})
}

// longestUsed is how much of a title is tried as a document, in bytes: it takes half a second
// for one of ten kilobytes.
const longestUsed = 2 << 10

// use does with a paper what is done with those on record: by itself, and with its like.
func use(p gleaner.Paper) {
	one := []gleaner.Paper{p}
	Merge(Listing{Papers: one}, Listing{Papers: one})
	match.Held(one, one)
	match.SignsOf(p)
	match.NewIndex(one).Likeness(p.Title)
	match.NewIndex(one).Document(match.Evidence{FirstPages: p.Title[:min(len(p.Title), longestUsed)]})
}

func sound(p gleaner.Paper) error {
	switch {
	case len(p.Title) > maxTitle:
		return ErrTooMuch{"bytes in a title", maxTitle}
	case anyLonger(maxName, p.Key, p.DOI, p.ArXiv, p.Pages):
		return ErrTooMuch{"bytes in an identifier", maxName}
	case len(p.Authors) > maxAuthors:
		return ErrTooMuch{"authors of a paper", maxAuthors}
	case len(p.Links) > maxLinks:
		return ErrTooMuch{"links of a paper", maxLinks}
	case slices.ContainsFunc(p.Authors, func(a gleaner.Author) bool { return anyLonger(maxName, a.Name, a.PID) }):
		return ErrTooMuch{"bytes in a name", maxName}
	case anyLonger(maxTitle, p.Links...):
		return ErrTooMuch{"bytes in a link", maxTitle}
	}
	return nil
}

// cut shortens what is named in a message.
func cut(s string) string { return excerpt([]byte(s)) }

// visible drops what has no look of its own and makes text lie to a reader:
// control characters, and marks that turn the direction of what follows. White
// space stays, and so do the joiners that some scripts are written with.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r == unicode.ReplacementChar, r == '\u00ad', r == '\ufeff', r == '\u200b', r == '\u200e', r == '\u200f', r == '\u061c',
			'\u202a' <= r && r <= '\u202e', '\u2060' <= r && r <= '\u2069', 0xe0000 <= r && r <= 0xe007f:
			return -1
		}
		return r
	}, s)
}
