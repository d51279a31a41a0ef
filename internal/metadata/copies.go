package metadata

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/web/weburl"
)

// Version says which stage of a paper's life a copy shows.
type Version string

// The versions, as the NISO JAV words are used by Unpaywall and OpenAlex.
const (
	Published      Version = "published"
	Accepted       Version = "accepted"
	Submitted      Version = "submitted"
	UnknownVersion Version = "unknown"
)

// HostKind says what sort of place holds a copy.
type HostKind string

// The kinds of hosts.
const (
	AtRepository HostKind = "repository"
	AtPublisher  HostKind = "publisher"
	AtUnknown    HostKind = "unknown"
)

// Copy is a place where a paper is said to be. Nothing of it is trusted before
// the document itself has been read and matched.
type Copy struct {
	URL     string   `json:"url"`
	Landing bool     `json:"landing"` // a page that leads to the document, not the document
	Version Version  `json:"version"`
	License string   `json:"license,omitempty"` // as the source spells it, lower case: "cc-by"
	Host    HostKind `json:"host"`
	Source  string   `json:"source"` // which catalogue says so; several are joined by "+"
}

// open reports whether the licence lets anyone keep and pass on the copy.
func (c Copy) open() bool {
	l := c.License
	return strings.HasPrefix(l, "cc") || strings.HasPrefix(l, "pd") || strings.Contains(l, "creativecommons.org") ||
		l == "public-domain" || l == "mit" || strings.HasPrefix(l, "gfdl")
}

// rankOf orders copies by how much they are worth trying first: documents before
// landing pages; published before accepted before submitted; open licences;
// repositories before publishers, who more often keep robots out. Copies of one
// address become one, with the best that any source knows of it. The order does
// not depend on the order of the input.
func rankOf(copies []Copy) []Copy {
	byKey := map[string]*Copy{}
	var keys []string
	for _, c := range copies {
		addr, err := weburl.Canonical("", c.URL)
		if err != nil {
			continue
		}
		c.URL = addr
		c.License = strings.ToLower(strings.TrimSpace(c.License))
		key := weburl.Key(addr)
		have, ok := byKey[key]
		if !ok {
			byKey[key] = &c
			keys = append(keys, key)
			continue
		}
		have.join(c)
	}
	out := each.Of(keys, func(k string) Copy { return *byKey[k] })
	slices.SortFunc(out, func(a, b Copy) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.URL, b.URL)) })
	return out
}

// rank is smaller for the better copy; it is a number in base 10, one digit for
// each criterion, the weightiest first.
func (c Copy) rank() int {
	n := 0
	digit := func(d int) { n = n*10 + d }
	if c.Landing {
		digit(1)
	} else {
		digit(0)
	}
	digit(versionRank(c.Version))
	if c.open() {
		digit(0)
	} else {
		digit(1)
	}
	switch c.Host {
	case AtRepository:
		digit(0)
	case AtUnknown:
		digit(1)
	default:
		digit(2)
	}
	return n
}

func versionRank(v Version) int {
	switch v {
	case Published:
		return 0
	case Accepted:
		return 1
	case Submitted:
		return 2
	default:
		return 3
	}
}

// join takes over what another source knows better of the same address.
func (c *Copy) join(o Copy) {
	c.Landing = c.Landing && o.Landing
	if versionRank(o.Version) < versionRank(c.Version) {
		c.Version = o.Version
	}
	if c.License == "" || (!c.open() && o.open()) {
		c.License = o.License
	}
	if c.Host == AtUnknown || c.Host == "" {
		c.Host = o.Host
	}
	if strings.HasPrefix(o.URL, "https:") {
		c.URL = o.URL
	}
	names := append(strings.Split(c.Source, "+"), strings.Split(o.Source, "+")...)
	slices.Sort(names)
	c.Source = ""
	for _, n := range names {
		if n == "" || strings.HasSuffix("+"+c.Source, "+"+n) {
			continue
		}
		if c.Source != "" {
			c.Source += "+"
		}
		c.Source += n
	}
}

// looksDocument reports whether an address ends like a document's.
func looksDocument(addr string) bool {
	u, err := url.Parse(addr)
	if err != nil {
		return false
	}
	path := strings.ToLower(u.Path)
	for _, end := range []string{".pdf", ".ps", ".ps.gz", ".pdf.gz", ".ps.z", ".dvi", ".djvu"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return strings.Contains(path, "/pdf/")
}
