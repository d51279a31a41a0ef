package crawl

import (
	"context"
	"fmt"

	"gleaner/internal/gleaner"
	"gleaner/internal/web/weburl"
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

// Denied ends the crawl of a site that the policy does not allow.
const Denied Ending = "denied"

// standing asks what the policy makes of the site: why it is not asked at all, ""
// if it is, and whether links are followed within its registrable domain.
func (s *slice) standing(ctx context.Context) (denied string, parentDomain bool, err error) {
	at, err := s.db.Standing(ctx, s.site.Host, weburl.Domain(s.site.Host))
	if err != nil {
		return "", false, fmt.Errorf("crawl %s: %w", s.site.Host, err)
	}
	policy := s.Crawler.cfg.Policy
	switch {
	case at.Blocked:
		denied = gleaner.Blacklisted
		if at.Reason != "" {
			denied += ": " + at.Reason
		}
	case policy == PolicyWhitelist && !at.Listed:
		denied = gleaner.NotListed
	}
	return denied, at.Listed && policy != PolicyBlacklist && policy != "", nil
}
