package robots

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/temoto/robotstxt"
)

// longestDelay is the greatest valid Crawl-delay.
const longestDelay = 24 * time.Hour

// group holds all rules of a file for one product token, from any place in the file.
type group struct {
	named    bool // some User-agent line has the token
	rules    []rule
	known    map[string]bool // rules in the list, to avoid duplicates
	wildcard bool            // some rule is more than a prefix
	delay    time.Duration
	lib      *robotstxt.Group // the rules as the library has them; nil without rules
}

// document is a robots.txt for one agent. It drops the rules of others, so that its size is a
// small multiple of the file's.
type document struct {
	own       group // of the agent's token
	everybody group // of "*"
	sitemaps  []string
}

// read parses a file by line. Consecutive User-agent lines share the rules that follow; records
// outside RFC 9309 neither begin nor end a group (section 2.2.4), and groups of one token are one
// (2.2.1).
func read(s, agent string) *document {
	d := &document{}
	var own, everybody, inRules bool // agents of the present group
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

// each calls f for the selected groups.
func (d *document) each(own, everybody bool, f func(*group)) {
	if own {
		f(&d.own)
	}
	if everybody {
		f(&d.everybody)
	}
}

// group returns the agent's own group, else that of "*", or nil.
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
	// An index page is the same page as its directory, so a rule that allows it allows both.
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

// isAddress reports whether a sitemap line has a valid value: an absolute web address, or a path
// on the same host, without blanks, which would end it.
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
