package crawl

import (
	"fmt"
	"strings"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

const (
	// maxMisses is how many leads that the hosts of one domain gave to this site may
	// miss in a row. What else they gave is not asked for then: a page may name any
	// number of URLs of others that are not there.
	maxMisses = 10
	// maxVainHosts is how many hosts of one domain that another named may give no
	// document in a row: a domain may answer for any number of names.
	maxVainHosts = 20
)

// outcomeMissed is that of leads left out for the misses of others.
const outcomeMissed gleaner.Outcome = "leads-missed"

// misses counts them, by the domain of the host that gave them. They are forgotten
// after a month, when what was missing may be there.
type misses map[string]int

// giver is the domain of the other host that gave a lead to a site, "" where none
// did.
func giver(site string, e *frontier.Entry) string {
	if e.Role == frontier.Member || e.Link.Source == page.SourceSeed || e.Parent == "" {
		return ""
	}
	if host := weburl.Host(e.Parent); host != site {
		return weburl.Domain(host)
	}
	return ""
}

// count notes how a lead ended. What says nothing of its being there (the host is
// out, robots.txt forbids it) changes nothing.
func (m misses) count(giver string, v *frontier.Visit) {
	if giver == "" {
		return
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

// leaveOut takes from the window what is not to be asked for: landing pages whose
// papers were found on this site (they are asked for if a later harvest still
// misses the paper), leads of domains whose leads miss or whose hosts give nothing,
// what lies in the directories of users who reached a limit, and what the lists of
// the harvests keep out.
func (l *loop) leaveOut() {
	for i := len(l.window.entries) - 1; i >= 0; i-- {
		if outcome, why := l.notWorthIt(l.window.entries[i]); outcome != "" {
			l.batch.Visits = append(l.batch.Visits, frontier.Visit{Entry: l.window.take(i), State: frontier.Skipped, Outcome: outcome,
				Reason: why, Crawl: l.site.Crawl, At: time.Now()})
		}
	}
}

func (l *loop) notWorthIt(e *frontier.Entry) (gleaner.Outcome, string) {
	if why, entry := l.scope.keptOut(e); why != "" {
		return why, strings.TrimSpace("the lists say so: " + entry)
	}
	if len(l.found) > 0 && landingSeed(e) && e.Was == frontier.Waiting && l.found[text.Normalise(e.Link.Anchor)] {
		return outcomeFound, "the paper was found without it"
	}
	if why := l.beyond(e); why != "" {
		return why, "its user's pages reached the limit"
	}
	from := giver(l.site.Host, e)
	if l.site.InVain[from] {
		l.missedOut++
		return outcomeMissed, fmt.Sprintf("the last %d hosts of %s that %s named gave no document", maxVainHosts, weburl.Domain(l.site.Host), from)
	}
	if l.misses[from] >= maxMisses {
		l.missedOut++
		return outcomeMissed, fmt.Sprintf("%d links in a row that %s gave to this site led to nothing", l.misses[from], from)
	}
	return "", ""
}
