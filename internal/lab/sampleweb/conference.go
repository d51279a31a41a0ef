package sampleweb

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// conference is a large site whose pages follow from their addresses: nothing
// is kept. An event has about 470 pages and 100 papers:
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
type conference struct {
	opt    Options
	host   string
	events int
}

const (
	pagesPerEvent   = 471
	sessions        = 12
	papersPerHour   = 6 // of a session
	workshops       = 4
	workshopPapers  = 6
	galleries       = 10
	pictures        = 20
	months          = 12
	newsItems       = 10
	eventsPerPage   = 50 // of the archive
	eventPapers     = sessions*papersPerHour + workshops*workshopPapers
	paragraphsAPage = 6
)

// ConferenceSize says how many documents a Conference of the Web has, 0 for a
// host that is none, and where its crawl begins.
func (w *Web) ConferenceSize(host string) (documents int, start string) {
	c := w.big[host]
	if c == nil {
		return 0, ""
	}
	return c.events * eventPapers, "http://" + host + "/"
}

func (c *conference) serve(rw http.ResponseWriter, r *http.Request) {
	if page, ok := c.page(r.URL.Path); ok {
		send(rw, r, "text/html; charset=utf-8", []byte(page))
		return
	}
	if file, ok := c.document(r.URL.Path); ok {
		send(rw, r, "application/pdf", file)
		return
	}
	http.NotFound(rw, r)
}

// page makes the page at a path.
func (c *conference) page(path string) (string, bool) {
	if path == "/" {
		return c.front(0), true
	}
	if n, ok := number(path, "/archive/", ".html"); ok && n*eventsPerPage < c.events {
		return c.front(n), true
	}
	rest, ok := strings.CutPrefix(path, "/e")
	first, rest, found := strings.Cut(rest, "/")
	e, err := strconv.Atoi(first)
	if !ok || !found || err != nil || e < 0 || e >= c.events || strconv.Itoa(e) != first {
		return "", false
	}
	if rest == "" {
		return c.event(path, e), true
	}
	part, rest, found := strings.Cut(rest, "/")
	if !found {
		return "", false
	}
	switch part {
	case "program":
		return c.program(path, rest, e)
	case "workshops":
		return c.workshop(path, rest)
	case "photos":
		return c.twoLevels(path, rest, "Gallery", "Picture", galleries, pictures)
	case "news":
		return c.twoLevels(path, rest, "News of month", "Item", months, newsItems)
	case "people":
		return c.people(path, rest)
	}
	return "", false
}

func (c *conference) random(path string) *rand.Rand { return c.opt.random(c.host + path) }

func (c *conference) begin(path, title string) *doc {
	d := newDoc(title)
	d.f("<div class=\"menu\"><a href=\"/\">Home</a> <a href=\"../\">Up</a></div>\n")
	r := c.random(path)
	for range paragraphsAPage {
		d.p(paragraph(r, 6))
	}
	return d
}

func (c *conference) front(archive int) string {
	d := newDoc("Conference on " + capital(topics[0]))
	for e := archive * eventsPerPage; e < min(c.events, (archive+1)*eventsPerPage); e++ {
		d.f("<p><a href=\"/e%d/\">Event %d</a></p>\n", e, e+1)
	}
	if next := archive + 1; next*eventsPerPage < c.events {
		d.f("<p><a href=\"/archive/%d.html\">Earlier events</a></p>\n", next)
	}
	return string(d.bytes())
}

func (c *conference) event(path string, e int) string {
	d := c.begin(path, fmt.Sprintf("Event %d", e+1))
	d.f("<ul><li><a href=\"news/\">News</a></li><li><a href=\"program/\">Program</a></li><li><a href=\"photos/\">Photos</a></li><li><a href=\"people/\">Participants</a></li><li><a href=\"workshops/\">Workshops</a></li></ul>\n")
	return string(d.bytes())
}

func (c *conference) program(path, rest string, e int) (string, bool) {
	if rest == "" {
		d := c.begin(path, "Program")
		for s := range sessions {
			d.f("<p>Session <a href=\"s%d.html\">%s</a></p>\n", s, capital(gerunds[(e+s)%len(gerunds)]))
		}
		return string(d.bytes()), true
	}
	if s, ok := number("/"+rest, "/s", ".html"); ok && s < sessions {
		d := c.begin(path, "Session "+capital(gerunds[(e+s)%len(gerunds)]))
		for k := range papersPerHour {
			id := s*papersPerHour + k
			name := title(c.random(fmt.Sprintf("/e%d/program/p%d.pdf", e, id)))
			if s%2 == 1 {
				d.f("<p>%s. [<a href=\"p%d.pdf\">pdf</a>]</p>\n", esc(name), id)
			} else {
				d.f("<p><a href=\"p%d.html\">%s</a></p>\n", id, esc(name))
			}
		}
		return string(d.bytes()), true
	}
	if id, ok := number("/"+rest, "/p", ".html"); ok && id < sessions*papersPerHour {
		d := c.begin(path, title(c.random(strings.TrimSuffix(path, ".html")+".pdf")))
		d.f("<p><a href=\"p%d.pdf\">Full text</a></p>\n", id)
		return string(d.bytes()), true
	}
	return "", false
}

func (c *conference) workshop(path, rest string) (string, bool) {
	if rest == "" {
		d := c.begin(path, "Workshops")
		for n := range workshops {
			d.f("<p><a href=\"w%d/\">Workshop on %s</a></p>\n", n, capital(topics[n%len(topics)]))
		}
		return string(d.bytes()), true
	}
	first, rest, _ := strings.Cut(rest, "/")
	n, ok := number("/"+first, "/w", "")
	if !ok || n >= workshops {
		return "", false
	}
	d := c.begin(path, "Workshop on "+capital(topics[n%len(topics)]))
	switch rest {
	case "":
		d.f("<p><a href=\"schedule.html\">Schedule</a></p>\n")
		if n%2 == 0 {
			d.f("<p><a href=\"papers.html\">Accepted papers</a></p>\n")
		}
	case "schedule.html":
		d.f("<p><a href=\"papers.html\">Accepted papers</a></p>\n")
	case "papers.html":
		for k := range workshopPapers {
			file := fmt.Sprintf("paper%d.pdf", k)
			d.f("<p><a href=\"%s\">%s</a></p>\n", file, esc(title(c.random(strings.TrimSuffix(path, "papers.html")+file))))
		}
	default:
		return "", false
	}
	return string(d.bytes()), true
}

// twoLevels is a part of an event without papers: an overview, groups, items.
func (c *conference) twoLevels(path, rest, group, item string, groups, items int) (string, bool) {
	if rest == "" {
		d := c.begin(path, group+"s")
		for g := range groups {
			d.f("<p><a href=\"%d/\">%s %d</a></p>\n", g, group, g+1)
		}
		return string(d.bytes()), true
	}
	first, rest, _ := strings.Cut(rest, "/")
	g, ok := number("/"+first, "/", "")
	if !ok || g >= groups {
		return "", false
	}
	if rest == "" {
		d := c.begin(path, fmt.Sprintf("%s %d", group, g+1))
		for i := range items {
			d.f("<p><a href=\"%d.html\">%s %d</a></p>\n", i, item, i+1)
		}
		return string(d.bytes()), true
	}
	if i, ok := number("/"+rest, "/", ".html"); ok && i < items {
		d := c.begin(path, fmt.Sprintf("%s %d", item, i+1))
		d.f("<p><a href=\"%d.html\">Next</a></p>\n", (i+1)%items)
		return string(d.bytes()), true
	}
	return "", false
}

func (c *conference) people(path, rest string) (string, bool) {
	if rest == "" {
		d := c.begin(path, "Participants")
		for l := 'a'; l <= 'z'; l++ {
			d.f("<a href=\"%c.html\">%c</a>\n", l, l-32)
		}
		return string(d.bytes()), true
	}
	if len(rest) == len("a.html") && strings.HasSuffix(rest, ".html") && rest[0] >= 'a' && rest[0] <= 'z' {
		return string(c.begin(path, "Participants "+strings.ToUpper(rest[:1])).bytes()), true
	}
	return "", false
}

// document makes the PDF at a path: one page of text.
func (c *conference) document(path string) ([]byte, bool) {
	dir, name := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
	if _, ok := c.page(dir); !ok {
		return nil, false
	}
	id, inProgram := number("/"+name, "/p", ".pdf")
	inProgram = inProgram && strings.HasSuffix(dir, "/program/") && id < sessions*papersPerHour
	k, inWorkshop := number("/"+name, "/paper", ".pdf")
	inWorkshop = inWorkshop && strings.Contains(dir, "/workshops/w") && k < workshopPapers
	if !inProgram && !inWorkshop {
		return nil, false
	}
	r := c.random(path)
	return tinyPDF(title(r), pick(r, firstNames)+" "+pick(r, lastNames), r), true
}

// number reads the decimal between a prefix and a suffix, without leading zeros.
func number(s, prefix, suffix string) (int, bool) {
	s, ok := strings.CutPrefix(s, prefix)
	s, ok2 := strings.CutSuffix(s, suffix)
	n, err := strconv.Atoi(s)
	return n, ok && ok2 && err == nil && n >= 0 && strconv.Itoa(n) == s
}
