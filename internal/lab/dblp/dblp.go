// Package dblp answers in the shapes of dblp.org for venues that are made up: the
// publication search by exact table of contents, the venue search, and the XML
// pages of venues, volumes and persons. The sample web and the catalogues of tests
// have it in common.
package dblp

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// Venue is a series with its volumes.
type Venue struct {
	Key     string // "conf/exa"
	Name    string // "EXA"
	Title   string // "Symposium on Examples"
	Volumes []Volume
}

// Volume is one table of contents.
type Volume struct {
	TOC    string // "db/conf/exa/exa2003"
	Year   int
	Papers []gleaner.Paper
}

// Person is what is known of somebody beside their papers.
type Person struct {
	gleaner.Author
	URLs []string // homepages, in order

	records []string
}

// Service is the made-up DBLP.
type Service struct {
	base   string
	venues []Venue
	people map[string]*Person // by pid
	mux    *http.ServeMux
}

// New makes a service at an address such as https://dblp.org. It knows the authors
// of all papers; of some, people says more.
func New(base string, venues []Venue, people []Person) *Service {
	s := &Service{base: base, venues: venues, people: map[string]*Person{}, mux: http.NewServeMux()}
	for _, p := range people {
		s.people[p.PID] = &p
	}
	for _, v := range venues {
		for _, vol := range v.Volumes {
			for _, p := range vol.Papers {
				s.credit(p, record(p, v, vol))
			}
		}
	}
	s.mux.HandleFunc("/search/publ/api", s.publications)
	s.mux.HandleFunc("/search/venue/api", s.search)
	s.mux.HandleFunc("/search/author/api", s.authors)
	s.mux.HandleFunc("/db/", s.page)
	s.mux.HandleFunc("/pid/", s.person)
	return s
}

// credit puts a record on the pages of its authors.
func (s *Service) credit(p gleaner.Paper, record string) {
	for _, a := range p.Authors {
		who := s.people[a.PID]
		if who == nil {
			who = &Person{}
			s.people[a.PID] = who
		}
		who.Author = a
		who.records = append(who.records, record)
	}
}

func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

type object = map[string]any

// sendHits pages through the hits with f and h, a thousand at most: numbers are
// strings, and there is no `hit` on an empty page.
func sendHits(w http.ResponseWriter, r *http.Request, all []object) {
	q := r.URL.Query()
	first, _ := strconv.Atoi(q.Get("f"))
	most, err := strconv.Atoi(q.Get("h"))
	if err != nil {
		most = 30
	}
	first = max(0, min(first, len(all)))
	part := all[first:min(len(all), first+max(0, min(most, 1000)))]
	hits := object{"@total": strconv.Itoa(len(all)), "@computed": strconv.Itoa(len(part)), "@sent": strconv.Itoa(len(part)), "@first": strconv.Itoa(first)}
	if len(part) > 0 {
		hits["hit"] = part
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(object{"result": object{"query": q.Get("q"), "status": object{"@code": "200", "text": "OK"}, "hits": hits}})
}

func hit(i int, info object) object {
	return object{"@score": "1", "@id": strconv.Itoa(i + 1), "info": info, "url": "URL#" + strconv.Itoa(i)}
}

// publications knows the one query that is exact: toc:db/conf/x/x2003.bht:
func (s *Service) publications(w http.ResponseWriter, r *http.Request) {
	toc := strings.TrimSuffix(strings.TrimPrefix(r.URL.Query().Get("q"), "toc:"), ".bht:")
	var hits []object
	for _, v := range s.venues {
		for _, vol := range v.Volumes {
			if vol.TOC == toc {
				for i, p := range vol.Papers {
					hits = append(hits, hit(i, s.info(p, v)))
				}
			}
		}
	}
	sendHits(w, r, hits)
}

func (s *Service) info(p gleaner.Paper, v Venue) object {
	info := object{"title": html.EscapeString(p.Title) + ".", "venue": v.Name, "year": strconv.Itoa(p.Year), "key": p.Key,
		"type": "Conference and Workshop Papers", "access": "open", "url": s.base + "/rec/" + p.Key}
	if strings.HasPrefix(p.Key, "journals/") {
		info["type"] = "Journal Articles"
	}
	if p.Pages != "" {
		info["pages"] = p.Pages
	}
	if p.DOI != "" {
		info["doi"] = strings.ToUpper(p.DOI)
	}
	if len(p.Links) > 0 {
		info["ee"] = oneOrMore(p.Links)
	}
	authors := each.Of(p.Authors, func(a gleaner.Author) object { return object{"@pid": a.PID, "text": a.Name} })
	if len(authors) > 0 {
		info["authors"] = object{"author": oneOrMore(authors)}
	}
	return info
}

// oneOrMore is a single one, which is no array, or all.
func oneOrMore[T any](all []T) any {
	if len(all) == 1 {
		return all[0]
	}
	return all
}

func (s *Service) search(w http.ResponseWriter, r *http.Request) {
	words := strings.ToLower(r.URL.Query().Get("q"))
	var hits []object
	for i, v := range s.venues {
		if strings.Contains(strings.ToLower(v.Title+" ("+v.Name+") "+v.Name), words) {
			hits = append(hits, hit(i, object{"venue": v.Title + " (" + v.Name + ")", "acronym": v.Name, "type": "Conference or Workshop", "url": s.base + "/db/" + v.Key + "/"}))
		}
	}
	sendHits(w, r, hits)
}

// authors finds people by every word of a name.
func (s *Service) authors(w http.ResponseWriter, r *http.Request) {
	words := strings.Fields(strings.ToLower(r.URL.Query().Get("q")))
	var hits []object
	for _, pid := range slices.Sorted(maps.Keys(s.people)) {
		name := strings.ToLower(s.people[pid].Name)
		if len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(name, word) }) {
			hits = append(hits, hit(len(hits), object{"author": s.people[pid].Name, "url": s.base + "/pid/" + pid}))
		}
	}
	sendHits(w, r, hits)
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

func sendXML(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	fmt.Fprintf(w, xmlHead+format, args...)
}

// page answers index.xml and the volumes' pages.
func (s *Service) page(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	for _, v := range s.venues {
		if path == "db/"+v.Key+"/index.xml" {
			index(w, v)
			return
		}
		for _, vol := range v.Volumes {
			if path != vol.TOC+".xml" {
				continue
			}
			sendXML(w, "<bht key=\"%s.bht\" title=\"%s %d\">\n<h1>%s %d</h1>\n<dblpcites>\n", vol.TOC, v.Name, vol.Year, v.Name, vol.Year)
			for _, p := range vol.Papers {
				fmt.Fprintf(w, "<r style=\"ee\">%s</r>\n", record(p, v, vol))
			}
			fmt.Fprint(w, "</dblpcites>\n</bht>\n")
			return
		}
	}
	http.NotFound(w, r)
}

// index lists a venue's volumes, the newest first.
func index(w http.ResponseWriter, v Venue) {
	title := html.EscapeString(v.Title + " (" + v.Name + ")")
	sendXML(w, "<bht key=\"db/%s/index.bht\" title=\"%s\">\n<h1>%s</h1>\n", v.Key, title, title)
	for i := range v.Volumes {
		vol := v.Volumes[len(v.Volumes)-1-i]
		fmt.Fprintf(w, "<h2>%d</h2>\n<dblpcites><r><proceedings key=\"%s/%d\" mdate=\"2020-01-01\"><title>%s %d, %s.</title><year>%d</year><booktitle>%s</booktitle><url>%s.html</url></proceedings></r></dblpcites>\n",
			vol.Year, v.Key, vol.Year, v.Name, vol.Year, html.EscapeString(v.Title), vol.Year, v.Name, vol.TOC)
	}
	fmt.Fprint(w, "</bht>\n")
}

// record is a paper in XML.
func record(p gleaner.Paper, v Venue, vol Volume) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<inproceedings key=\"%s\" mdate=\"2020-01-01\">\n", p.Key)
	for _, a := range p.Authors {
		fmt.Fprintf(&b, "<author pid=\"%s\">%s</author>\n", a.PID, html.EscapeString(a.Name))
	}
	fmt.Fprintf(&b, "<title>%s.</title>\n<pages>%s</pages>\n<year>%d</year>\n<booktitle>%s</booktitle>\n", html.EscapeString(p.Title), p.Pages, p.Year, v.Name)
	for _, l := range p.Links {
		fmt.Fprintf(&b, "<ee>%s</ee>\n", html.EscapeString(l))
	}
	fmt.Fprintf(&b, "<crossref>%s/%d</crossref>\n<url>%s.html#%s</url>\n</inproceedings>", v.Key, vol.Year, vol.TOC, p.Key[strings.LastIndexByte(p.Key, '/')+1:])
	return b.String()
}

func (s *Service) person(w http.ResponseWriter, r *http.Request) {
	pid := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/pid/"), ".xml")
	who := s.people[pid]
	if who == nil || who.Name == "" {
		http.NotFound(w, r)
		return
	}
	name := html.EscapeString(who.Name)
	sendXML(w, "<dblpperson name=\"%s\" pid=\"%s\" n=\"%d\">\n<person key=\"homepages/%s\" mdate=\"2020-01-01\">\n<author pid=\"%s\">%s</author>\n", name, pid, len(who.records), pid, pid, name)
	for _, u := range who.URLs {
		fmt.Fprintf(w, "<url>%s</url>\n", html.EscapeString(u))
	}
	fmt.Fprint(w, "</person>\n")
	for _, rec := range who.records {
		fmt.Fprintf(w, "<r>%s</r>\n", rec)
	}
	fmt.Fprint(w, "</dblpperson>\n")
}
