package crawl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
)

// Outcomes of links that were not asked for.
const (
	outcomeDirectory gleaner.Outcome = "directory-limit"
	outcomeSitemaps  gleaner.Outcome = "sitemap-limit"
	outcomeURLs      gleaner.Outcome = "url-limit"
	outcomePauses    gleaner.Outcome = "pause-limit"
)

// maxSkipped bounds the URLs of one site that are recorded as kept out by a
// limit; a trap has no end of them.
const maxSkipped = 500

// limit names the limit that keeps a link of this site from being asked for, ""
// if none does.
func (l *loop) limit(e *frontier.Entry, met bool) gleaner.Outcome {
	if why := l.scope.outside(e); why != "" {
		return why
	}
	if !met && l.seen.urls >= l.cfg.MaxURLs {
		return outcomeURLs
	}
	if why := l.beyond(e); why != "" {
		return why
	}
	if !e.Document && l.seen.inDir(e.Link.URL) >= l.cfg.DirPages {
		return outcomeDirectory
	}
	return ""
}

// mayRecord takes a place among the links kept out by a limit that are recorded,
// or counts one that is not.
func (l *loop) mayRecord() bool {
	if l.seen.skipped >= maxSkipped {
		l.unrecorded++
		return false
	}
	l.seen.skipped++
	return true
}

// skip records a link that a limit keeps out, among the first of its site. It reports
// whether the link is on record.
func (l *loop) skip(e frontier.Entry, why gleaner.Outcome) bool {
	if _, met := l.seen.known(e.Hash(), 0, 0); met {
		return true
	}
	if !l.mayRecord() {
		return false
	}
	l.seen.add(e.Hash(), e.Depth, e.Role)
	e.Skip = why
	l.batch.AddLink(e)
	return true
}

// leftAside tells a person what limits kept from being asked for.
func (l *loop) leftAside() string {
	var all []string
	if l.unrecorded > 0 {
		all = append(all, fmt.Sprintf("%d links beyond the limits were left out, beside %d that are recorded", l.unrecorded, l.seen.skipped))
	}
	if l.pruned > 0 {
		all = append(all, fmt.Sprintf("%d links were left out for their words", l.pruned))
	}
	if l.missedOut > 0 {
		all = append(all, fmt.Sprintf("%d links that other hosts gave were left out, since those before them led to nothing", l.missedOut))
	}
	return strings.Join(append(all, l.sections.leftOut()...), "; ")
}

// overTime ends a crawl that went on for too long: a host may answer as slowly as
// the bounds of a request allow, and ask for a pause after each of 20,000 pages.
// Pauses that people make do not count.
func (l *loop) overTime() error {
	if took := l.took + time.Since(l.started); l.cfg.MaxTime > 0 && took >= l.cfg.MaxTime {
		return &errStop{ending: TimeLimit, reason: fmt.Sprintf("%s: %d requests took %s, the limit of a crawl is %s", TimeLimit, l.crawl.Pages, took.Round(time.Second), l.cfg.MaxTime)}
	}
	return nil
}

// overBudget tells when what is left of a site is not expected to be worth its
// requests, by what the strategy has learnt and by the yield of late.
func (l *loop) overBudget() error {
	if l.cfg.Budget <= 0 || l.window.empty() {
		return nil
	}
	if why := l.history.Stop(l.cfg.Budget, l.Strategy, l.window.candidates); why != "" {
		return &errStop{ending: OverBudget, reason: why}
	}
	return nil
}

// poor tells a site that is not worth its requests: all that links are followed in
// is barren, or much of it.
func (l *loop) poor() bool {
	from := l.cfg.TrapPages
	if !l.spent(l.barren) {
		from *= sharedHost
	}
	return l.few(from, l.crawl.Read, l.crawl.Relevant)
}

// trapped ends the crawl of a poor site. Documents that are known, homepages, and
// what other hosts led to are taken first.
func (l *loop) trapped() error {
	if !l.poor() || slices.ContainsFunc(l.window.entries, worthIt) {
		return nil
	}
	return &errStop{ending: Trap, reason: fmt.Sprintf("of %d pages only %d led to documents, less than %.0f %%", l.crawl.Read, l.crawl.Relevant, 100*l.cfg.TrapRate)}
}

// worthIt reports whether an entry is worth a request though its site is poor.
func worthIt(e *frontier.Entry) bool {
	return e.Document || e.Role != frontier.Member || e.Link.Source == page.SourceSeed
}

// brings counts what an answer takes to keep, in bytes: as it came, or as what it
// was compressed to.
func (l *loop) brings(e *frontier.Entry, bytes int64) {
	s := l.sections.of(e.Link.URL)
	s.Bytes, s.Changed = s.Bytes+bytes, true
	l.passed = l.passed || l.heavy(s)
	l.crawl.Bytes += bytes
	l.share.brings(bytes)
}

// overBytes ends a crawl that brought as many bytes as one site, or all sites of a
// harvest, may: a site can make as many files as it likes.
func (l *loop) overBytes() error {
	limit := l.cfg.MaxBytes
	if !l.spent(l.heavy) {
		limit *= sharedHost
	}
	switch {
	case limit > 0 && l.crawl.Bytes >= limit:
		return &errStop{ending: ByteLimit, reason: fmt.Sprintf("%s: %s in this crawl, the limit of a site is %s", ByteLimit, gigabytes(l.crawl.Bytes), gigabytes(limit))}
	case l.cfg.HarvestBytes > 0 && l.share.least() >= l.cfg.HarvestBytes:
		return &errStop{ending: ByteLimit, reason: fmt.Sprintf("%s: %s of all sites of the harvest, the limit is %s",
			ByteLimit, gigabytes(l.share.least()), gigabytes(l.cfg.HarvestBytes))}
	}
	return nil
}

func gigabytes(n int64) string { return fmt.Sprintf("%.4g GB", float64(n)/1e9) }
