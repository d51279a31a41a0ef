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

// Subject is an author to search for, with all that is known beforehand.
type Subject struct {
	Author            gleaner.Author        `json:"author"`
	Venue             []string              `json:"venue"`               // the venue's name and its variations, the best first
	Papers            []gleaner.Paper       `json:"papers"`              // wanted papers of the author
	CoAuthors         []gleaner.Author      `json:"co_authors"`          //
	CoAuthorHomepages []string              `json:"co_author_homepages"` // known ones
	Listed            []Listed              `json:"listed"`
	Aliases           []string              `json:"aliases"`              // other names that the directory gives
	Taken             []string              `json:"taken"`                // homepages that others have a better claim to
	Withdrawn         []evidence.Candidate  `json:"withdrawn,omitempty"`  // homepages that were withdrawn
	Unanswered        []evidence.Unanswered `json:"unanswered,omitempty"` // directories that did not answer
	Getter            Getter                `json:"-"`                    // fetches pages for this search; nil is the Finder's
}

// Getter fetches a page politely and parses it. final is its address after
// redirects. An error means that there is no page, which is evidence too. It is no
// evidence if it wraps ErrRecord, or is a fetch.Error that may be retried.
type Getter interface {
	Get(ctx context.Context, url string) (p *page.Page, final string, err error)
}

// ErrSearchUnavailable reports that a decision without a homepage was made while no
// search provider answered. The search is worth repeating later. Errors that wrap it
// also wrap the provider's own.
var ErrSearchUnavailable = errors.New("homepage: no search provider answered")

// ErrBlacklisted is returned by a Getter if the host of a page, or one that it
// redirects to, is on the operator's blacklist.
var ErrBlacklisted = errors.New("its host is on the blacklist")

// ErrRecord is wrapped by errors of Getter, Searcher and Cache that are the
// program's own, such as an unreachable database. They are no evidence: the
// search for the author ends and is repeated.
var ErrRecord = errors.New("homepage: the record could not be asked")
