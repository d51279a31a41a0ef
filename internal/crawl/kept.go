package crawl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/match"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
	"gleaner/internal/web/rules"
	"gleaner/internal/web/weburl"
)

// Bounds of the kept links of a page, which are those that the crawl did not take. A page
// beyond them is fetched again when its links are needed.
const (
	maxKeptPlain = 2 << 20   // bytes of one page, as JSON
	maxKeptPage  = 128 << 10 // bytes of one page, packed
	maxKeptSite  = 64 << 20  // bytes of one site, packed
	maxKeptRatio = 32        // of the bytes of one page to those packed, where they are more than
	smallKept    = 64 << 10
)

// keepable reports whether a link that was not taken may be taken later, when papers,
// scope or lists have changed, or may be the reason why a paper is missing.
func keepable(from *frontier.Entry, link *page.Link) bool {
	if isIgnored(link) && !weburl.IsSourceName(link.URL) {
		return false
	}
	return from.Role == frontier.Member || from.Link.Source == page.SourceListing
}

// keepLinks adds links that were not taken to the reading of a page.
func (q *enqueuer) keepLinks(r *frontier.Reading, links []page.Link) {
	if len(links) == 0 && r.Unread == "" {
		return
	}
	packed, ok := packLinks(links)
	if !ok || len(packed) > maxKeptPage || q.keptBytes+len(packed) > maxKeptSite {
		r.NoRoom = true
		return
	}
	q.keptBytes += len(packed)
	r.Kept = packed
}

// The packer and the unpacker are safe for concurrent use.
var (
	packer, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxKeptPlain))
)

// packLinks encodes links. It reports false if they exceed the bounds.
func packLinks(links []page.Link) ([]byte, bool) {
	var plain bytes.Buffer
	to := json.NewEncoder(&plain)
	to.SetEscapeHTML(false)
	for i := range links {
		if err := to.Encode(&links[i]); err != nil || plain.Len() > maxKeptPlain {
			return nil, false
		}
	}
	packed := packer.EncodeAll(plain.Bytes(), make([]byte, 0, plain.Len()/4))
	return bytes.Clone(packed), plain.Len() <= max(smallKept, maxKeptRatio*len(packed))
}

// unpackLinks calls each for every link. It reports false if the links cannot be decoded.
func unpackLinks(packed []byte, each func(page.Link)) bool {
	plain, err := unpacker.DecodeAll(packed, nil)
	if err != nil {
		return false
	}
	for from := json.NewDecoder(bytes.NewReader(plain)); ; {
		var link page.Link
		if err := from.Decode(&link); err != nil {
			return err == io.EOF
		}
		each(link)
	}
}

// view returns a hash of the options that decide which links are taken, except the wanted papers.
func view(site Site, cfg Config, kept []rules.Lists) string {
	b, err := json.Marshal([]any{site.Scopes, site.ParentDomain, cfg.Policy, cfg.Leads, cfg.Names, cfg.Inspect, kept})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// KeptPosition is the position of a search among kept links, and the number found.
type KeptPosition struct {
	Site  int    `json:"site"`
	Page  []byte `json:"page"`
	Links int    `json:"links"` // added to frontiers
}

const (
	keptBatch = 500      // pages that are read at a time
	keptFound = 16 << 20 // bytes of their links held at a time, beside those of the last page
)

// FindLinks searches the kept links of all sites for a harvest's missing papers: of pages
// read since a time, or of all pages if that is zero. A link that reads like a missing
// title is added to the frontier of its host, and the host to the harvest. FindLinks makes
// no requests.
func (c *Crawler) FindLinks(ctx context.Context, harvest string, since time.Time, from KeptPosition,
	report func(KeptPosition)) (KeptPosition, error) {
	missing, err := c.db.Missing(ctx, harvest)
	if err != nil || len(missing) == 0 {
		return from, err
	}
	if err := c.db.JoinLeads(ctx, harvest, c.cfg.Leads, wantedLead); err != nil {
		return from, err
	}
	wanted := match.NewIndex(missing)
	reads := func(l *page.Link) bool {
		return max(wanted.Likeness(l.Anchor), wanted.Likeness(l.Context), wanted.Likeness(l.Heading)) >= wantedLead
	}
	return c.askKept(ctx, harvest, frontier.KeptRange{Since: since}, wanted, reads, from, report)
}

// ReopenLinks takes links of a site that its crawls did not take or that lists excluded, if
// the options have changed since. It returns how many it took.
func (c *Crawler) ReopenLinks(ctx context.Context, harvest, host string) (int, error) {
	site, err := c.db.Site(ctx, host)
	if err != nil || site.View == "" {
		return 0, err // no page was read yet
	}
	s, now, err := c.scopeOf(ctx, site, nil)
	if err != nil || now == site.View {
		return 0, err
	}
	let, err := s.readmit(ctx, c.db.Pool, site.ID)
	if err != nil {
		return 0, err
	}
	wanted, err := c.coll.Wanted(ctx)
	if err != nil {
		return 0, err
	}
	all := func(*page.Link) bool { return true }
	of := frontier.KeptRange{Site: site.ID}
	at, err := c.askKept(ctx, harvest, of, wanted, all, KeptPosition{}, func(KeptPosition) {})
	if err != nil {
		return let + at.Links, err
	}
	return let + at.Links, c.db.SetView(ctx, site.ID, now)
}

// scopeOf returns the present scope of a site, and the view of its options.
func (c *Crawler) scopeOf(ctx context.Context, of store.Site, wanted *match.Index) (scope, string, error) {
	s := &slice{Crawler: c, site: of}
	site, cfg, kept, err := s.describe(ctx)
	site.Wanted = wanted
	return scope{site, cfg}, view(site, cfg, kept), err
}

// askKept takes kept links of pages that reads chooses, if the present scope allows them.
func (c *Crawler) askKept(ctx context.Context, harvest string, r frontier.KeptRange, wanted *match.Index,
	reads func(*page.Link) bool, at KeptPosition, report func(KeptPosition)) (KeptPosition, error) {
	r.Limit = keptBatch
	for {
		r.AfterSite, r.AfterPage = at.Site, at.Page
		pages, err := frontier.KeptLinks(ctx, c.db.Pool, r)
		if err != nil {
			return at, err
		}
		for len(pages) > 0 {
			n := 1
			for n < len(pages) && pages[n].Site == pages[0].Site {
				n++
			}
			added, n, err := c.askSite(ctx, harvest, pages[:n], wanted, reads, r)
			if err != nil {
				return at, err
			}
			last := pages[n-1]
			at = KeptPosition{Site: last.Site, Page: last.Page[:], Links: at.Links + added}
			report(at)
			pages = pages[n:]
		}
		if r.AfterSite == at.Site && string(r.AfterPage) == string(at.Page) {
			return at, nil // there were none
		}
	}
}

// askSite takes kept links of the first pages of one site, and returns how many pages these
// are. Pages whose links exceeded the bounds are fetched again, unless the range has only
// the latest pages.
func (c *Crawler) askSite(ctx context.Context, harvest string, pages []frontier.Kept, wanted *match.Index,
	reads func(*page.Link) bool, r frontier.KeptRange) (added, n int, err error) {
	add := store.KeptLinks{Harvest: harvest, Site: pages[0].Site}
	found, noRoom, n := c.readKept(ctx, pages, reads)
	if r.Since.IsZero() {
		add.Whole = noRoom
	}
	if len(found) == 0 && len(add.Whole) == 0 {
		return 0, n, nil
	}
	site, err := c.db.SiteByID(ctx, pages[0].Site)
	if err != nil {
		return 0, 0, err
	}
	s, _, err := c.scopeOf(ctx, site, wanted)
	if err != nil {
		return 0, 0, err
	}
	given := newLeads()
	if err = c.db.Leads(ctx, site.ID, given.note); err != nil {
		return 0, 0, err
	}
	known, err := c.db.KnownURLs(ctx, site.ID)
	if err != nil {
		return 0, 0, err
	}
	batch := c.takeAgain(ctx, &s, pages, found, given, c.cfg.MaxURLs-known)
	add.Links, add.Leads = batch.Links, batch.Leads
	added, err = c.db.TakeKeptLinks(ctx, add)
	return added, n, err
}

// readKept unpacks the links of the first n pages. It returns those that reads chooses, by
// the page's number, and the pages whose links exceeded the bounds or cannot be decoded.
// Links on which reads panics are left out.
func (c *Crawler) readKept(ctx context.Context, pages []frontier.Kept, reads func(*page.Link) bool) (
	found map[int][]page.Link, noRoom [][]byte, n int) {
	found = map[int][]page.Link{}
	for held := 0; n < len(pages) && held < keptFound; n++ {
		kept := &pages[n]
		if kept.Data == nil || !unpackLinks(kept.Data, func(l page.Link) {
			var read bool
			_ = guard.Logged(ctx, c.log, l.URL, func() error { read = reads(&l); return nil })
			if read {
				found[n] = append(found[n], l)
				held += len(l.URL) + len(l.Anchor) + len(l.Context) + len(l.Heading) + len(l.TagPath)
			}
		}) {
			delete(found, n)
			noRoom = append(noRoom, kept.Page[:])
		}
	}
	return found, noRoom, n
}

// keptOfPaper bounds the links that takeAgain records as why one paper is missing.
const keptOfPaper = 6

// explains reports whether a link is one of the first that name a paper, and counts it.
func (s *scope) explains(e *frontier.Entry, had map[string]int) (first bool) {
	for _, words := range []string{e.Link.Anchor, e.Link.Context, e.Link.Heading} {
		papers := s.Wanted.Mentioned(words)
		for _, paper := range papers {
			had[paper]++
			first = first || had[paper] <= keptOfPaper
		}
		if len(papers) > 0 {
			break
		}
	}
	return first
}

// takeAgain takes links of pages by the present scope, at most room of the site itself. It
// records some excluded links that read like a wanted title, since they are why a paper is
// missing.
func (c *Crawler) takeAgain(ctx context.Context, s *scope, pages []frontier.Kept, found map[int][]page.Link,
	given leads, room int) (batch frontier.Batch) {
	leftOut := map[string]int{} // by paper
	for _, i := range slices.Sorted(maps.Keys(found)) {
		for _, l := range found[i] {
			var e frontier.Entry
			var here, ok bool
			var why gleaner.Outcome
			if guard.Logged(ctx, c.log, l.URL, func() error {
				e, here, ok = s.take(&pages[i].From, l)
				s.weigh(&e)
				why = s.outside(&e)
				return nil
			}) != nil {
				continue
			}
			host := weburl.Host(l.URL)
			if !ok {
				e.Role, why = frontier.Lead, unfollowed(&e, here)
			}
			own := here || !ok
			if here && why == "" {
				if room--; room < 0 {
					why = outcomeURLs
				}
			}
			if why == "" && !own {
				why = given.tooMany(host, &e)
				own = why != "" // recorded here, not with its host
			}
			if e.Skip = why; why != "" {
				var first bool
				explains := func() error { first = s.explains(&e, leftOut); return nil }
				if !s.wantedItself(&e) || guard.Logged(ctx, c.log, l.URL, explains) != nil || !first {
					continue
				}
			}
			if own {
				batch.AddLink(e)
				continue
			}
			given.note(e.Hash(), host, e.Wanted)
			batch.AddLead(host, e)
		}
	}
	return batch
}
