package metadata

import (
	"cmp"
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
	slices.SortFunc(out, func(a, b Copy) int { return cmp.Or(slices.Compare(a.rank(), b.rank()), cmp.Compare(a.URL, b.URL)) })
	return out
}

// rank has a number for each criterion, the weightiest first; the better copy has the smaller.
func (c Copy) rank() []int {
	return []int{place(c.Landing, false), versionRank(c.Version), place(c.open(), true), place(c.Host, AtRepository, AtUnknown)}
}

func versionRank(v Version) int { return place(v, Published, Accepted, Submitted) }

// place is where v stands among the best; what is none of them comes after them.
func place[T comparable](v T, best ...T) int {
	if i := slices.Index(best, v); i >= 0 {
		return i
	}
	return len(best)
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
	names := strings.FieldsFunc(c.Source+"+"+o.Source, func(r rune) bool { return r == '+' })
	slices.Sort(names)
	c.Source = strings.Join(slices.Compact(names), "+")
}

// looksDocument reports whether an address is named like a document's.
func looksDocument(addr string) bool {
	path, _, _ := strings.Cut(strings.ToLower(addr), "?")
	return weburl.IsDocumentName(addr) || strings.Contains(path, "/pdf/")
}
