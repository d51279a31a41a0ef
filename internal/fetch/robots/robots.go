package robots

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Rules holds the rules of a robots.txt for one agent. It is safe for concurrent use.
type Rules struct {
	group    *group // nil without rules
	sitemaps []string
	size     int
}

// Parse parses a robots.txt in UTF-8 or UTF-16 for the agent with this product token ("gleaner",
// without version). It ignores bytes beyond MaxBytes and invalid lines; without rules everything
// is allowed.
func Parse(body []byte, agentToken string) *Rules {
	d := read(text(body), strings.ToLower(agentToken))
	r := &Rules{group: d.group(), sitemaps: once(d.sitemaps), size: len(body)}
	if g := r.group; g != nil {
		g.known = nil
		r.size += g.size()
		g.lib = g.library()
	}
	return r
}

// size returns the approximate memory of the group in bytes, with the library's copy.
func (g *group) size() int {
	const ruleBytes, partBytes = 200, 32
	n := 0
	for i := range g.rules {
		n += ruleBytes
		for _, p := range g.rules[i].parts {
			n += partBytes + len(p)
		}
	}
	return n
}

// once removes duplicates.
func once(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		met := seen[s]
		seen[s] = true
		return met
	})
}

// Size returns the approximate memory of the rules in bytes.
func (r *Rules) Size() int { return r.size }

// Allowed reports whether the agent may request a path with its query, as in the URL. rule is the
// deciding line ("Disallow: /private/"), or "". Servers treat several slashes as one, so a path
// with several is also matched with one.
func (r *Rules) Allowed(pathAndQuery string) (allowed bool, rule string) {
	g := r.group
	if g == nil || len(g.rules) == 0 {
		return true, ""
	}
	pathAndQuery, _, _ = strings.Cut(pathAndQuery, "#")
	if !strings.HasPrefix(pathAndQuery, "/") {
		pathAndQuery = "/" + pathAndQuery
	}
	allowed, rule = g.allows(pathAndQuery)
	if path, query, asks := strings.Cut(pathAndQuery, "?"); allowed && strings.Contains(path, "//") {
		path = manySlashes.ReplaceAllString(path, "/")
		if asks {
			path += "?" + query
		}
		return g.allows(path)
	}
	return allowed, rule
}

var manySlashes = regexp.MustCompile("/{2,}")

// allows is Allowed for the path as given. The library decides, unless it is overruled.
func (g *group) allows(pathAndQuery string) (allowed bool, rule string) {
	path := normalise(pathAndQuery, true)
	own := g.lib == nil || g.overruled(path)
	if !own && g.lib.Test(path) || path == "/robots.txt" {
		return true, ""
	}
	switch best := decide(g.rules, path, normalise(pathAndQuery, false)); {
	case best != nil && !best.allow:
		return false, "Disallow: " + best.text
	case !own:
		return false, ""
	case best != nil:
		return true, "Allow: " + best.text
	}
	return true, ""
}

// CrawlDelay returns the Crawl-delay for the agent, at most 24 hours, or 0.
func (r *Rules) CrawlDelay() time.Duration {
	if r.group == nil {
		return 0
	}
	return r.group.delay
}

// Sitemaps returns the values of the Sitemap lines in order without duplicates: absolute URLs, or
// paths on the same host.
func (r *Rules) Sitemaps() []string { return r.sitemaps }
