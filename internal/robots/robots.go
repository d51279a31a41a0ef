package robots

import (
	"strings"
	"time"

	"github.com/temoto/robotstxt"
)

// Rules is a robots.txt that was read. It may be used by many at once.
type Rules struct {
	doc *document
}

// Parse reads a robots.txt in UTF-8 or UTF-16. Bytes beyond MaxBytes and lines
// that make no sense are ignored; no rules means that everything is allowed.
func Parse(body []byte) *Rules {
	r := &Rules{doc: read(text(body))}
	lib, err := robotstxt.FromBytes(r.doc.clean())
	if err != nil {
		return r // the rules are still matched here, delays and sitemaps known
	}
	for token, g := range r.doc.groups {
		// The library takes a prefix of a token for the token, and everybody's
		// group before one of a single letter, so it is asked only for groups
		// that the clean file holds and that it finds.
		if (g.delay > 0 || g.allPlain()) && (token == "*" || len(token) > 1) {
			g.lib = lib.FindGroup(token)
		}
	}
	r.doc.sitemaps = lib.Sitemaps
	return r
}

// Allowed reports whether the agent with this product token ("gleaner", without
// version) may ask for a path with its query, as they stand in the URL. rule is
// the line that decided ("Disallow: /private/"), "" where none did.
func (r *Rules) Allowed(agentToken, pathAndQuery string) (allowed bool, rule string) {
	g := r.group(agentToken)
	if g == nil || len(g.rules) == 0 {
		return true, ""
	}
	pathAndQuery, _, _ = strings.Cut(pathAndQuery, "#")
	if !strings.HasPrefix(pathAndQuery, "/") {
		pathAndQuery = "/" + pathAndQuery
	}
	if pathAndQuery == "/robots.txt" {
		return true, "" // RFC 9309 section 2.2.2: implicitly allowed
	}
	path := normalise(pathAndQuery, true)
	if g.lib != nil && g.allPlain() && g.lib.Test(path) {
		return true, ""
	}
	best := decide(g.rules, path, normalise(pathAndQuery, false))
	if best == nil {
		return true, ""
	}
	if best.allow {
		return true, "Allow: " + best.text
	}
	return false, "Disallow: " + best.text
}

// CrawlDelay is the pause between requests that the file asks of the agent, at
// most 24 hours; 0 if it asks for none.
func (r *Rules) CrawlDelay(agentToken string) time.Duration {
	g := r.group(agentToken)
	switch {
	case g == nil || g.delay == 0:
		return 0
	case g.lib != nil:
		return g.lib.CrawlDelay
	default:
		return g.delay
	}
}

// Sitemaps are the values of the Sitemap lines, in order and each once: absolute
// URLs, or paths on the same host.
func (r *Rules) Sitemaps() []string {
	seen := make(map[string]bool, len(r.doc.sitemaps))
	var out []string
	for _, s := range r.doc.sitemaps {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// group returns the group for a product token, whole and case-insensitive, else
// the one for everybody.
func (r *Rules) group(agentToken string) *group {
	if g := r.doc.groups[strings.ToLower(agentToken)]; g != nil {
		return g
	}
	return r.doc.groups["*"]
}
