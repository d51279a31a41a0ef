package sampleweb

import (
	"fmt"
	"strings"

	"gleaner/internal/each"
)

// buildPlain: one page with everything on it.
func (w *Web) buildPlain(h *host, a *author) {
	h.page(a.dir, a.name, a.name, func(d *doc) {
		w.intro(d, a)
		d.f("<h2>Publications</h2>\n")
		w.list(d, a.papers, a)
		w.coauthors(d, a)
		w.fillerLinks(d, a)
	})
}

// buildYears: homepage → publications → a page for each year.
func (w *Web) buildYears(h *host, a *author) {
	h.page(a.dir, a.name+" - Home", a.name, func(d *doc) {
		w.intro(d, a)
		d.f("<p><a href=\"publications/\">Publications</a> | <a href=\"cv.html\">Curriculum vitae</a></p>\n")
		w.coauthors(d, a)
		w.fillerLinks(d, a)
	})
	years := each.By(a.papers, func(p *paper) int { return p.year })
	h.page(a.dir+"publications/", a.name+": publications", "Publications", func(d *doc) {
		d.f("<ul>\n")
		for y := w.opt.FirstYear + w.opt.Years - 1; y >= w.opt.FirstYear; y-- {
			d.f("<li><a href=\"%d.html\">%d</a> (%d)</li>\n", y, y, len(years[y]))
		}
		d.f("</ul><p><a href=\"../\">back</a></p>\n")
	})
	for y := w.opt.FirstYear; y < w.opt.FirstYear+w.opt.Years; y++ {
		h.page(fmt.Sprintf("%spublications/%d.html", a.dir, y), "", fmt.Sprintf("Publications %d", y), func(d *doc) {
			w.list(d, years[y], a)
		})
	}
}

// buildFrames: a frameset, a menu, and a list of papers in windows-1252.
func (w *Web) buildFrames(h *host, a *author) {
	h.latin(a.dir, "", a.name, "Homepage of "+a.name, "", func(d *doc) {
		d.f("<frameset cols=\"20%%,80%%\"><frame src=\"menu.html\" name=\"menu\"><frame src=\"main.html\" name=\"main\">")
		d.f("<noframes><body>%s, University of %s. Your browser has no frames.</body></noframes></frameset>", esc(a.name), capital(a.university))
	})
	h.latin(a.dir+"menu.html", "", "", "Menu", "<base target=\"main\">", func(d *doc) {
		d.f("<body><a href=\"main.html\">Home</a><br><a href=\"pubs.html\">Papers</a><br>\n")
		w.fillerLinks(d, a)
	})
	h.latin(a.dir+"main.html", "", "", a.name, "", func(d *doc) {
		d.f("<body><h1>%s</h1>\n", esc(a.name))
		w.intro(d, a)
		w.coauthors(d, a)
	})
	h.latin(a.dir+"pubs.html", "; charset=windows-1252", a.name+": papers", "Papers of "+a.name, "", func(d *doc) {
		d.f("<body><h1>Papers</h1>\n")
		w.list(d, a.papers, a)
	})
}

// buildProjects: homepage → research → project → papers, under names that do
// not speak of publications.
func (w *Web) buildProjects(h *host, a *author) {
	projects := each.By(a.papers, (*paper).project)
	h.page(a.dir, a.name, a.name, func(d *doc) {
		w.intro(d, a)
		d.f("<p><a href=\"research.html\">Research</a></p>\n")
		w.fillerLinks(d, a)
	})
	h.page(a.dir+"research.html", "", "Research", func(d *doc) {
		d.p(paragraph(w.opt.random("research "+a.pid), 4))
		for _, t := range topics {
			d.f("<p><a href=\"projects/%s/\">The %s project</a></p>\n", t, capital(t))
		}
		w.coauthors(d, a)
	})
	for _, t := range topics {
		base := a.dir + "projects/" + t + "/"
		h.page(base, "", capital(t)+" project", func(d *doc) {
			d.p(paragraph(w.opt.random("project "+t+a.pid), 5))
			d.f("<p><a href=\"people.html\">Members</a> <a href=\"results.html\">Results and reports</a></p>\n")
		})
		h.page(base+"people.html", "", "Members", func(d *doc) {
			d.p(a.name + " leads the project.")
		})
		h.page(base+"results.html", "", "Results and reports", func(d *doc) {
			w.list(d, projects[t], a)
		})
	}
}

// buildBlog: posts by month, with a calendar that goes on for ever, around a
// folder of papers.
func (w *Web) buildBlog(h *host, a *author) {
	h.page(a.dir, a.name+"'s notes", a.name+"'s notes", func(d *doc) {
		w.intro(d, a)
		d.f("<p><a href=\"about.html\">About me</a> | <a href=\"writing.html\">Academic writing</a> | <a href=\"blog/%d/01/\">Blog</a></p>\n", w.opt.FirstYear)
		w.fillerLinks(d, a)
	})
	h.page(a.dir+"about.html", "About "+a.name, "About me", func(d *doc) {
		w.intro(d, a)
		w.coauthors(d, a)
	})
	h.page(a.dir+"writing.html", "", "Academic writing", func(d *doc) {
		w.list(d, a.papers, a)
	})
	for y := w.opt.FirstYear; y < w.opt.FirstYear+w.opt.Years; y++ {
		for m := 1; m <= 12; m++ {
			path := fmt.Sprintf("%sblog/%d/%02d/", a.dir, y, m)
			h.page(path, "", fmt.Sprintf("Notes of %d/%d", m, y), func(d *doc) {
				d.p(paragraph(w.opt.random(a.pid+path), 6))
				next := fmt.Sprintf("%sblog/%d/%02d/", a.dir, y+m/12, m%12+1)
				d.f("<p><a href=\"%s\">next month</a></p>\n", next)
			})
		}
	}
}

// fillerLinks lead to the pages that have no papers.
func (w *Web) fillerLinks(d *doc, a *author) {
	d.f("<p>")
	for i := range w.opt.PagesPerSite {
		path, text := fillerPage(i)
		d.link(a.dir+path, text)
		d.f(" \n")
	}
	d.f("<a href=\"%scv.pdf\">CV</a> <a href=\"%sold/\">Old page</a> <a href=\"%sgone.html\">My group</a></p>\n", a.dir, a.dir, a.dir)
}

func fillerPage(i int) (path, text string) {
	switch i % 4 {
	case 0:
		return fmt.Sprintf("teaching/cs%d/", 100+i), fmt.Sprintf("CS %d", 100+i)
	case 1:
		return fmt.Sprintf("photos/%d.html", i), fmt.Sprintf("Photos %d", i)
	case 2:
		return fmt.Sprintf("links%d.html", i), "Links"
	default:
		return fmt.Sprintf("hobbies/%d.html", i), "Hobbies"
	}
}

// buildFiller: courses with slides and homework, photos, links, an old address
// that redirects and a link to nowhere.
func (w *Web) buildFiller(h *host, a *author) {
	r := func(name string) string { return paragraph(w.opt.random(a.pid+name), 5) }
	for i := range w.opt.PagesPerSite {
		path, text := fillerPage(i)
		if !strings.HasPrefix(path, "teaching/") {
			h.page(a.dir+path, "", text, func(d *doc) {
				d.p(r(path))
				d.f("<p><a href=\"%s\">Home</a></p>\n", a.dir)
			})
			continue
		}
		h.page(a.dir+path, "", text+": "+capital(topics[i%len(topics)]), func(d *doc) {
			d.p("Lectures on Mondays, office hours on Tuesdays. Homework is due every second week.")
			d.f("<ul>")
			for n := 1; n <= 3; n++ {
				d.f("<li><a href=\"lecture%d.pdf\">Lecture %d</a>, <a href=\"homework%d.pdf\">homework %d</a></li>\n", n, n, n, n)
			}
			d.f("</ul>\n")
		})
		for n := 1; n <= 3; n++ {
			h.file(fmt.Sprintf("%s%slecture%d.pdf", a.dir, path, n), "application/pdf", func() []byte {
				return slidesPDF(fmt.Sprintf("%s, lecture %d", text, n), []string{a.name}, w.opt.random(fmt.Sprint(a.pid, path, n)))
			})
			h.file(fmt.Sprintf("%s%shomework%d.pdf", a.dir, path, n), "application/pdf", func() []byte {
				return SheetPDF(fmt.Sprintf("%s, homework %d", text, n), strings.SplitAfter(r(fmt.Sprint(path, n)), ". "))
			})
		}
	}
	cv := []string{
		"Personal: born in " + capital(a.university) + "; " + a.login + "@cs." + a.university + ".example",
		"Education: doctoral degree in computer science; diploma in mathematics",
		"Academic positions: lecturer, University of " + capital(a.university) + "; visiting researcher, University of " + capital(universities[(a.index+1)%len(universities)]),
	}
	for i := range 9 {
		cv = append(cv, fmt.Sprintf("Teaching: CS %d, %s; supervision of %d diploma theses", 100+i, capital(topics[i%len(topics)]), 1+i%4),
			fmt.Sprintf("Service: committee of the faculty for %s", topics[(i+3)%len(topics)]))
	}
	cv = append(cv, "List of publications")
	for _, p := range a.papers {
		cv = append(cv, fmt.Sprintf("%s (%d)", p.title, p.year))
	}
	h.file(a.dir+"cv.pdf", "application/pdf", func() []byte { return SheetPDF("Curriculum vitae of "+a.name, cv) })
	h.page(a.dir+"cv.html", "", "Curriculum vitae of "+a.name, func(d *doc) {
		d.p(strings.Join(cv, ". "))
	})
	h.pages[a.dir+"old/"] = resource{status: 302, location: "http://" + h.name + a.dir}
}
