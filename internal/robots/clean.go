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
	rules    []rule
	wildcard bool // some rule is more than a prefix
	delay    time.Duration
	lib      *robotstxt.Group // the library's, nil if it knows nothing of this group
}

// allPlain says that the library can have all of the group's rules, and some.
func (g *group) allPlain() bool { return !g.wildcard && len(g.rules) > 0 }

// document is a robots.txt as it was understood.
type document struct {
	order    []string // product tokens as they came
	groups   map[string]*group
	sitemaps []string
}

// read understands a file line by line. Consecutive User-agent lines share the
// rules that follow; records that RFC 9309 does not define neither begin nor
// end a group (section 2.2.4), and groups of one token are one (2.2.1).
func read(s string) *document {
	d := &document{groups: map[string]*group{}}
	var agents []*group
	inRules := false
	for s != "" {
		var line string
		line, s = nextLine(s)
		f, value := parseLine(line)
		switch f {
		case fieldAgent:
			if inRules {
				agents, inRules = nil, false
			}
			if g := d.group(productToken(value)); g != nil {
				agents = append(agents, g)
			}
		case fieldAllow, fieldDisallow:
			inRules = true
			addRule(agents, f == fieldAllow, value)
		case fieldDelay:
			for _, g := range agents {
				g.delay = max(g.delay, parseDelay(value))
			}
		case fieldSitemap:
			if isAddress(value) {
				d.sitemaps = append(d.sitemaps, value)
			}
		}
	}
	return d
}

func (d *document) group(token string) *group {
	if token == "" {
		return nil
	}
	g := d.groups[token]
	if g == nil {
		g = &group{}
		d.groups[token] = g
		d.order = append(d.order, token)
	}
	return g
}

func addRule(agents []*group, allow bool, value string) {
	r, ok := newRule(allow, value)
	if !ok {
		return
	}
	for _, g := range agents {
		g.rules = append(g.rules, r)
		g.wildcard = g.wildcard || !r.plain()
	}
	// Who lets a directory's index page be read lets the directory be read: it
	// is the same page.
	if dir, isIndex := strings.CutSuffix(value, "/index.html"); isIndex && allow {
		addRule(agents, true, dir+"/$")
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

// clean writes the document so that the library reads it rightly: one group per
// token, Allow first (there the first of equals wins), plain paths in one
// encoding, delays as decimal numbers. Rules with wildcards are left out.
func (d *document) clean() []byte {
	var b strings.Builder
	for _, token := range d.order {
		g := d.groups[token]
		b.WriteString("User-agent: " + token + "\n")
		if g.delay > 0 {
			b.WriteString("Crawl-delay: " + strconv.FormatFloat(g.delay.Seconds(), 'f', -1, 64) + "\n")
		}
		g.writePlain(&b, true)
		g.writePlain(&b, false)
	}
	for _, s := range d.sitemaps {
		b.WriteString("Sitemap: " + s + "\n")
	}
	return []byte(b.String())
}

func (g *group) writePlain(b *strings.Builder, allow bool) {
	name := "Disallow: "
	if allow {
		name = "Allow: "
	}
	for i := range g.rules {
		r := &g.rules[i]
		if r.allow == allow && r.plain() {
			b.WriteString(name + r.parts[0] + "\n")
		}
	}
}
