package crawl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gleaner/internal/gleaner"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// Outcomes of links that were not requested.
const (
	outcomeDirectory gleaner.Outcome = "directory-limit"
	outcomeSitemaps  gleaner.Outcome = "sitemap-limit"
	outcomeURLs      gleaner.Outcome = "url-limit"
	outcomePauses    gleaner.Outcome = "pause-limit"
)

// maxSkipped bounds the URLs of one site that are recorded as excluded by a limit, since
// a trap has any number of them.
const maxSkipped = 500

// limits are the bounds of one crawl of a site, with what of them is used.
type limits struct {
	cfg      Config
	scopes   []string            // of the site
	sections sections            // of the site, by the user's directory
	share    shares              // of the harvests that want the site
	used     store.CrawlProgress // over all slices of the crawl
	before   time.Duration       // of the crawl's slices before this one, with their waits
	started  time.Time           // of this slice
	history  rank.History        // of this slice, for its budget
	recheck  bool                // entries of the window are to be checked: new ones, or a section reached a limit
}

// limit returns the limit that excludes a link of this site, "" for none.
func (q *enqueuer) limit(e *frontier.Entry, met bool) gleaner.Outcome {
	if why := q.scope.outside(e); why != "" {
		return why
	}
	if !met && q.seen.urls >= q.scope.MaxURLs {
		return outcomeURLs
	}
	if why := q.limits.sectionLimit(e); why != "" {
		return why
	}
	if !e.Document && q.seen.inDir(e.Link.URL) >= q.scope.DirPages {
		return outcomeDirectory
	}
	return ""
}

// mayRecord reserves a place among the recorded links that a limit excludes. If there is
// none, it counts the link as unrecorded.
func (q *enqueuer) mayRecord() bool {
	if q.seen.skipped >= maxSkipped {
		q.unrecorded++
		return false
	}
	q.seen.skipped++
	return true
}

// skip records a link that a limit excludes, if it is among the first of its site. It
// reports whether the link is on record.
func (q *enqueuer) skip(e frontier.Entry, why gleaner.Outcome) bool {
	if _, met := q.seen.known(e.Hash(), 0, 0); met {
		return true
	}
	if !q.mayRecord() {
		return false
	}
	q.seen.add(e.Hash(), e.Depth, e.Role)
	e.Skip = why
	q.batch.AddLink(e)
	return true
}

// leftOutSummary summarises the links that limits excluded, for people to read.
func (l *loop) leftOutSummary() string {
	var all []string
	if l.links.unrecorded > 0 {
		all = append(all, fmt.Sprintf("%d links beyond the limits were left out, beside %d that are recorded", l.links.unrecorded, l.links.seen.skipped))
	}
	if l.links.fileRoom <= 0 {
		all = append(all, fmt.Sprintf("links to files beyond %d are not recorded", maxSiteFiles))
	}
	if l.links.pruned > 0 {
		all = append(all, fmt.Sprintf("%d links were left out for their words", l.links.pruned))
	}
	if l.missedOut > 0 {
		all = append(all, fmt.Sprintf("%d links that other hosts gave were left out, since those before them led to nothing", l.missedOut))
	}
	return strings.Join(append(all, l.limits.sections.leftOut()...), "; ")
}

// overTime ends a crawl that took too long: a host may answer as slowly as the limits of
// a request allow, and ask for a pause after each of 20,000 pages. Pauses that people
// make do not count.
func (m *limits) overTime() error {
	if took := m.before + time.Since(m.started); m.cfg.MaxTime > 0 && took >= m.cfg.MaxTime {
		return &errStop{ending: TimeLimit, reason: fmt.Sprintf("%s: %d requests took %s, the limit of a crawl is %s", TimeLimit, m.used.Pages, took.Round(time.Second), m.cfg.MaxTime)}
	}
	return nil
}

// overBudget ends a crawl if what waits is not expected to be worth its requests, by what
// the strategy has learnt and by the recent yield.
func (m *limits) overBudget(strategy rank.Strategy, waiting []page.Candidate) error {
	if m.cfg.Budget <= 0 || len(waiting) == 0 {
		return nil
	}
	if why := m.history.Stop(m.cfg.Budget, strategy, waiting); why != "" {
		return &errStop{ending: OverBudget, reason: why}
	}
	return nil
}

// poor reports whether the site is not worth its requests: every section in scope is
// unproductive, or the whole site is after more pages.
func (m *limits) poor() bool {
	from := m.cfg.TrapPages
	if !m.everySection(m.unproductive) {
		from *= sharedHost
	}
	return m.isTrap(from, m.used.Read, m.used.Relevant)
}

// trapped ends the crawl of a poor site. Known documents, homepages, and leads of other
// hosts are requested first.
func (m *limits) trapped(waiting []*frontier.Entry) error {
	if !m.poor() || slices.ContainsFunc(waiting, worthIt) {
		return nil
	}
	return &errStop{ending: Trap, reason: fmt.Sprintf("of %d pages only %d led to documents, less than %.0f %%", m.used.Read, m.used.Relevant, 100*m.cfg.TrapRate)}
}

// worthIt reports whether an entry is worth a request even on a poor site.
func worthIt(e *frontier.Entry) bool {
	return e.Document || e.Role != frontier.Member || e.Link.Source == page.SourceSeed
}

// countBytes counts the bytes of an answer, as received or as stored.
func (m *limits) countBytes(e *frontier.Entry, bytes int64) {
	s := m.sections.of(e.Link.URL)
	s.Bytes, s.Changed = s.Bytes+bytes, true
	m.recheck = m.recheck || m.tooLarge(s)
	m.used.Bytes += bytes
	m.share.addBytes(bytes)
}

// overBytes ends a crawl that has fetched as many bytes as one site, or all sites of a
// harvest, may: a site can generate any number of files.
func (m *limits) overBytes() error {
	limit := m.cfg.MaxBytes
	if !m.everySection(m.tooLarge) {
		limit *= sharedHost
	}
	switch {
	case limit > 0 && m.used.Bytes >= limit:
		return &errStop{ending: ByteLimit, reason: fmt.Sprintf("%s: %s in this crawl, the limit of a site is %s", ByteLimit, gigabytes(m.used.Bytes), gigabytes(limit))}
	case m.cfg.HarvestBytes > 0 && m.share.least() >= m.cfg.HarvestBytes:
		return &errStop{ending: ByteLimit, reason: fmt.Sprintf("%s: %s of all sites of the harvest, the limit is %s",
			ByteLimit, gigabytes(m.share.least()), gigabytes(m.cfg.HarvestBytes))}
	}
	return nil
}

func gigabytes(n int64) string { return fmt.Sprintf("%.4g GB", float64(n)/1e9) }
