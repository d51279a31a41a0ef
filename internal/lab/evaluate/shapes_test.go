package evaluate

import (
	"fmt"

	"gleaner/internal/web/page"
)

// flat: all papers on the home page, with slides between and pages before.
func (s *shaper) flat() {
	root := s.page("/", "")
	s.notes(root, "/", s.between(5, 30))
	for range s.between(15, 50) {
		s.paper(root, "/", false)
		if s.roll() < 0.4 {
			s.slides(root, "/")
		}
	}
}

// late: the publications are linked last, behind sections of other pages.
func (s *shaper) late() {
	root := s.page("/", "")
	for i := range s.between(2, 5) {
		section := s.note(root, fmt.Sprintf("/%s%d/", s.word(), i), s.word())
		s.notes(section, fmt.Sprintf("/%s%d/", s.word(), i), s.between(4, 20))
	}
	pubs := s.note(root, "/"+s.word()+".html", []string{"Publications", "Papers", "My work", "Research", "Writing"}[s.of(5)])
	for range s.between(10, 50) {
		s.paper(pubs, "/"+s.word()[:3]+"/", s.roll() < 0.3)
	}
}

// uniform: a tree in which every page may name a paper, or another file, and
// nothing tells them apart.
func (s *shaper) uniform() {
	level := []*page.Page{s.page("/", "")}
	for depth := range s.between(2, 4) {
		var next []*page.Page
		for _, p := range level {
			for range s.between(2, 4) {
				q := s.page(fmt.Sprintf("/%d/%s%d.html", depth, s.word(), s.n), s.word())
				s.link(p, q.URL, s.word(), prosePath, s.title())
				next = append(next, q)
				if s.roll() < 0.35 {
					s.paper(q, "/f/", true)
				}
				if s.roll() < 0.25 {
					s.document(q, fmt.Sprintf("/f/%s%d.pdf", s.word(), s.n), s.word(), listPath, s.word(), "other")
				}
			}
		}
		level = next
	}
}

// lectures: papers lie under what is named like a course, slides under papers/.
func (s *shaper) lectures() {
	root := s.page("/", "")
	talks := s.note(root, "/papers/", "Papers")
	for range s.between(5, 25) {
		s.slides(talks, "/papers/")
	}
	s.notes(root, "/misc/", s.between(3, 10))
	for i := range s.between(2, 5) {
		course := s.note(root, fmt.Sprintf("/teaching/c%d/", i), "Course "+s.word())
		reading := s.note(course, fmt.Sprintf("/teaching/c%d/lectures.html", i), "Lectures")
		for range s.between(5, 15) {
			s.paper(reading, fmt.Sprintf("/teaching/c%d/lectures/", i), s.roll() < 0.5)
		}
	}
}

// landing: each paper has a page, on which it stands beside other files.
func (s *shaper) landing() {
	root := s.page("/", "")
	s.notes(root, "/", s.between(3, 12))
	pubs := s.note(root, "/"+s.word()+"/", "Research")
	for i := range s.between(10, 40) {
		title := s.title()
		p := s.page(fmt.Sprintf("/items/%s%d.html", s.word(), i), title)
		s.link(pubs, p.URL, title, listPath, s.citation(title))
		s.link(p, graphHost+"/", "Home", "html>body>nav>a", "Home")
		s.document(p, fmt.Sprintf("/files/%d.pdf", i), "PDF", prosePath, title, Paper)
		if s.roll() < 0.5 {
			s.document(p, fmt.Sprintf("/files/%ds.pdf", i), "Talk", prosePath, title, "slides")
		}
	}
}

// mixed: one long list in which papers are some and nothing tells which.
func (s *shaper) mixed() {
	root := s.page("/", "")
	s.notes(root, "/", s.between(2, 10))
	list := s.note(root, "/"+s.word()+"/", "Downloads")
	share := 0.15 + 0.5*s.roll()
	for range s.between(30, 80) {
		if s.roll() < share {
			s.paper(list, "/dl/", s.roll() < 0.5)
		} else {
			s.document(list, fmt.Sprintf("/dl/%s%d.pdf", s.word(), s.n), s.title(), listPath, s.citation(s.title()), "other")
		}
	}
}

// blog: posts on numbered pages, of which a few name a paper.
func (s *shaper) blog() {
	at := s.page("/", "")
	for i := range s.between(4, 10) {
		for range s.between(5, 10) {
			title := s.title()
			post := s.page(fmt.Sprintf("/%d/%s-%s.html", 2010+i, s.word(), s.word()), title)
			s.link(at, post.URL, title, "html>body>main>article>h2>a", title)
			switch r := s.roll(); {
			case r < 0.15:
				s.paper(post, "/uploads/", s.roll() < 0.5)
			case r < 0.3:
				s.document(post, fmt.Sprintf("/uploads/%s%d.pdf", s.word(), s.n), s.word(), prosePath, s.title(), "other")
			}
		}
		older := s.page(fmt.Sprintf("/page/%d/", i+2), "Older posts")
		s.link(at, older.URL, "Older posts", "html>body>main>nav>a", "Older posts")
		at = older
	}
}

// group: a research group whose members have pages of their own, each another
// way.
func (s *shaper) group() {
	root := s.page("/", "")
	s.notes(root, "/news/", s.between(4, 15))
	people := s.note(root, "/people/", "People")
	for i := range s.between(4, 10) {
		dir := fmt.Sprintf("/~%s%d/", s.word(), i)
		home := s.page(dir, s.word())
		s.link(people, home.URL, s.word()+" "+s.word(), listPath, "")
		s.notes(home, dir, s.between(1, 6))
		from := home
		if s.roll() < 0.6 {
			from = s.note(home, dir+"pub.html", []string{"Publications", "Papers", "Research"}[s.of(3)])
		}
		for range s.between(0, 9) {
			s.paper(from, dir, s.roll() < 0.3)
		}
		for range s.between(0, 6) {
			s.slides(home, dir)
		}
	}
}

// decoys: what is named publications has only files of another kind; the papers
// are elsewhere, plainly named.
func (s *shaper) decoys() {
	root := s.page("/", "")
	pubs := s.note(root, "/publications/", "Publications")
	for range s.between(5, 30) {
		title := s.title()
		s.document(pubs, fmt.Sprintf("/publications/%s%d.pdf", s.word(), s.n), title, listPath, s.citation(title), "other")
	}
	s.notes(root, "/", s.between(3, 10))
	for i := range s.between(2, 4) {
		p := s.note(root, fmt.Sprintf("/%s%d/", s.word(), i), s.word())
		for range s.between(4, 12) {
			s.paper(p, "/"+s.word()+"/", true)
		}
	}
}

// honeypots: sections full of files that are named like papers and are not, found
// before the papers.
func (s *shaper) honeypots() {
	root := s.page("/", "")
	for i := range s.between(2, 4) {
		p := s.note(root, fmt.Sprintf("/archive%d/", i), "Archive")
		for range s.between(10, 25) {
			s.document(p, fmt.Sprintf("/archive%d/paper%d.pdf", i, s.n), s.title(), listPath, s.citation(s.title()), "other")
		}
	}
	list := s.note(root, "/texts.html", "Texts")
	for range s.between(10, 30) {
		s.paper(list, "/texts/", s.roll() < 0.5)
	}
}
