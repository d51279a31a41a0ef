package homepage

import (
	"context"
	"errors"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/web/page"
)

// Listed is a homepage that a directory names for a person.
type Listed struct {
	URL    string `json:"url"`
	Source string `json:"source"` // "dblp", "orcid", "semanticscholar", "user", …
}

// Subject is one author to be found, with all that is known beforehand.
type Subject struct {
	Author            gleaner.Author        `json:"author"`
	Venue             []string              `json:"venue"`               // the venue's name and its variations, the best first
	Papers            []gleaner.Paper       `json:"papers"`              // wanted papers of theirs
	CoAuthors         []gleaner.Author      `json:"co_authors"`          //
	CoAuthorHomepages []string              `json:"co_author_homepages"` // found already
	Listed            []Listed              `json:"listed"`
	Aliases           []string              `json:"aliases"`              // other names that the directory gives
	Taken             []string              `json:"taken"`                // homepages that others have a better claim to
	Withdrawn         []evidence.Candidate  `json:"withdrawn,omitempty"`  // homepages that were taken back
	Unanswered        []evidence.Unanswered `json:"unanswered,omitempty"` // directories that could not be asked
	Getter            Getter                `json:"-"`                    // fetches pages for this search; nil is the Finder's
}

// Getter fetches a page politely and parses it. final is its address after
// redirects. An error means that there is no page; it is evidence too, unless it
// wraps ErrRecord, or is a fetch.Error that another try may mend.
type Getter interface {
	Get(ctx context.Context, url string) (p *page.Page, final string, err error)
}

// ErrSearchUnavailable says that a decision without a homepage was made while
// no search provider answered: worth asking again later. Errors that carry it
// also wrap the provider's own.
var ErrSearchUnavailable = errors.New("homepage: no search provider answered")

// ErrBlacklisted is a Getter's word for a page that is not asked for because the
// operator put its host, or one that it redirects to, on the blacklist.
var ErrBlacklisted = errors.New("its host is on the blacklist")

// ErrRecord is wrapped by errors of Getter, Searcher and Cache that are the
// program's own, such as a database that is away. They are no evidence: the
// search for the author ends, to be begun anew.
var ErrRecord = errors.New("homepage: the record could not be asked")
