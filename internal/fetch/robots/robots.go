package robots

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Rules is what a robots.txt says to one agent. It may be used by many at once.
type Rules struct {
	group    *group // nil where nobody is spoken to
	sitemaps []string
	size     int
}

// Parse reads a robots.txt in UTF-8 or UTF-16 for the agent with this product
// token ("gleaner", without version). Bytes beyond MaxBytes and lines that make
// no sense are ignored; no rules means that everything is allowed.
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

// size is about what the group takes in memory, with the library's copy.
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

// once leaves out what stands in a list already.
func once(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		met := seen[s]
		seen[s] = true
		return met
	})
}

// Size is about how much memory the rules take, in bytes.
func (r *Rules) Size() int { return r.size }

// Allowed reports whether the agent may ask for a path with its query, as they
// stand in the URL. rule is the line that decided ("Disallow: /private/"), ""
// where none did. Servers take many slashes for one: what must not be asked for
// with one must not with many.
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

// allows is Allowed for a path as it stands. The library decides, unless it is overruled.
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

// CrawlDelay is the pause between requests that the file asks of the agent, at
// most 24 hours; 0 if it asks for none.
func (r *Rules) CrawlDelay() time.Duration {
	if r.group == nil {
		return 0
	}
	return r.group.delay
}

// Sitemaps are the values of the Sitemap lines, in order and each once: absolute
// URLs, or paths on the same host.
func (r *Rules) Sitemaps() []string { return r.sitemaps }
