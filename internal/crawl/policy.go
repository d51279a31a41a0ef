package crawl

import (
	"context"
	"fmt"

	"gleaner/internal/frontier"
	"gleaner/internal/weburl"
)

// Policies of what may be asked (Wu et al., WebSci 2012, section 3).
const (
	// PolicyBlacklist asks every site that a harvest wants, but for hosts on the
	// blacklist.
	PolicyBlacklist = "blacklist"
	// PolicyWhitelist asks domains on the whitelist alone, and there follows
	// links that stay in the parent's domain, two steps from a listed page.
	PolicyWhitelist = "whitelist"
	// PolicyHybrid treats domains on the whitelist as PolicyWhitelist does, and
	// all others as PolicyBlacklist does.
	PolicyHybrid = "hybrid"
)

// parentDomainDepth is how far links are followed by the ParentDomain rule.
const parentDomainDepth = 2

// Denied ends the crawl of a site that the policy does not allow.
const Denied Ending = "denied"

// standing is what the policy makes of the site.
type standing struct {
	denied       string // why the site is not asked at all
	parentDomain bool   // links are followed within the registrable domain
}

func (s *slice) loadStanding(ctx context.Context) error {
	at, err := s.db.Standing(ctx, s.site.Host, weburl.Domain(s.site.Host))
	if err != nil {
		return fmt.Errorf("crawl %s: %w", s.site.Host, err)
	}
	s.standing.parentDomain = at.Listed && s.cfg.Policy != PolicyBlacklist && s.cfg.Policy != ""
	switch {
	case at.Blocked:
		s.standing.denied = "the host is on the blacklist"
		if at.Reason != "" {
			s.standing.denied += ": " + at.Reason
		}
	case s.cfg.Policy == PolicyWhitelist && !at.Listed:
		s.standing.denied = "the domain is not on the whitelist"
	}
	return nil
}

// mayAsk says whether the policy allows the site.
func (s *slice) mayAsk() error {
	if s.standing.denied != "" {
		return &errStop{ending: Denied, reason: s.standing.denied}
	}
	return nil
}

// inParentDomain is the ParentDomain rule for a link of a page.
func (s *slice) inParentDomain(from, e *frontier.Entry) bool {
	return s.standing.parentDomain && e.Depth <= parentDomainDepth && weburl.SameSite(from.Link.URL, e.Link.URL)
}

// nearEnough holds PolicyWhitelist to its two steps in scope, too; documents are
// taken from the last page, a step further.
func (s *slice) nearEnough(e *frontier.Entry) bool {
	return s.cfg.Policy != PolicyWhitelist || e.Document || e.Depth <= parentDomainDepth
}
