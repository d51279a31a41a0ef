package sampleweb

import (
	"fmt"
	"slices"
	"strings"
)

// buildDepartments makes the front pages of the department servers: a list of
// people, from which homepages can be reached too.
func (w *Web) buildDepartments() {
	for _, u := range universities {
		h := w.host("www.cs." + u + ".example")
		h.robots = "# Department of Computer Science\nUser-agent: *\nDisallow: /cgi-bin/\nDisallow: /private/\n"
		name := "Department of Computer Science, University of " + capital(u)
		h.page("/", name, name, func(d *doc) {
			d.p("Welcome to the department. Our research covers " + strings.Join(topics, ", ") + ".")
			d.f("<ul><li><a href=\"/people.html\">People</a></li><li><a href=\"/teaching.html\">Teaching</a></li><li><a href=\"/cgi-bin/phonebook\">Phone book</a></li></ul>\n")
		})
		h.page("/people.html", "People of "+name, "People", func(d *doc) {
			d.f("<table>\n")
			for _, a := range w.authors {
				if a.university != u {
					continue
				}
				d.f("<tr><td>%s</td><td>", esc(a.last+", "+a.first))
				if a.home() != "" && a.style != styleMoved {
					d.link(a.home(), "Homepage")
				}
				d.f("</td></tr>\n")
			}
			d.f("</table>\n")
		})
		h.page("/teaching.html", "", "Teaching", func(d *doc) {
			d.p(paragraph(w.opt.random("teaching "+u), 6))
		})
	}
}

// buildSite makes the pages of one author, in their style.
func (w *Web) buildSite(a *author) {
	if a.style == styleNone {
		return
	}
	h := w.host(a.host)
	switch a.style {
	case styleOwnDomain:
		w.buildYears(h, a)
	case styleFrames:
		w.buildFrames(h, a)
	case styleProjects:
		w.buildProjects(h, a)
	case styleBlog:
		w.buildBlog(h, a)
	default:
		w.buildPlain(h, a)
	}
	if a.style == styleRefused {
		// Some close their site, some only the folder with the files.
		h.robots = "User-agent: *\nDisallow: /\n"
		if a.index/len(styleCycle)%2 == 1 {
			h.robots = "User-agent: *\nDisallow: /papers/\n"
		}
	}
	if a.style == styleMoved {
		// The old account answers with an error for good.
		w.host("www.cs."+a.university+".example").fail("/~old"+a.login+"/", 404)
	}
	for _, p := range a.papers {
		if p.lead == a {
			w.buildPaperFiles(h, a, p)
		}
	}
	w.buildFiller(h, a)
}

// buildPaperFiles puts the files of a paper where its author's pages link them.
func (w *Web) buildPaperFiles(h *host, a *author, p *paper) {
	switch {
	case p.reason == ReasonFailed:
		h.fail(p.path, 503)
	case p.reason == ReasonNotLinked || p.mirror || !p.own():
	default:
		h.file(p.path, kindOf(p.path), func() []byte { return w.paperFile(p) })
	}
	if p.hasSlides() {
		h.file(a.dir+"talks/"+strings.ToLower(p.id)+"-slides.pdf", "application/pdf", func() []byte {
			return slidesPDF(p.title, p.authorNames(), w.opt.random("slides "+p.key))
		})
	}
	h.file(a.dir+"bib/"+p.id+".bib", "text/plain", func() []byte { return []byte(p.bibtex()) })
}

func (p *paper) hasSlides() bool { return p.index%4 == 2 && p.reason == "" }

func kindOf(path string) string {
	switch {
	case strings.HasSuffix(path, ".pdf"):
		return "application/pdf"
	case strings.HasSuffix(path, ".gz"):
		return "application/x-gzip"
	default:
		return "application/postscript"
	}
}

// byYear sorts an author's papers, newest first.
func byYear(papers []*paper) []*paper {
	return slices.SortedStableFunc(slices.Values(papers), func(a, b *paper) int { return b.year - a.year })
}

// reference is a paper as an author's page lists it: the text, then whatever
// links the style has. at is the author whose page it is.
func (w *Web) reference(d *doc, p *paper, at *author) {
	href := p.fileURL()
	if at == p.lead && !p.mirror {
		href = p.path
	}
	if !p.own() || at.style == styleLanding && p.landing {
		href = p.landingURL()
	}
	where := fmt.Sprintf("%s %d, pages %s", venue(p.venue).Name, p.year, p.pages)
	names := strings.Join(p.authorNames(), ", ")
	linked := p.reason != ReasonNotLinked && p.reason != ReasonNoHomepage
	switch {
	case !linked:
		d.f("<li>%s. %s. <i>%s</i>.", esc(names), esc(p.title), esc(where))
	case at.style == styleOwnDomain || at.style == styleBlog || at.style == styleLanding:
		d.f("<li>%s: <a href=\"%s\">%s</a>. <i>%s</i>.", esc(names), esc(href), esc(p.title), esc(where))
	case at.style == styleIcons:
		d.f("<li>%s. <b>%s</b>, %s <a href=\"%s\"><img src=\"/icons/%s.gif\" alt=\"%s\"></a>",
			esc(names), esc(p.title), esc(where), esc(href), strings.TrimPrefix(p.format.extension(), "."), []string{"PDF", "PS", "PostScript"}[p.format])
	default:
		d.f("<li>%s. \"%s\". In %s. [<a href=\"%s\">%s</a>]",
			esc(names), esc(p.title), esc(where), esc(href), strings.TrimPrefix(p.format.extension(), "."))
	}
	if p.lead == at {
		d.f(" [<a href=\"%sbib/%s.bib\">BibTeX</a>]", esc(at.dir), esc(p.id))
		if p.hasSlides() {
			d.f(" [<a href=\"%stalks/%s-slides.pdf\">slides</a>]", esc(at.dir), strings.ToLower(p.id))
		}
	}
	d.f("</li>\n")
}

func (w *Web) list(d *doc, papers []*paper, at *author) {
	d.f("<ul>\n")
	for _, p := range byYear(papers) {
		w.reference(d, p, at)
	}
	d.f("</ul>\n")
}

// intro is what stands at the top of a homepage.
func (w *Web) intro(d *doc, a *author) {
	d.f("<p>%s<br>Department of Computer Science<br>University of %s<br>%s@cs.%s.example</p>\n",
		esc(a.name), capital(a.university), a.login, a.university)
	r := w.opt.random("intro " + a.pid)
	d.p(fmt.Sprintf("I work on %s and %s. My research has appeared at %s, the %s.",
		pick(r, topics), pick(r, topics), venue(0).Name, venue(0).Title))
}

// coauthors links the people one wrote with, as many homepages do.
func (w *Web) coauthors(d *doc, a *author) {
	seen := map[*author]bool{a: true}
	for _, p := range a.papers {
		for _, b := range p.authors {
			if seen[b] || b.home() == "" || b.style == styleMoved {
				continue
			}
			if len(seen) == 1 {
				d.f("<h3>Co-authors</h3>\n<p>")
			}
			seen[b] = true
			d.link(b.home(), b.name)
			d.f("\n")
		}
	}
	if len(seen) > 1 {
		d.f("</p>\n")
	}
}
