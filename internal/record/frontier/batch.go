package frontier

import (
	"context"
	"time"

	"gleaner/internal/gleaner"
)

// Batch is what a crawl of one site did and has not written yet.
type Batch struct {
	Visits  []Visit
	Links   []Entry            // of this site, each once, at its best
	Aliases []Entry            // URLs where redirects ended: fetched under another name
	Leads   map[string][]Entry // for other hosts, by host
	Changed []Changed          // URLs that a sitemap says have changed
	Read    []Reading          // pages, with the files that they link to

	place map[Hash]int // in Links
}

// Changed is a URL that is said to have changed, and when.
type Changed struct {
	Hash Hash
	At   time.Time
}

// Written is what writing a Batch told.
type Written struct {
	Added map[Hash]Added // links that were new, or got better
	Again int            // URLs that were asked for before and wait again

	Repeated bool // it may have been written before, so that Added may lack some
}

// Unchanged reports whether a visit brought nothing that was not known.
func (v *Visit) Unchanged() bool { return v.Outcome == gleaner.NotModified }

// Empty reports whether there is nothing to write.
func (b *Batch) Empty() bool {
	return len(b.Visits) == 0 && len(b.Links) == 0 && len(b.Leads) == 0 && len(b.Aliases) == 0
}

// Reset empties the batch.
func (b *Batch) Reset() {
	b.Visits, b.Links, b.Aliases, b.Changed, b.Read = b.Visits[:0], b.Links[:0], b.Aliases[:0], nil, nil
	b.place, b.Leads = map[Hash]int{}, map[string][]Entry{}
}

// AddLink keeps a link once, at its best.
func (b *Batch) AddLink(e Entry) {
	h := e.Hash()
	if i, ok := b.place[h]; ok {
		had := &b.Links[i]
		had.Depth, had.Role = min(had.Depth, e.Depth), min(had.Role, e.Role)
		if e.Skip == "" {
			had.Skip = ""
			had.Queue, had.Priority, had.Wanted = max(had.Queue, e.Queue), max(had.Priority, e.Priority), max(had.Wanted, e.Wanted)
		}
		return
	}
	if b.place == nil {
		b.place = map[Hash]int{}
	}
	b.place[h] = len(b.Links)
	b.Links = append(b.Links, e)
}

// AddLead keeps a link to another host once, with the words most like a wanted
// title.
func (b *Batch) AddLead(host string, e Entry) {
	for i := range b.Leads[host] {
		if had := &b.Leads[host][i]; had.Hash() == e.Hash() {
			if e.Wanted > had.Wanted {
				*had = e
			}
			return
		}
	}
	if b.Leads == nil {
		b.Leads = map[string][]Entry{}
	}
	b.Leads[host] = append(b.Leads[host], e)
}

// AddAliases enters the ends of redirects as fetched already, unless they are
// known to have been.
func AddAliases(ctx context.Context, q Querier, siteID, crawl int, aliases []Entry) error {
	if len(aliases) == 0 {
		return nil
	}
	if _, err := Add(ctx, q, siteID, aliases); err != nil {
		return err
	}
	for i := range aliases {
		e := &aliases[i]
		if err := Alias(ctx, q, siteID, e.Hash(), crawl, aliasReason(e)); err != nil {
			return err
		}
	}
	return nil
}

func aliasReason(e *Entry) string { return "the end of a redirect from " + e.Parent }
