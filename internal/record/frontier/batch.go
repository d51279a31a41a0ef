package frontier

import (
	"context"
	"time"

	"gleaner/internal/gleaner"
)

// Batch is the work of a crawl of one site that is not written yet.
type Batch struct {
	Visits  []Visit
	Links   []Entry            // of this site, each once, with its best depth, role and words
	Aliases []Entry            // URLs where redirects ended: fetched under another name
	Leads   map[string][]Entry // for other hosts, by host
	Changed []Changed          // URLs that have changed by their sitemap
	Read    []Reading          // pages, with the files that they link to

	place map[Hash]int // in Links
}

// Changed is a URL that has changed by its sitemap, and when.
type Changed struct {
	Hash Hash
	At   time.Time
}

// Written is the result of writing a Batch.
type Written struct {
	Added map[Hash]Added // links that are new or were improved
	Again int            // visited URLs that wait again

	Repeated bool // it may have been written before, so that Added may lack some
}

// Unchanged reports whether a visit found no change.
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

// AddLink adds a link, or improves the one that is there.
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

// AddLead adds a link to another host once, with the words that are most like a wanted title.
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

// AddAliases adds the targets of redirects as fetched, unless they are on record as such.
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

// Outcomes of URLs that are set aside since they harm the program.
const (
	Killed   gleaner.Outcome = "crawler-killed" // the process that worked on the answer died
	Panicked gleaner.Outcome = "crawler-panic"  // the answer made the program panic
)

// MaxDeaths is the number of process deaths over a URL after which it is set aside.
// Other work of the same process is charged too: one death says little.
const MaxDeaths = 3

// Charge notes that the process died over the answer of a waiting or failed URL. The URL has
// failed then, and rests for a random part of rest, longer after each death, so that several
// URLs of one process are retried at different times. After MaxDeaths it is set aside.
func Charge(ctx context.Context, q Querier, siteID int, h Hash, crawl int, rest time.Duration) error {
	_, err := q.Exec(ctx, `UPDATE urls SET deaths = deaths + 1, crawl = $3, fetched_at = now(), outcome = $5, state = 3,
			reason = 'the process that read its answer ended',
			next_try = CASE WHEN deaths + 1 < $4 THEN clock_timestamp() + (deaths + 1) * random() * $6::interval END
		WHERE site_id = $1 AND hash = $2 AND (state = 0 OR state = 3 AND next_try IS NOT NULL)`,
		siteID, h, crawl, MaxDeaths, string(Killed), rest)
	return failed("charge", err)
}

// columns are entries as arrays of columns, for unnest.
type columns struct {
	hash                                                            []Hash
	url, parent, source, anchor, context, heading, tagPath, outcome []string
	queue, depth, role, state                                       []int16
	mark, position                                                  []int32
	priority, wanted                                                []float32
}

func (c *columns) append(e *Entry) {
	c.hash = append(c.hash, e.Hash())
	c.url = append(c.url, e.Link.URL)
	c.queue = append(c.queue, int16(e.Queue))
	c.mark = append(c.mark, int32(e.Mark))
	c.priority = append(c.priority, float32(e.Priority))
	c.depth = append(c.depth, int16(min(e.Depth, 32767)))
	c.role = append(c.role, int16(e.Role))
	c.wanted = append(c.wanted, float32(e.Wanted))
	c.position = append(c.position, int32(e.Link.Position))
	c.parent = append(c.parent, e.Parent)
	c.source = append(c.source, string(e.Link.Source))
	c.anchor = append(c.anchor, e.Link.Anchor)
	c.context = append(c.context, e.Link.Context)
	c.heading = append(c.heading, e.Link.Heading)
	c.tagPath = append(c.tagPath, e.Link.TagPath)
	state := Waiting
	if e.Skip != "" {
		state = Skipped
	}
	c.state = append(c.state, int16(state))
	c.outcome = append(c.outcome, string(e.Skip))
}
