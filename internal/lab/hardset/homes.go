package hardset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// situation is one way in which an author's homepage is hard to find.
type situation struct {
	key    string
	weight int
	exists bool // there is a homepage to be found
}

var situations = []situation{
	{"listed", 10, true}, {"plain", 14, true}, {"inner-only", 9, true}, {"two-level", 9, true}, {"stale-listed", 8, true}, {"moved-refresh", 4, true}, {"moved-link", 4, true}, {"moved-redirect", 4, true},
	{"initials", 5, true}, {"nickname", 4, true}, {"romanised", 5, true}, {"swapped", 5, true}, {"silent-title", 7, true}, {"frames", 3, true}, {"foreign", 7, true}, {"project", 4, true}, {"linked-only", 4, true},
	{"department", 7, true}, {"outdated-list", 5, true}, {"namesakes", 9, true}, {"taken-over", 3, true}, {"two-homepages", 4, true},
	{"none", 10, false}, {"none-namesake", 8, false}, {"none-namesake-researcher", 6, false}, {"none-stale", 4, false}, {"none-people-list", 5, false}, {"none-portal", 4, false},
}

// deck has each situation as often as it weighs.
func deck() (all []situation) {
	for _, s := range situations {
		all = append(all, slices.Repeat([]situation{s}, s.weight)...)
	}
	return all
}

// homeAddress draws where a homepage is.
func homeAddress(r *rand.Rand, p *person, kind string) string {
	l := strings.ReplaceAll(ascii(p.given+p.last), " ", "")
	switch kind {
	case "department":
		dash := strings.ReplaceAll(ascii(p.given)+"-"+ascii(p.last), " ", "-")
		return pick(r, []string{
			fmt.Sprintf("http://%s/people/%s/", p.uni.host, dash), fmt.Sprintf("http://%s/faculty/%s.html", p.uni.host, p.login),
			fmt.Sprintf("http://%s/staff/%s", p.uni.host, dash), fmt.Sprintf("http://%s/person.php?id=%d", p.uni.host, r.IntN(9000)), fmt.Sprintf("http://%s/en/department/people/%s.aspx", p.uni.host, dash),
		})
	case "hosting":
		return fmt.Sprintf("http://%s.%s/", strings.ReplaceAll(p.login, " ", ""), pick(r, []string{"github.io", "gitlab.io", "netlify.app"}))
	case "own":
		return fmt.Sprintf("http://%s%s.%s/", pick(r, []string{"", "www."}), l, pick(r, []string{"org", "net", "com", "name"}))
	default:
		return fmt.Sprintf("http://%s/~%s/", p.uni.host, p.login)
	}
}

// build makes one person's homepage according to the situation and returns
// what directories list for them.
func (w *Web) build(p *person, s situation) (listed []string) {
	r := w.rand
	p.situation = s.key
	p.shown = shownName(p, s.key)
	if p.shown == p.fullName() && chance(r, 0.5) {
		p.shown = p.given + " " + p.last
	}
	dead := fmt.Sprintf("http://old.%s/~%s/", strings.TrimPrefix(p.uni.host, "www."), p.login)
	if !s.exists {
		w.absent(p, s.key)
		if s.key == "none-stale" {
			return []string{dead}
		}
		return nil
	}
	if s.key == "project" {
		w.project(p)
		return nil
	}
	kind := pick(r, []string{"tilde", "tilde", "hosting", "own", "department"})
	if s.key == "department" {
		kind = "department"
	}
	home := homeAddress(r, p, kind)
	for w.docs[home] != nil || w.docs[strings.Replace(home, "://", "://www.", 1)] != nil || w.docs[strings.Replace(home, "://www.", "://", 1)] != nil { // namesakes want one address
		p.login += "2"
		home = homeAddress(r, p, "tilde")
	}
	w.homepage(p, s, home)
	switch s.key {
	case "listed":
		return []string{home}
	case "stale-listed":
		return []string{dead}
	case "taken-over":
		old := fmt.Sprintf("http://www.%s%d.com/", strings.ReplaceAll(ascii(p.last), " ", ""), r.IntN(99))
		w.put(old, doc{body: "<html><head><title>This domain is for sale</title></head><body>Buy this premium domain. Casino, loans, " + esc(p.last) + ".</body></html>", unindexed: true})
		return []string{old}
	case "moved-refresh", "moved-link", "moved-redirect":
		w.moved(s.key, dead, home, p)
		return []string{dead}
	case "two-homepages":
		second := homeAddress(r, p, "department")
		v := w.view(p, s, 2)
		v.list = renderList(r, p, p.shown, 0.6)
		w.put(second, doc{body: renderHome(r, v)})
		p.homepages = append(p.homepages, second)
	}
	return nil
}

func (w *Web) view(p *person, s situation, style int) view {
	r := w.rand
	lang := "en"
	if s.key == "foreign" {
		lang = p.culture.lang
		if lang == "en" {
			lang = pick(r, []string{"de", "fr", "es", "pt", "it", "nl"})
		}
	}
	ph := pick(r, languages[lang])
	return view{p: p, ph: ph, name: p.shown, title: titleOf(r, p, ph, p.shown, s.key == "silent-title"), style: style, mail: mailOf(r, p)}
}

// homepage makes the page, or pages, of one person at home.
func (w *Web) homepage(p *person, s situation, home string) {
	r := w.rand
	style := w.styles[r.IntN(len(w.styles))]
	v := w.view(p, s, style)
	share := 0.5 + 0.5*r.Float64()
	if s.key == "outdated-list" {
		share = 0
	}
	full := renderList(r, p, p.shown, share)
	split := s.key == "two-level" || s.key == "inner-only" || s.key == "frames" || chance(r, 0.2)
	base := home
	if !strings.HasSuffix(home, "/") { // a page among others': its inner pages carry its name
		base = strings.NewReplacer(".html", "", ".aspx", "", "person.php?id=", "person").Replace(home) + "-"
	}
	hidden := s.key == "inner-only" || s.key == "linked-only"
	p.homepages = append(p.homepages, home)
	if !split {
		v.list = full
		w.put(home, doc{body: renderHome(r, v), unindexed: hidden})
		w.innerPages(p, v, base)
		return
	}
	v.pubs = base + pick(r, []string{"publications.html", "pubs.html", "papers.html", "research.html", "publi.html"})
	pubTitle := pick(r, []string{v.ph.pubs, v.ph.pubs + " - " + p.shown, p.shown + ": " + v.ph.pubs, ""})
	list := fmt.Sprintf("<html><head><title>%s</title></head><body><a href=\"%s\">%s</a><h1>%s</h1>%s</body></html>", esc(pubTitle), home, v.ph.home, v.ph.pubs, full)
	w.put(v.pubs, doc{body: list, unindexed: s.key == "linked-only"})
	if s.key == "frames" {
		main := base + "main.html"
		w.put(main, doc{body: renderHome(r, v)})
		p.homepages = append(p.homepages, main) // what the frames show is the homepage too
		w.put(home, doc{body: fmt.Sprintf(`<html><head><title>%s</title></head><frameset cols="20%%,80%%"><frame src="%s"><frame src="%s"></frameset></html>`, esc(v.title), main, v.pubs)})
		return
	}
	w.put(home, doc{body: renderHome(r, v), unindexed: hidden})
	w.innerPages(p, v, base)
}

// innerPages are pages below a homepage that search likes better: a course, a
// blog, a curriculum vitae.
func (w *Web) innerPages(p *person, v view, base string) {
	r := w.rand
	if !strings.HasSuffix(base, "/") {
		return
	}
	if chance(r, 0.35) {
		w.put(base+"teaching/cs"+fmt.Sprint(100+r.IntN(500))+"/", doc{body: fmt.Sprintf("<html><head><title>%s: %s</title></head><body><h1>Course</h1><p>Instructor: %s. Homework, syllabus, lectures on %s.</p></body></html>", v.ph.teaching, fields[p.field].area, esc(p.shown), fields[p.field].nouns[0])})
	}
	if chance(r, 0.25) {
		w.put(base+"blog/2015/a-trip.html", doc{body: fmt.Sprintf("<html><head><title>A trip | %s</title></head><body><h1>A trip</h1><p>%s writes about %s, again and again: %s.</p></body></html>", esc(p.shown), esc(p.shown), fields[p.field].area, esc(p.shown))})
	}
	if chance(r, 0.25) {
		w.put(base+"cv.html", doc{body: fmt.Sprintf("<html><head><title>%s CV</title></head><body><h1>Curriculum vitae of %s</h1><p>%s, %s</p></body></html>", esc(p.shown), esc(p.fullName()), p.uni.dept, p.uni.name)})
	}
}

// moved leaves a note where a homepage was.
func (w *Web) moved(kind, old, home string, p *person) {
	r := w.rand
	switch kind {
	case "moved-redirect":
		w.put(old, doc{location: home})
	case "moved-refresh":
		w.put(old, doc{body: fmt.Sprintf(`<html><head><meta http-equiv="refresh" content="3; url=%s"><title>Moved</title></head><body>Please wait.</body></html>`, home)})
	default:
		text := pick(r, []string{"This page has moved to", "My new home page is", "I have moved to"})
		w.put(old, doc{body: fmt.Sprintf(`<html><head><title>%s</title></head><body><a href="/">%s</a><p>%s <a href="%s">%s</a>. Please update your bookmarks.</p></body></html>`, esc(p.shown), p.uni.name, text, home, home)})
	}
}

// project is a software's or a laboratory's site that stands for the person
// who leads it: their papers are there, their name is in no address or title.
func (w *Web) project(p *person) {
	r := w.rand
	name := strings.ToUpper(pick(r, fields[p.field].nouns)[:3]) + strings.ToUpper(string(rune('A'+r.IntN(26)))) + pick(r, []string{"LAB", "TOOL", "GRAPH", ""})
	host := fmt.Sprintf("http://%s.%s/", strings.ToLower(name), pick(r, []string{"github.io", "gitlab.io"}))
	for w.docs[host] != nil {
		host = strings.Replace(host, ".", "x.", 1)
	}
	list := renderList(r, p, p.shown, 1)
	nav := fmt.Sprintf(`<a href="%s">Home</a> <a href="%spublications.html">Publications</a> <a href="%sdocs.html">Docs</a>`, host, host, host)
	w.put(host, doc{body: fmt.Sprintf("<html><head><title>%s</title></head><body>%s<h1>%s</h1><p>%s is maintained by %s at %s. It supports %s.</p></body></html>", name, nav, name, name, esc(p.shown), p.uni.name, fields[p.field].area)})
	w.put(host+"publications.html", doc{body: fmt.Sprintf("<html><head><title>Publications | %s</title></head><body>%s<p>Contact: %s</p>%s</body></html>", name, nav, esc(p.shown), list)})
	w.put(host+"docs.html", doc{body: fmt.Sprintf("<html><head><title>Documentation | %s</title></head><body>%s<p>How to install. Written by %s.</p></body></html>", name, nav, esc(p.shown))})
	p.homepages = append(p.homepages, host)
}
