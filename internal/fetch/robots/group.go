package robots

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/temoto/robotstxt"
)

// longestDelay bounds what a Crawl-delay may say; more is a mistake.
const longestDelay = 24 * time.Hour

// group is everything a file says to one product token, wherever it says it.
type group struct {
	named    bool // some User-agent line has the token
	rules    []rule
	known    map[string]bool // rules that stand in the list, so that none does twice
	wildcard bool            // some rule is more than a prefix
	delay    time.Duration
	lib      *robotstxt.Group // the rules as the library has them; nil without rules
}

// document is a robots.txt as one agent understands it: what it says to others
// is not kept, so that no file takes more than a small multiple of its size.
type document struct {
	own       group // of the agent's token
	everybody group // of "*"
	sitemaps  []string
}

// read understands a file line by line. Consecutive User-agent lines share the
// rules that follow; records that RFC 9309 does not define neither begin nor
// end a group (section 2.2.4), and groups of one token are one (2.2.1).
func read(s, agent string) *document {
	d := &document{}
	var own, everybody, inRules bool // to whom the present run of agents speaks
	for s != "" {
		var line string
		line, s = nextLine(s)
		f, value := parseLine(line)
		switch f {
		case fieldAgent:
			if inRules {
				own, everybody, inRules = false, false, false
			}
			token := productToken(value)
			own = own || token != "" && token == agent
			everybody = everybody || token == "*"
			d.own.named, d.everybody.named = d.own.named || own, d.everybody.named || everybody
		case fieldAllow, fieldDisallow:
			inRules = true
			d.each(own, everybody, func(g *group) { g.addRule(f == fieldAllow, value) })
		case fieldDelay:
			delay := parseDelay(value)
			d.each(own, everybody, func(g *group) { g.delay = max(g.delay, delay) })
		case fieldSitemap:
			if isAddress(value) {
				d.sitemaps = append(d.sitemaps, value)
			}
		}
	}
	return d
}

// each calls f for the groups that are spoken to.
func (d *document) each(own, everybody bool, f func(*group)) {
	if own {
		f(&d.own)
	}
	if everybody {
		f(&d.everybody)
	}
}

// group is the agent's own, else everybody's; nil where there is neither.
func (d *document) group() *group {
	switch {
	case d.own.named:
		return &d.own
	case d.everybody.named:
		return &d.everybody
	default:
		return nil
	}
}

func (g *group) addRule(allow bool, value string) {
	key := "-" + value
	if allow {
		key = "+" + value
	}
	if g.known[key] {
		return
	}
	r, ok := newRule(allow, value)
	if !ok {
		return
	}
	if g.known == nil {
		g.known = map[string]bool{}
	}
	g.known[key] = true
	g.rules = append(g.rules, r)
	g.wildcard = g.wildcard || !r.plain()
	// Who lets a directory's index page be read lets the directory be read: it
	// is the same page.
	if dir, isIndex := strings.CutSuffix(value, "/index.html"); isIndex && allow {
		g.addRule(true, dir+"/$")
	}
}

// parseDelay reads seconds, a fraction allowed; 0 for anything else.
func parseDelay(value string) time.Duration {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(v) || v <= 0 {
		return 0
	}
	return time.Duration(min(v, longestDelay.Seconds()) * float64(time.Second))
}

// isAddress accepts what a sitemap line may name: an absolute web address, or a
// path on the same host, without blanks, which would end it.
func isAddress(value string) bool {
	if value == "" || strings.ContainsAny(value, " \t\v\f") {
		return false
	}
	u, err := url.Parse(value)
	if err != nil {
		return false
	}
	return u.Scheme == "http" || u.Scheme == "https" || (u.Scheme == "" && strings.HasPrefix(value, "/"))
}
