package hardset

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// absent makes what there is of a person without a homepage: namesakes, and
// their name on others' pages.
func (w *Web) absent(p *person, kind string) {
	switch kind {
	case "none-namesake":
		w.namesake(p)
	case "none-namesake-researcher":
		w.otherResearcher(p)
	case "none-portal":
		w.portals(p, 1)
	}
	if kind == "none-people-list" || chance(w.rand, 0.3) {
		w.lab(p)
	}
}

// namesake makes the site of somebody of the same name in another walk of life.
func (w *Web) namesake(p *person) {
	r := w.rand
	n := p.given + " " + p.last
	id := strings.ReplaceAll(ascii(n), " ", "")
	type life struct{ host, title, text string }
	l := pick(r, []life{
		{id + "comics.com", n + " - Comic Artist | Official Website", "Comic books, illustrations, commissions. Upcoming conventions and publications: three graphic novels."},
		{id + "music.com", n + ", jazz pianist: home page", "Concerts, albums, the trio. New record out now. Teaching: piano lessons for students."},
		{id + ".com", "The official homepage of " + n, "Realtor in your area. Listings, testimonials, market research."},
		{"www." + id + ".org", n + " for Senate", "Vote! Issues, volunteer, donate, press, university town halls."},
		{id + ".name", n, "I like sailing, photography and my two dogs. Welcome to my web page!"},
		{"www.dr" + id + ".com", "Dr. " + n + ", Orthodontist", "Patients, appointments, our office. Dr. " + n + " received a degree from the University of Tilbury."},
		{"www.legacy-notices.example", "Obituary: " + n, n + " passed away peacefully. Professor emeritus of history, remembered by family and students."},
		{id + "-author.com", n + " | Novelist", "Books, papers of a detective, events. Research for the next novel."},
		{"www.clubsport.example/athletes/" + id, n + " - athlete profile", "Results, seasons, coach at the university."},
	})
	u := "http://" + l.host + "/"
	w.put(u, doc{body: fmt.Sprintf("<html><head><title>%s</title></head><body><h1>%s</h1><p>%s</p><p>Contact %s: %s@%s</p></body></html>", esc(l.title), esc(n), l.text, esc(n), id, l.host)})
}

// otherFields are what researchers of the same name work on.
var otherFields = []struct{ dept, papers string }{
	{"Department of Biology", "Gene expression in the zebrafish retina|Population dynamics of alpine butterflies|A phylogeny of river mussels"},
	{"School of Law", "Contracts and consent in comparative law|The limits of judicial review|Property and the commons"},
	{"Department of Economics", "Wage dynamics under search frictions|Taxes and household savings|Auctions with budget constraints"},
	{"Department of Physics", "Neutrino oscillations in dense matter|Thermal transport in graphene ribbons|Quantum noise in interferometers"},
	{"Department of Electrical Engineering", "Low-power amplifier design for implants|Antenna arrays for satellite links|Fault diagnosis in power grids"},
}

// otherResearcher makes a researcher's homepage that is not this person's.
func (w *Web) otherResearcher(p *person) {
	r := w.rand
	n := p.given + " " + p.last
	inst := makeInstitution(r, p.culture, 500+len(w.docs))
	login := strings.ReplaceAll(ascii(p.last), " ", "")
	dept, titles := inst.dept, []string(nil)
	if chance(r, 0.5) {
		o := pick(r, otherFields)
		dept, titles = o.dept, strings.Split(o.papers, "|")
	} else { // even of the same trade, with other papers and other co-authors
		f := fields[r.IntN(len(fields))]
		for range 5 {
			titles = append(titles, title(r, f))
		}
	}
	var items strings.Builder
	for _, t := range titles {
		fmt.Fprintf(&items, `<li>%s. <a href="papers/%s.pdf">%s</a></li>`, esc(n), slug(t), esc(t))
	}
	u := fmt.Sprintf("http://%s/~%s/", inst.host, login)
	w.put(u, doc{body: fmt.Sprintf("<html><head><title>%s</title></head><body><h1>%s</h1><p>Professor, %s, %s</p><h2>Publications</h2><ul>%s</ul><h2>Teaching</h2><p>Students, courses</p></body></html>", esc(pick(r, []string{n, n + "'s Home Page", n + " - " + inst.name})), esc(n), dept, inst.name, items.String())})
}

// lab makes a group's page that names the person, without a page of theirs.
func (w *Web) lab(p *person) {
	u := fmt.Sprintf("http://%s/groups/g%d/members.html", p.uni.host, len(w.docs))
	var names strings.Builder
	for _, o := range p.coAuthors {
		fmt.Fprintf(&names, "<li>%s</li>", esc(o.fullName()))
	}
	w.put(u, doc{body: fmt.Sprintf("<html><head><title>Members - %s group</title></head><body><h1>People</h1><ul><li>%s, student</li>%s</ul></body></html>", fields[p.field].area, esc(p.fullName()), names.String())})
}

// portals makes profiles, some of the known portals, some of ones nobody listed.
func (w *Web) portals(p *person, share float64) {
	r := w.rand
	n := p.given + " " + p.last
	dash := strings.ReplaceAll(ascii(n), " ", "-")
	papers := ""
	for _, t := range p.wanted {
		papers += "<li>" + esc(t.Title) + "</li>"
	}
	for _, u := range []string{"https://www.linkedin.com/in/" + dash, "https://www.researchgate.net/profile/" + dash, "https://scholar.google.com/citations?user=" + p.login, "https://www.academia.edu/" + dash, "https://www.sci-profiles.example/scholar/" + dash + ".html", "https://expert-index.example/profile?name=" + dash} {
		if !chance(r, share) {
			continue
		}
		site, _, _ := strings.Cut(strings.TrimPrefix(u, "https://"), "/")
		body := fmt.Sprintf("<html><head><title>%s | %s</title></head><body><a href=\"/login\">Log in</a> <a href=\"/signup\">Join for free</a><h1>%s</h1><p>View the profile of %s: publications, citations, co-authors, research interests.</p><ul>%s</ul><p>Claim this profile. Similar authors.</p></body></html>", esc(n), site, esc(n), esc(n), papers)
		w.put(u, doc{body: body})
	}
}

// paperPages makes what publishers, events and the press say of a paper.
func (w *Web) paperPages(r *rand.Rand, p *person, i int) {
	paper := p.wanted[i%len(p.wanted)]
	by := esc(strings.Join(gleaner.Names(paper.Authors), ", "))
	t := esc(paper.Title)
	switch r.IntN(6) {
	case 0:
		w.put("https://dl.acm.org/doi/10.1145/"+fmt.Sprint(100000+len(w.docs)), doc{body: "<html><head><title>" + t + " | ACM Digital Library</title></head><body>" + by + "</body></html>"})
	case 1: // a small press that nobody listed
		w.put(fmt.Sprintf("http://www.acadpress%d.example/article/view/%d", r.IntN(5), len(w.docs)), doc{body: fmt.Sprintf(`<html><head><title>%s</title><meta name="citation_title" content="%s"><meta name="citation_author" content="%s"></head><body><h1>%s</h1><p>%s</p><p>Abstract. We study %s.</p><a href="download.pdf">PDF</a></body></html>`, t, t, by, t, by, t)})
	case 2:
		w.put(fmt.Sprintf("http://www.hardconf%d.example/program.html", 1998+r.IntN(20)), doc{body: "<html><head><title>HARD Conference: Program</title></head><body><h1>Accepted papers</h1><p>" + t + ". " + by + "</p></body></html>"})
	case 3:
		w.put(fmt.Sprintf("http://www.hardconf%d.example/committee.html", 1998+r.IntN(20)), doc{body: "<html><head><title>HARD Conference: Program Committee</title></head><body><h1>Program committee</h1><p>" + by + "</p></body></html>"})
	case 4:
		w.put(fmt.Sprintf("http://%s/news/%d.html", p.uni.host, len(w.docs)), doc{body: fmt.Sprintf("<html><head><title>%s wins best paper award</title></head><body><h1>%s wins best paper award</h1><p>%s of the %s, honoured for %s.</p></body></html>", esc(p.fullName()), esc(p.fullName()), esc(p.fullName()), p.uni.dept, t)})
	default:
		w.put(fmt.Sprintf("http://%s/courses/cs%d/readings.html", p.uni.host, r.IntN(900)), doc{body: "<html><head><title>Reading list</title></head><body><p>Week 3: " + by + ". " + t + "</p></body></html>"})
	}
}

// directories make each department's list of people, with links for some.
func (w *Web) directories(people []*person) {
	r := w.rand
	host := func(p *person) string { return p.uni.host }
	byHost := each.By(people, host)
	for _, h := range each.Distinct(len(people), each.Of(people, host)) {
		var items strings.Builder
		for _, p := range byHost[h] {
			if len(p.homepages) > 0 && p.situation != "project" && (p.situation == "linked-only" || chance(r, 0.4)) {
				fmt.Fprintf(&items, `<li><a href="%s">%s</a></li>`, p.homepages[0], esc(p.fullName()))
			} else {
				fmt.Fprintf(&items, "<li>%s, room %d</li>", esc(p.fullName()), r.IntN(900))
			}
		}
		w.put("http://"+h+"/people/", doc{body: fmt.Sprintf("<html><head><title>People | %s</title></head><body><h1>Faculty and staff</h1><ul>%s</ul></body></html>", byHost[h][0].uni.name, items.String())})
		w.put("http://"+h+"/", doc{body: fmt.Sprintf(`<html><head><title>%s, %s</title></head><body><h1>%s</h1><a href="/people/">People</a> Research, students, teaching, news.</body></html>`, byHost[h][0].uni.dept, byHost[h][0].uni.name, byHost[h][0].uni.dept)})
	}
}

// links adds links to colleagues on homepages, the only way to pages that no
// search brings.
func (w *Web) links(people []*person) {
	for _, p := range people {
		if len(p.homepages) == 0 || p.situation == "project" {
			continue
		}
		var b strings.Builder
		for _, o := range p.coAuthors {
			if len(o.homepages) > 0 && o.situation != "project" && (o.situation == "linked-only" || chance(w.rand, 0.2)) {
				fmt.Fprintf(&b, ` <a href="%s">%s</a>`, o.homepages[0], esc(o.fullName()))
			}
		}
		if d := w.docs[p.homepages[0]]; d != nil && b.Len() > 0 && !strings.Contains(d.body, "<frameset") {
			d.body = strings.Replace(d.body, "</body>", "<p>Collaborators:"+b.String()+"</p></body>", 1)
			d.body = strings.Replace(d.body, "</BODY>", "<p>Collaborators:"+b.String()+"</p></BODY>", 1)
		}
	}
}
