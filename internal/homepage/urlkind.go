package homepage

import (
	"embed"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"

	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

//go:embed data/hosts.json data/kinds.json data/links.json
var dataFiles embed.FS

// hostLists names hosts that are never a person's homepage, by suffix of the host or
// prefix of host and path, and words in titles and host labels of such hosts.
type hostLists struct {
	Origin     string   `json:"origin"`
	Publishers []string `json:"publishers"` // publishers, digital libraries, bibliographies
	Portals    []string `json:"portals"`    // profiles, social networks, code, video, shops, encyclopaedias
	Titles     []string `json:"titles"`     // phrases of publishers' and libraries' titles
	Labels     []string `json:"labels"`     // host labels of publishers and libraries
	Hosting    []string `json:"hosting"`    // each subdomain (or first directory) is one person's
	FileTypes  []string `json:"file_types"` // endings that are no web page
}

// kindWords are the words of path and title of each kind of page that is not a homepage.
type kindWords struct {
	Origin string              `json:"origin"`
	Path   map[string][]string `json:"path"`
	Title  map[string][]string `json:"title"`
}

var (
	hosts = mustRead[hostLists]("data/hosts.json")
	kinds = mustRead[kindWords]("data/kinds.json")
)

// mustRead decodes embedded data. A test reads it too, so that a mistake is not released.
func mustRead[T any](file string) (v T) {
	raw, err := dataFiles.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		panic("homepage: embedded " + file + ": " + err.Error())
	}
	return v
}

// hostIn reports whether host (and path, for entries that have one) is listed.
func hostIn(u *url.URL, list []string) bool {
	h := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	for _, e := range list {
		host, dir, hasDir := strings.Cut(e, "/")
		if (h == host || strings.HasSuffix(h, "."+host)) && (!hasDir || strings.HasPrefix(strings.ToLower(u.Path), "/"+dir)) {
			return true
		}
		// "scholar.google.*": a service under each country's ending.
		if stem, ok := strings.CutSuffix(host, ".*"); ok && (strings.HasPrefix(h, stem+".") || strings.Contains(h, "."+stem+".")) {
			return true
		}
	}
	return false
}

// isPublisher reports whether address or title are those of a publisher or a digital
// library (Zhuang et al., Table 1, first rule).
func isPublisher(u *url.URL, title string) bool {
	if hostIn(u, hosts.Publishers) {
		return true
	}
	labels := strings.Split(strings.ToLower(u.Hostname()), ".")
	for _, label := range labels[:len(labels)-1] {
		if slices.Contains(hosts.Labels, label) {
			return true
		}
	}
	t := " " + strings.Join(text.Words(title), " ") + " "
	return slices.ContainsFunc(hosts.Titles, func(phrase string) bool { return strings.Contains(t, " "+phrase+" ") })
}

// isPortal reports whether the address is a profile or a page of a portal.
func isPortal(u *url.URL) bool { return hostIn(u, hosts.Portals) }

// isFile reports whether the address has the extension of a file that is no web page. Only
// 9 % of homepages end in .htm(l), so any other address is a page.
func isFile(u *url.URL) bool {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(u.Path), "."))
	if ext == "" {
		return false
	}
	return slices.Contains(hosts.FileTypes, ext)
}

// isAcademic reports whether the host is a university's or a research
// institute's by its name.
func isAcademic(u *url.URL) bool {
	h := strings.ToLower(u.Hostname())
	labels := strings.Split(h, ".")
	for i, l := range labels {
		if i > 0 && (l == "edu" || l == "ac") {
			return true
		}
		for _, p := range []string{"uni-", "univ-", "tu-", "fh-", "eth"} {
			if strings.HasPrefix(l, p) && len(l) > len(p) {
				return true
			}
		}
		if strings.HasPrefix(l, "univ") || l == "cs" || l == "math" || l == "informatik" || l == "stat" {
			return true
		}
	}
	return false
}

// siteOf returns the address of the homepage to which a page would belong: its "~user" or
// user directory, else the root of its host. personal reports whether the address shows
// that this root is one person's.
func siteOf(u *url.URL, n name) (root string, personal bool) {
	segs := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	base := u.Scheme + "://" + u.Host + "/"
	for i, s := range segs {
		d, err := url.PathUnescape(s)
		if err != nil {
			d = s
		}
		if strings.HasPrefix(d, "~") && len(d) > 1 {
			return base + strings.Join(segs[:i+1], "/") + "/", true
		}
	}
	if hostIn(u, hosts.Hosting) {
		host := strings.ToLower(u.Hostname())
		for _, h := range hosts.Hosting {
			if hh, dir, ok := strings.Cut(h, "/"); ok && strings.HasSuffix(host, hh) && strings.HasPrefix(u.Path, "/"+dir) {
				return base + strings.Join(segs[:min(len(segs), strings.Count(dir, "/")+2)], "/") + "/", true
			}
		}
		return base, true
	}
	if label := ownLabel(u); n.inLabel(label) >= nameInitials {
		return base, true
	}
	for i, s := range segs {
		if listsPapers(lastWord(s)) {
			continue // "jane-doe-publications.html" is a page of hers, not her homepage
		}
		if i > 0 && userDirs[strings.ToLower(segs[i-1])] || n.inLabel(s) >= nameInitials && path.Ext(s) == "" {
			return base + strings.Join(segs[:i+1], "/") + dirSlash(u, segs, i), true
		}
	}
	return base, false
}

// lastWord is the last word of a file's name.
func lastWord(s string) string {
	ws := text.Words(strings.TrimSuffix(s, path.Ext(s)))
	if len(ws) < 2 {
		return ""
	}
	return ws[len(ws)-1]
}

// dirSlash returns the slash that ends a directory's address, unless the page has that address without one.
func dirSlash(u *url.URL, segs []string, i int) string {
	if i == len(segs)-1 && !strings.HasSuffix(u.Path, "/") {
		return ""
	}
	return "/"
}

// userDirs are directories with one directory or page per person.
var userDirs = wordSet(`people person users user home homes homepages members member staff faculty personal profile profiles
	persons mitarbeiter personen personnel membres membre equipe docentes profesores personas docenti persone medewerkers
	team students phd fac academics researchers directory bio`)

// ownLabel returns the labels of a host that may name a person: the registrable label
// ("janedoe" of www.janedoe.com), and before it the first label of a subdomain, unless the
// host is academic.
func ownLabel(u *url.URL) string {
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	domain := weburl.Domain(host)
	label, _, _ := strings.Cut(domain, ".")
	if host != domain && !isAcademic(u) {
		first, _, _ := strings.Cut(host, ".")
		label = first + " " + label
	}
	return label
}

// inLabel returns how likely a host label or path segment ("~jdoe", "jane-doe.html",
// "doej") is made of the name.
func (n name) inLabel(s string) float64 {
	if d, err := url.PathUnescape(s); err == nil {
		s = d
	}
	s = strings.TrimPrefix(text.Fold(s), "~")
	best := 0.0
	for _, part := range strings.Fields(strings.TrimSuffix(s, path.Ext(s))) {
		best = max(best, n.inToken(part))
	}
	return best
}

func (n name) inToken(s string) float64 {
	strength, _ := n.in(text.Words(s))
	if strength > nameSurname {
		return strength
	}
	joined := text.Letters(s)
	first, last := n.first(), strings.Join(n.surname, "")
	if last == "" || joined == "" {
		return 0
	}
	initials, syllables := n.initials()
	for _, l := range []string{last, n.last()} {
		if len(l) < 2 {
			continue
		}
		switch {
		case first != "" && len(first) > 1 && (strings.Contains(joined, first+l) || strings.Contains(joined, l+first) || strings.Contains(joined, strings.Join(n.given, "")+l)):
			return nameFull
		case syllables != "" && (joined == syllables+l || joined == l+syllables):
			return 0.8
		case initials != "" && (joined == initials+l || joined == l+initials || joined == initials[:1]+l || joined == l+initials[:1]):
			return 0.8
		case joined == l:
			return nameInitials
		case len(l) >= 5 && strings.Contains(joined, l):
			return nameInitials
		case len(first) > 2 && joined == first+l[:1]: // janed for Jane Doe
			return nameInitials
		}
	}
	if len(first) >= 4 && joined == first {
		return nameSurname
	}
	return strength
}

// belowFound reports whether a canonical address is one of the pages or lies in the
// directory of one.
func belowFound(u string, found []string) bool {
	key := weburl.Key(u)
	return slices.ContainsFunc(found, func(page string) bool {
		canonical, err := weburl.Canonical("", page)
		if err != nil {
			return false
		}
		k := weburl.Key(canonical)
		dir := k[:strings.LastIndexByte(k, '/')+1]
		// The root of a shared host is nobody's directory.
		own := dir == k || strings.Count(dir, "/") > 1
		return key == k || own && strings.HasPrefix(key, dir)
	})
}
