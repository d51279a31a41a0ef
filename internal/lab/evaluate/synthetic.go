package evaluate

import (
	"fmt"
	"strings"

	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Synthetic is a generated conference site of many years, with papers at every
// depth: listed in the proceedings, behind a landing page of their own, in
// workshops three hops further down; and with what such sites have besides:
// galleries, news, a mailing list, committees, slides and flyers. It is the same
// every time.
type Synthetic struct {
	pages map[string]*page.Page
	kinds map[string]Kind // documents
}

const syntheticHost = "http://conf.example.org"

// NewSynthetic makes a site of about so many pages.
func NewSynthetic(pages int) *Synthetic {
	s := &Synthetic{pages: map[string]*page.Page{}, kinds: map[string]Kind{}}
	root := s.page("/", "Conference series")
	s.nav(root)
	years := max(1, pages/200)
	for y := range years {
		s.year(root, 2026-y, y)
	}
	s.list(pages / 4)
	for i := 0; len(s.pages) < pages; i++ { // an archive of notices fills the rest
		p := s.page(fmt.Sprintf("/announcements/%d.html", i), "Announcement")
		s.link(s.page("/announcements/", "Announcements"), p.URL, fmt.Sprintf("Notice %d", i), "html>body>ul.news>li>a", "Announcements")
		s.nav(p)
	}
	return s
}

// Start is the site's home page.
func (s *Synthetic) Start() string { return syntheticHost + "/" }

// Get answers with a page, or with a document of a kind that Judge knows.
func (s *Synthetic) Get(u string) (Answer, error) {
	if p, ok := s.pages[weburl.Key(u)]; ok {
		return Answer{URL: p.URL, Page: p}, nil
	}
	if _, ok := s.kinds[weburl.Key(u)]; ok {
		return Answer{URL: u, Document: true}, nil
	}
	return Answer{}, ErrMissing
}

// Judge is the kind of a document of the site.
func (s *Synthetic) Judge(u string) Kind { return s.kinds[weburl.Key(u)] }

// Pages is how many pages the site has.
func (s *Synthetic) Pages() int { return len(s.pages) }

func (s *Synthetic) page(path, title string) *page.Page {
	u := syntheticHost + path
	k := weburl.Key(u)
	if p, ok := s.pages[k]; ok {
		return p
	}
	p := &page.Page{URL: u, Base: u, Title: title, Headings: []string{title}}
	s.pages[k] = p
	return p
}

func (s *Synthetic) link(from *page.Page, to, anchor, tagPath, context string) {
	from.Links = append(from.Links, page.Link{URL: to, Anchor: anchor, Context: context, Heading: from.Title,
		TagPath: tagPath, Position: len(from.Links), Source: page.SourceAnchor})
}

// nav is the menu that every page carries.
func (s *Synthetic) nav(p *page.Page) {
	for _, item := range [...][2]string{{"/", "Home"}, {"/about.html", "About"}, {"/announcements/", "Announcements"}, {"/list/", "Mailing list"}, {"/people/", "Committee members"}} {
		s.page(item[0], item[1])
		s.link(p, syntheticHost+item[0], item[1], "html>body>nav.menu>a", item[1])
	}
}

func (s *Synthetic) document(from *page.Page, path, anchor, tagPath, context string, kind Kind) {
	u := syntheticHost + path
	s.kinds[weburl.Key(u)] = kind
	s.link(from, u, anchor, tagPath, context)
}

const (
	listPath  = "html>body>div.main>ul>li>a"
	tablePath = "html>body>div.main>table>tr>td>a"
	menuPath  = "html>body>div.main>div.side>a"
)

func (s *Synthetic) year(root *page.Page, year, n int) {
	dir := fmt.Sprintf("/%d/", year)
	index := s.page(dir, fmt.Sprintf("The conference of %d", year))
	s.link(root, index.URL, fmt.Sprint(year), listPath, fmt.Sprintf("%dth conference", 40-n))
	s.nav(index)
	for _, info := range []string{"dates", "venue", "hotels", "travel", "sponsors", "registration", "call", "organisers"} {
		p := s.page(dir+info+".html", strings.ToUpper(info[:1])+info[1:])
		s.link(index, p.URL, p.Title, menuPath, p.Title)
		s.nav(p)
		if info == "call" {
			s.document(p, dir+"flyer.pdf", "Flyer", listPath, "Print the flyer and hang it up", "admin")
		}
	}
	gallery := s.page(dir+"gallery/", "Impressions")
	s.link(index, gallery.URL, gallery.Title, menuPath, gallery.Title)
	for i := range 40 {
		p := s.page(fmt.Sprintf("%sgallery/%d.html", dir, i), "Impression")
		s.link(gallery, p.URL, fmt.Sprint(i), "html>body>div.grid>a", "")
		s.nav(p)
	}
	programme := s.page(dir+"programme.html", "Programme")
	s.link(index, programme.URL, programme.Title, menuPath, programme.Title)
	s.sessions(programme, dir, year, n)
	s.workshops(index, dir, year)
}

// sessions: in even years the proceedings list their papers, in odd years each
// paper has a page of its own below its session.
func (s *Synthetic) sessions(programme *page.Page, dir string, year, n int) {
	toc := s.page(dir+"proceedings/", fmt.Sprintf("Proceedings %d", year))
	s.link(s.page(dir, ""), toc.URL, "Proceedings", menuPath, "Proceedings")
	for i := range 8 {
		session := s.page(fmt.Sprintf("%ssession%d.html", dir, i), fmt.Sprintf("Session %d", i+1))
		s.link(programme, session.URL, session.Title, tablePath, "9:00 "+session.Title)
		s.nav(session)
		for j := range 5 {
			id := fmt.Sprintf("p%02d", i*5+j)
			title := fmt.Sprintf("On the %s of %s structures", subjects[(i*5+j+n)%len(subjects)], subjects[(i+3*j+n*7)%len(subjects)])
			cited := fmt.Sprintf("A. Author, B. Writer: %s. Proc. of the conference, %d, pp. %d-%d", title, year, 10*j, 10*j+9)
			if n%2 == 0 {
				s.document(toc, dir+"proceedings/"+id+".pdf", title, listPath, cited, Paper)
			} else {
				landing := s.page(dir+"proceedings/"+id+".html", title)
				s.link(toc, landing.URL, title, listPath, cited)
				s.nav(landing)
				s.document(landing, dir+"proceedings/"+id+".pdf", "Full text", "html>body>div.paper>a", title, Paper)
			}
			if j < 2 {
				s.document(session, dir+"slides/"+id+".pdf", "slides", tablePath, title+" (slides)", "slides")
			}
		}
	}
}

func (s *Synthetic) workshops(index *page.Page, dir string, year int) {
	all := s.page(dir+"events.html", "Satellite events")
	s.link(index, all.URL, all.Title, menuPath, all.Title)
	for w := range 3 {
		home := s.page(fmt.Sprintf("%sws%d/", dir, w), fmt.Sprintf("Workshop %d", w+1))
		s.link(all, home.URL, home.Title, listPath, home.Title)
		accepted := s.page(fmt.Sprintf("%sws%d/accepted.html", dir, w), "Accepted papers")
		call := s.page(fmt.Sprintf("%sws%d/cfp.html", dir, w), "Call for papers")
		s.link(home, call.URL, call.Title, listPath, call.Title)
		s.link(home, accepted.URL, accepted.Title, listPath, accepted.Title)
		s.nav(home)
		for i := range 5 {
			title := fmt.Sprintf("Towards %s for %s", subjects[(w+i)%len(subjects)], subjects[(i*5+year)%len(subjects)])
			s.document(accepted, fmt.Sprintf("%sws%d/%d.pdf", dir, w, i), title, listPath, "C. Scholar: "+title+fmt.Sprintf(", Workshop, %d", year), Paper)
		}
	}
}

// list is a mailing list's archive: many pages, no papers, now and then a file.
func (s *Synthetic) list(n int) {
	index := s.page("/list/", "Mailing list")
	var month *page.Page
	for i := range n {
		if i%40 == 0 {
			month = s.page(fmt.Sprintf("/list/m%d/", i/40), fmt.Sprintf("Month %d", i/40))
			s.link(index, month.URL, month.Title, listPath, month.Title)
		}
		p := s.page(fmt.Sprintf("/list/m%d/msg%05d.html", i/40, i), fmt.Sprintf("Re: paper submission %d", i))
		s.link(month, p.URL, p.Title, listPath, p.Title)
		if i%90 == 0 {
			s.document(p, fmt.Sprintf("/list/m%d/att%05d.pdf", i/40, i), "attachment", "html>body>pre>a", "attachment", "other")
		}
	}
	members := s.page("/people/", "Committee members")
	for i := range n / 8 {
		p := s.page(fmt.Sprintf("/people/%d.html", i), fmt.Sprintf("Member %d", i))
		s.link(members, p.URL, fmt.Sprintf("A. N. Other %d", i), listPath, "Member of the committee")
		s.nav(p)
	}
}

var subjects = [...]string{"query", "index", "stream", "graph", "lattice", "kernel", "cache", "schema", "storage", "proof", "type", "network", "sample"}
