package sampleweb

import (
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/each"
)

// style is the shape of an author's presence on the web.
type style int

const (
	styleDepartment style = iota // ~user on a department's server, papers on the homepage itself
	styleOwnDomain               // a domain of one's own, a page of publications for each year
	styleFrames                  // frames, windows-1252
	styleProjects                // papers three links deep, below projects
	styleLanding                 // links to landing pages of the proceedings
	styleNone                    // no homepage
	styleIcons                   // pictures as anchors, PostScript
	styleBlog                    // a blog with a calendar around a folder of papers
	styleMoved                   // the listed address is dead; the new one has to be found
	styleRefused                 // robots.txt forbids the site, or the papers
)

// styleCycle deals the styles out, so that even the smallest web has them all.
var styleCycle = []style{
	styleDepartment, styleOwnDomain, styleFrames, styleProjects, styleLanding, styleNone,
	styleIcons, styleBlog, styleDepartment, styleMoved, styleRefused, styleDepartment,
}

type author struct {
	index      int
	name       string
	first      string
	last       string
	pid        string
	login      string
	style      style
	university string
	host       string // of the homepage
	dir        string // where the person's pages begin, "/" or "/~ada/"
	listed     []string
	papers     []*paper
}

// home is the homepage's address, "" for a person without one.
func (a *author) home() string {
	if a.style == styleNone {
		return ""
	}
	return "http://" + a.host + a.dir
}

// Reasons for which a paper of the generated web cannot be had; "" when it can.
const (
	ReasonNoHomepage = "no homepage"
	ReasonRefused    = "robots refused"
	ReasonNotLinked  = "not linked"
	ReasonRejected   = "rejected" // scanned, truncated: a file that says nothing
	ReasonFailed     = "fetch failed"
)

// format is what kind of file a paper is.
type format int

const (
	formatPDF format = iota
	formatPS
	formatPSGzip
)

func (f format) extension() string { return [...]string{".pdf", ".ps", ".ps.gz"}[f] }

type paper struct {
	key     string // "conf/sample/Fenwick01"
	id      string // "Fenwick01": unique within its venue
	venue   int
	index   int // within its venue
	title   string
	year    int
	pages   string
	authors []*author
	lead    *author // on whose site the file lies
	reason  string
	format  format
	landing bool   // on the proceedings host too
	mirror  bool   // the file lies on a host of its own
	path    string // of the file on its host
}

func (w *Web) generateAuthors() {
	order := w.opt.random("people").Perm(len(firstNames) * len(lastNames))
	taken := map[string]bool{}
	for i := range w.opt.Authors {
		n := order[i%len(order)]
		a := &author{index: i, first: firstNames[n%len(firstNames)], last: lastNames[n/len(firstNames)]}
		a.name = a.first + " " + a.last
		a.pid = fmt.Sprintf("%02d/%d", 10+i%80, 1000+i)
		a.style = styleCycle[i%len(styleCycle)]
		a.university = universities[i%len(universities)]
		a.login = ascii(a.last)
		if taken[a.login] { // a few surnames, many people
			a.login = ascii(a.first)[:1] + a.login
		}
		if taken[a.login] {
			a.login += fmt.Sprint(i)
		}
		taken[a.login] = true
		a.place()
		w.authors = append(w.authors, a)
	}
}

// place decides where a person's pages are and what the metadata service knows
// of it: a third of the homepages is left to be found by search.
func (a *author) place() {
	switch a.style {
	case styleOwnDomain, styleBlog, styleMoved, styleRefused:
		a.host, a.dir = "www."+ascii(a.first)+"-"+a.login+".example", "/"
	case styleProjects:
		a.host, a.dir = "www.cs."+a.university+".example", "/people/"+a.login+"/"
	default:
		a.host, a.dir = "www.cs."+a.university+".example", "/~"+a.login+"/"
	}
	switch {
	case a.style == styleMoved:
		a.listed = []string{"http://www.cs." + a.university + ".example/~old" + a.login + "/"}
	case a.style != styleNone && a.index%3 != 2:
		a.listed = []string{a.home()}
	}
	if a.index%2 == 0 {
		a.listed = append(a.listed, "http://portal.example/profile/"+a.login)
	}
}

// reasonCycle says what happens to the papers of a venue, in turn.
var reasonCycle = map[int]string{
	4: ReasonNoHomepage, 9: ReasonRefused, 14: ReasonNotLinked, 19: ReasonRejected, 24: ReasonFailed, 27: ReasonRejected,
}

func (w *Web) generatePapers(v int) {
	open := each.Where(w.authors, func(a *author) bool { return a.style != styleNone && a.style != styleRefused })
	closed := map[string][]*author{ // to papers that cannot be had for these reasons
		ReasonNoHomepage: each.Where(w.authors, func(a *author) bool { return a.style == styleNone }),
		ReasonRefused:    each.Where(w.authors, func(a *author) bool { return a.style == styleRefused }),
	}
	r := w.opt.random(fmt.Sprint("papers", v))
	turns := r.Perm(len(open))
	ids := map[string]int{}
	for i := range w.opt.Papers {
		p := &paper{venue: v, index: i, year: w.opt.FirstYear + i%w.opt.Years, reason: reasonCycle[i%30]}
		for p.title == "" || w.titles[p.title] {
			p.title = title(r)
		}
		w.titles[p.title] = true
		from, at := open, turns[i%len(turns)]
		if of := closed[p.reason]; of != nil {
			from, at = of, i%len(of)
		}
		p.lead = from[at]
		p.authors = []*author{p.lead}
		for range r.IntN(3) {
			if a := from[r.IntN(len(from))]; !slices.Contains(p.authors, a) {
				p.authors = append(p.authors, a)
			}
		}
		r.Shuffle(len(p.authors), func(i, j int) { p.authors[i], p.authors[j] = p.authors[j], p.authors[i] })
		stem := capital(ascii(p.authors[0].last)) + fmt.Sprintf("%02d", p.year%100)
		p.id = stem
		if n := ids[stem]; n > 0 {
			p.id += string(rune('a'+n%26)) + strings.Repeat("x", n/26)
		}
		ids[stem]++
		p.key = venue(v).Key + "/" + p.id
		p.pages = fmt.Sprintf("%d-%d", 1+6*i, 6+6*i)
		p.layOut()
		for _, a := range p.authors {
			a.papers = append(a.papers, p)
		}
		w.papers = append(w.papers, p)
	}
}

// layOut decides in which form and where a paper's file lies.
func (p *paper) layOut() {
	plain := p.reason == ""
	switch {
	case plain && p.lead.style == styleIcons && p.index%2 == 0:
		p.format = formatPSGzip
	case plain && p.index%11 == 5:
		p.format = formatPS
	}
	p.landing = plain && (p.lead.style == styleLanding || p.index%4 == 1)
	p.mirror = plain && !p.landing && p.index%9 == 2
	name := strings.ToLower(p.id)
	if p.venue > 0 {
		name = fmt.Sprintf("v%d-%s", p.venue+1, name)
	}
	switch {
	case p.mirror:
		p.path = "/reports/" + name + p.format.extension()
	case p.lead.style == styleOwnDomain:
		p.path = fmt.Sprintf("/publications/%d/%s%s", p.year, name, p.format.extension())
	case p.lead.style == styleProjects:
		p.path = p.lead.dir + "projects/" + p.project() + "/papers/" + name + p.format.extension()
	default:
		p.path = p.lead.dir + "papers/" + name + p.format.extension()
	}
}

// project names the project to which a paper belongs.
func (p *paper) project() string { return topics[p.index%len(topics)] }

// fileHost is the host on which the file lies.
func (p *paper) fileHost() string {
	if p.mirror {
		return mirrorHost
	}
	return p.lead.host
}

// own tells whether the authors keep the file themselves; the others point to
// the proceedings.
func (p *paper) own() bool { return !p.landing || p.lead.style != styleLanding }

func (p *paper) fileURL() string { return "http://" + p.fileHost() + p.path }
