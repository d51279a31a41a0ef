package crawl

import (
	"context"

	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
)

// What one crawl of a site may give to other hosts: a page can name any number of URLs of
// hosts that have done nothing to be asked for them.
const (
	maxLeads        = 2000 // of all hosts
	maxLeadHosts    = 200  // hosts
	maxLeadsPerHost = 300  // of one host
)

// Outcomes of leads that were not given to their hosts.
const (
	outcomeLeads        fetch.Outcome = "lead-limit"
	outcomeLeadHosts    fetch.Outcome = "lead-hosts-limit"
	outcomeLeadsPerHost fetch.Outcome = "leads-per-host-limit"
)

// lead gives a link to its host, once for all the pages that have it. One that a
// limit on its shape keeps out is recorded there with the limit's name; one that a
// limit on leads keeps out is recorded here, since its host is to know nothing
// of it.
func (s *slice) lead(host string, e *frontier.Entry) {
	had, again := s.leads[e.Hash()]
	if again && e.Wanted <= had {
		return
	}
	if why := s.tooManyLeads(host); why != "" && !again {
		s.skip(*e, why)
		return
	}
	if e.Skip = s.outside(e); e.Skip != "" && !s.mayRecord() {
		return
	}
	_ = s.give(host, e)
}

// give hands a link to another host, unless it names the limit that this would
// exceed.
func (s *slice) give(host string, e *frontier.Entry) fetch.Outcome {
	if _, again := s.leads[e.Hash()]; !again {
		if why := s.tooManyLeads(host); why != "" {
			return why
		}
		s.leadsOf[host]++
	}
	s.leads[e.Hash()] = e.Wanted
	s.strategy.Enter(own(e))
	s.batch.AddLead(host, *e)
	return ""
}

// loadLeads reads what this crawl gave to other hosts before this slice.
func (s *slice) loadLeads(ctx context.Context) error {
	s.leads, s.leadsOf = map[frontier.Hash]float64{}, map[string]int{}
	return s.db.Leads(ctx, s.site.ID, func(h frontier.Hash, host string, wanted float64) {
		s.leads[h] = wanted
		s.leadsOf[host]++
	})
}

// tooManyLeads names the limit that one more lead to a host would exceed.
func (s *slice) tooManyLeads(host string) fetch.Outcome {
	of := s.leadsOf[host]
	switch {
	case len(s.leads) >= maxLeads:
		return outcomeLeads
	case of == 0 && len(s.leadsOf) >= maxLeadHosts:
		return outcomeLeadHosts
	case of >= maxLeadsPerHost:
		return outcomeLeadsPerHost
	}
	return ""
}
