package crawl

import (
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
)

// Bounds of the leads of a site to other hosts, over one crawl and all later searches of its
// links: a page can name any number of URLs of hosts that have no part in it. A quarter of
// each is reserved for links that read like wanted titles.
const (
	maxLeads        = 2000 // of all hosts
	maxLeadHosts    = 200  // hosts
	maxLeadsPerHost = 300  // of one host
)

// Outcomes of links that exceed these bounds.
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

// note counts a lead once.
func (g leads) note(h frontier.Hash, host string, wanted float64) {
	if _, again := g.wanted[h]; !again {
		g.of[host]++
	}
	g.wanted[h] = wanted
}

// tooMany returns the limit that a lead to a host would exceed, "" for none. A lead that was
// given before is not counted again.
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

// lead gives a link to its host, once for all the pages that have it. A link excluded by
// its shape is recorded there with the limit. A link excluded by a bound on leads is
// recorded with this site, since its host must get no row. lead reports whether no limit
// excludes the link.
func (q *enqueuer) lead(host string, e *frontier.Entry) bool {
	e.Skip = q.scope.outside(e)
	had, again := q.leads.wanted[e.Hash()]
	if again && e.Wanted <= had {
		return e.Skip == ""
	}
	if why := q.leads.tooMany(host, e); why != "" {
		q.skip(*e, why)
		return false
	}
	if e.Skip == "" || q.mayRecord() {
		_ = q.give(host, e)
	}
	return e.Skip == ""
}

// give adds a lead to another host, or returns the limit that this would exceed.
func (q *enqueuer) give(host string, e *frontier.Entry) gleaner.Outcome {
	if why := q.leads.tooMany(host, e); why != "" {
		return why
	}
	q.leads.note(e.Hash(), host, e.Wanted)
	q.strategy.Enter(cloneWords(e))
	q.batch.AddLead(host, *e)
	return ""
}
