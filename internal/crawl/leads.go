package crawl

import (
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
)

// What one crawl of a site, and all harvests that ask its pages' links later, may give to
// other hosts: a page can name any number of URLs of hosts that have done nothing to be
// asked for them. A quarter of each is for links that read like wanted titles, so that
// other links leave room for what is wanted later.
const (
	maxLeads        = 2000 // of all hosts
	maxLeadHosts    = 200  // hosts
	maxLeadsPerHost = 300  // of one host
)

// Outcomes of leads that were not given to their hosts.
const (
	outcomeLeads        gleaner.Outcome = "lead-limit"
	outcomeLeadHosts    gleaner.Outcome = "lead-hosts-limit"
	outcomeLeadsPerHost gleaner.Outcome = "leads-per-host-limit"
)

// leads are the links that a crawl gave to other hosts.
type leads struct {
	wanted map[frontier.Hash]float64 // how like a wanted title each is
	of     map[string]int            // how many, by host
}

func newLeads() leads {
	return leads{wanted: map[frontier.Hash]float64{}, of: map[string]int{}}
}

// note counts a lead, once.
func (g leads) note(h frontier.Hash, host string, wanted float64) {
	if _, again := g.wanted[h]; !again {
		g.of[host]++
	}
	g.wanted[h] = wanted
}

// tooMany names the limit that a lead to a host would exceed. One that was given counts
// no more.
func (g leads) tooMany(host string, e *frontier.Entry) gleaner.Outcome {
	if _, again := g.wanted[e.Hash()]; again {
		return ""
	}
	of, may := g.of[host], func(most int) int {
		if e.Wanted < wantedLead {
			return most - most/4
		}
		return most
	}
	switch {
	case len(g.wanted) >= may(maxLeads):
		return outcomeLeads
	case of == 0 && len(g.of) >= may(maxLeadHosts):
		return outcomeLeadHosts
	case of >= may(maxLeadsPerHost):
		return outcomeLeadsPerHost
	}
	return ""
}

// lead gives a link to its host, once for all the pages that have it. One that a
// limit on its shape keeps out is recorded there with the limit's name; one that a
// limit on leads keeps out is recorded here, since its host is to know nothing
// of it. It reports whether no limit keeps it out.
func (l *loop) lead(host string, e *frontier.Entry) bool {
	e.Skip = l.scope.outside(e)
	had, again := l.leads.wanted[e.Hash()]
	if again && e.Wanted <= had {
		return e.Skip == ""
	}
	if why := l.leads.tooMany(host, e); why != "" {
		l.skip(*e, why)
		return false
	}
	if e.Skip == "" || l.mayRecord() {
		_ = l.give(host, e)
	}
	return e.Skip == ""
}

// give hands a link to another host, unless it names the limit that this would
// exceed.
func (l *loop) give(host string, e *frontier.Entry) gleaner.Outcome {
	if why := l.leads.tooMany(host, e); why != "" {
		return why
	}
	l.leads.note(e.Hash(), host, e.Wanted)
	l.Strategy.Enter(own(e))
	l.batch.AddLead(host, *e)
	return ""
}
