package crawl

import (
	"fmt"
	"strings"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/metadata"
	"gleaner/internal/record/frontier"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

const (
	// maxMisses is how many leads from one domain may fail in a row. The other leads from
	// it are skipped then: a page may name any number of URLs that do not exist.
	maxMisses = 10
	// maxRecordMisses is the same of all that the records of papers name, in whatever directories.
	maxRecordMisses = 50
	// maxVainHosts is how many hosts of one domain that another named may have no document
	// in a row: a domain may answer for any number of host names.
	maxVainHosts = 20
)

// outcomeMissed is the outcome of leads skipped for the misses of others.
const outcomeMissed gleaner.Outcome = "leads-missed"

// records gives the links that records of papers have, which anybody may have written.
const records = "the records of papers"

// misses counts consecutive leads that failed, by the domain that gave them. They expire
// after a month, when the URLs may exist.
type misses map[string]int

// giverDomain returns the domain of the other host from which a lead came, or records and the
// directory of the lead, since others of the host may exist; "" if an entry is no lead.
func giverDomain(site string, e *frontier.Entry) string {
	seed := e.Link.Source == page.SourceSeed
	if e.Role == frontier.Member || seed && e.Link.Context != metadata.Editions {
		return ""
	} else if seed {
		return records + " for " + weburl.Above(e.Link.URL)
	} else if host := weburl.Host(e.Parent); host != site {
		return weburl.Domain(host)
	}
	return ""
}

// count counts the outcome of a lead. Outcomes that do not show whether the URL exists (the
// host is down, robots.txt forbids it) change nothing.
func (m misses) count(giver string, v *frontier.Visit) {
	if giver == "" {
		return
	}
	if giver != records && strings.HasPrefix(giver, records) {
		m.count(records, v)
	}
	switch v.State {
	case frontier.Page, frontier.Document:
		m[giver] = 0
	case frontier.Gone:
		switch v.Outcome {
		case fetch.NotFound, fetch.Forbidden, fetch.BadStatus, SoftMissing, WrongKind:
			m[giver]++
		}
	}
}

// over returns of whom too many leads in a row failed, a giver or all records; "" if of neither.
func (m misses) over(giver string) string {
	if m[records] >= maxRecordMisses && strings.HasPrefix(giver, records) {
		return records
	} else if m[giver] < maxMisses {
		return ""
	}
	return giver
}

// leaveOut skips the entries of the window that are not worth a request: landing pages
// whose papers were found on this site (a later harvest that misses the paper requests
// them), leads from domains whose leads fail or whose hosts have nothing, entries of users
// who reached a limit, and entries that the lists of the harvests exclude.
func (l *loop) leaveOut() {
	for i := len(l.window.entries) - 1; i >= 0; i-- {
		if outcome, why := l.notWorthIt(l.window.entries[i]); outcome != "" {
			l.batch.Visits = append(l.batch.Visits, frontier.Visit{Entry: l.window.take(i), State: frontier.Skipped, Outcome: outcome,
				Reason: why, Crawl: l.site.Crawl, At: time.Now()})
		}
	}
}

func (l *loop) notWorthIt(e *frontier.Entry) (gleaner.Outcome, string) {
	if why, entry := l.links.scope.keptOut(e); why != "" {
		return why, strings.TrimSpace("the lists say so: " + entry)
	}
	if len(l.links.found) > 0 && landingSeed(e) && e.Was == frontier.Waiting && l.links.found[text.Normalise(e.Link.Anchor)] {
		return outcomeFound, "the paper was found without it"
	}
	if why := l.limits.sectionLimit(e); why != "" {
		return why, "its user's pages reached the limit"
	}
	from := giverDomain(l.site.Host, e)
	if l.site.InVain[from] {
		l.missedOut++
		return outcomeMissed, fmt.Sprintf("the last %d hosts of %s that %s named gave no document", maxVainHosts, weburl.Domain(l.site.Host), from)
	}
	if over := l.misses.over(from); over != "" {
		l.missedOut++
		return outcomeMissed, fmt.Sprintf("%d links in a row that %s gave to this site led to nothing", l.misses[over], over)
	}
	return "", ""
}
