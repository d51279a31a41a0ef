package sampleweb

import "fmt"

// ConferenceHost has a large site: events with programmes, workshops, galleries and
// news. An event has some 470 pages and 96 papers:
//
//	/e12/                    links to the following
//	/e12/news/               twelve months of ten items each
//	/e12/photos/             ten galleries of twenty pictures each
//	/e12/people/             participants by letter
//	/e12/program/            twelve sessions of six papers each; the odd
//	                         sessions link their papers directly, the even ones
//	                         by a page of abstract
//	/e12/workshops/          four workshops, each with a page of papers one or
//	                         two links further down
//
// So papers stand at every depth, and a fifth of the pages leads to them all.
const ConferenceHost = "www.bigconf.example"

const (
	pagesPerEvent  = 471
	sessions       = 12
	papersPerHour  = 6 // of a session
	workshops      = 4
	workshopPapers = 6
)

// conference builds the site.
type conference struct {
	opt Options
	*host
}

func (w *Web) buildConference() {
	c := conference{w.opt, w.host(ConferenceHost)}
	events := max(1, (w.opt.ConferencePages+pagesPerEvent/2)/pagesPerEvent)
	c.host.page("/", "", "Conference on "+capital(topics[0]), func(d *doc) {
		for e := range events {
			d.f("<p><a href=\"/e%d/\">Event %d</a></p>\n", e, e+1)
		}
	})
	for e := range events {
		dir := fmt.Sprintf("/e%d/", e)
		c.page(dir, fmt.Sprintf("Event %d", e+1), func(d *doc) {
			d.f("<ul><li><a href=\"news/\">News</a></li><li><a href=\"program/\">Program</a></li>" +
				"<li><a href=\"photos/\">Photos</a></li><li><a href=\"people/\">Participants</a></li>" +
				"<li><a href=\"workshops/\">Workshops</a></li></ul>\n")
		})
		c.program(dir+"program/", e)
		c.workshops(dir + "workshops/")
		c.items(dir+"photos/", "Gallery", "Picture", 10, 20)
		c.items(dir+"news/", "News of month", "Item", 12, 10)
		c.page(dir+"people/", "Participants", func(d *doc) {
			for l := 'a'; l <= 'z'; l++ {
				d.f("<a href=\"%c.html\">%c</a>\n", l, l-32)
			}
		})
		for l := 'a'; l <= 'z'; l++ {
			c.page(fmt.Sprintf("%speople/%c.html", dir, l), fmt.Sprintf("Participants %c", l-32), func(*doc) {})
		}
	}
}

func (c conference) program(dir string, e int) {
	session := func(s int) string { return capital(gerunds[(e+s)%len(gerunds)]) }
	c.page(dir, "Program", func(d *doc) {
		for s := range sessions {
			d.f("<p>Session <a href=\"s%d.html\">%s</a></p>\n", s, session(s))
		}
	})
	for s := range sessions {
		titles := make([]string, papersPerHour)
		for k := range titles {
			at := fmt.Sprintf("%sp%d", dir, s*papersPerHour+k)
			titles[k] = c.paper(at + ".pdf")
			c.page(at+".html", titles[k], func(d *doc) {
				d.f("<p><a href=\"p%d.pdf\">Full text</a></p>\n", s*papersPerHour+k)
			})
		}
		c.page(fmt.Sprintf("%ss%d.html", dir, s), "Session "+session(s), func(d *doc) {
			for k, name := range titles {
				if id := s*papersPerHour + k; s%2 == 1 {
					d.f("<p>%s. [<a href=\"p%d.pdf\">pdf</a>]</p>\n", esc(name), id)
				} else {
					d.f("<p><a href=\"p%d.html\">%s</a></p>\n", id, esc(name))
				}
			}
		})
	}
}

func (c conference) workshops(dir string) {
	name := func(n int) string { return "Workshop on " + capital(topics[n]) }
	c.page(dir, "Workshops", func(d *doc) {
		for n := range workshops {
			d.f("<p><a href=\"w%d/\">%s</a></p>\n", n, name(n))
		}
	})
	const accepted = "<p><a href=\"papers.html\">Accepted papers</a></p>\n"
	for n := range workshops {
		at := fmt.Sprintf("%sw%d/", dir, n)
		c.page(at, name(n), func(d *doc) {
			d.f("<p><a href=\"schedule.html\">Schedule</a></p>\n")
			if n%2 == 0 {
				d.f(accepted)
			}
		})
		c.page(at+"schedule.html", name(n), func(d *doc) { d.f(accepted) })
		titles := make([]string, workshopPapers)
		for k := range titles {
			titles[k] = c.paper(fmt.Sprintf("%spaper%d.pdf", at, k))
		}
		c.page(at+"papers.html", name(n), func(d *doc) {
			for k, title := range titles {
				d.f("<p><a href=\"paper%d.pdf\">%s</a></p>\n", k, esc(title))
			}
		})
	}
}

// buildItems makes a part of an event without papers: an overview, groups, items.
func (c conference) items(dir, group, item string, groups, items int) {
	c.page(dir, group+"s", func(d *doc) {
		for g := range groups {
			d.f("<p><a href=\"%d/\">%s %d</a></p>\n", g, group, g+1)
		}
	})
	for g := range groups {
		at := fmt.Sprintf("%s%d/", dir, g)
		c.page(at, fmt.Sprintf("%s %d", group, g+1), func(d *doc) {
			for i := range items {
				d.f("<p><a href=\"%d.html\">%s %d</a></p>\n", i, item, i+1)
			}
		})
		for i := range items {
			c.page(fmt.Sprintf("%s%d.html", at, i), fmt.Sprintf("%s %d", item, i+1), func(d *doc) {
				d.f("<p><a href=\"%d.html\">Next</a></p>\n", (i+1)%items)
			})
		}
	}
}

// conferencePage is a page with a menu and text above what is written.
func (c conference) page(path, title string, write func(*doc)) {
	c.host.page(path, "", title, func(d *doc) {
		d.f("<div class=\"menu\"><a href=\"/\">Home</a> <a href=\"../\">Up</a></div>\n")
		r := c.opt.random(ConferenceHost + path)
		for range 6 {
			d.p(paragraph(r, 6))
		}
		write(d)
	})
}

// conferencePaper makes a short paper, and returns its title.
func (c conference) paper(path string) (name string) {
	name = title(c.opt.random(ConferenceHost + path))
	c.file(path, "application/pdf", func() []byte {
		r := c.opt.random("text " + path)
		return writePDF(article{
			title: name, authors: []string{pick(r, firstNames) + " " + pick(r, lastNames)}, abstract: paragraph(r, 4),
			sections: []section{{"1. Introduction", []string{paragraph(r, 14)}}, {"2. Conclusion", []string{paragraph(r, 6)}}},
			refs:     []string{"[1] " + pick(r, lastNames) + ". " + title(r) + ". 1999."},
		})
	})
	return name
}
