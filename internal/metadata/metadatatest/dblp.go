package metadatatest

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"

	"gleaner/internal/gleaner"
)

type object = map[string]any

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// dblpPubl answers toc:…: queries as the search service does: numbers are
// strings, a single author is no array, hit is absent on an empty page.
func (s *Service) dblpPubl(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	toc := strings.TrimSuffix(strings.TrimPrefix(q.Get("q"), "toc:"), ".bht:")
	from, _ := strconv.Atoi(q.Get("f"))
	count, err := strconv.Atoi(q.Get("h"))
	if err != nil {
		count = 30
	}
	count = min(count, 1000)
	var papers []gleaner.Paper
	for _, v := range s.catalogue.Volumes {
		if v.TOC == toc {
			papers = v.Papers
		}
	}
	var hits []object
	for i := from; i < min(len(papers), from+count); i++ {
		hits = append(hits, object{"@score": "1", "@id": strconv.Itoa(i + 1), "info": dblpInfo(papers[i], s.catalogue.Name), "url": "URL#" + strconv.Itoa(i)})
	}
	body := object{"@total": strconv.Itoa(len(papers)), "@computed": strconv.Itoa(len(hits)), "@sent": strconv.Itoa(len(hits)), "@first": strconv.Itoa(from)}
	if len(hits) > 0 {
		body["hit"] = hits
	}
	answerJSON(w, object{"result": object{"query": q.Get("q"), "status": object{"@code": "200", "text": "OK"}, "hits": body}})
}

func dblpInfo(p gleaner.Paper, name string) object {
	info := object{
		"title": html.EscapeString(p.Title) + ".", "venue": name, "year": strconv.Itoa(p.Year), "key": p.Key,
		"type": "Conference and Workshop Papers", "url": "https://dblp.org/rec/" + p.Key,
	}
	if strings.HasPrefix(p.Key, "journals/") {
		info["type"] = "Journal Articles"
	}
	if p.Pages != "" {
		info["pages"] = p.Pages
	}
	if p.DOI != "" {
		info["doi"] = strings.ToUpper(p.DOI)
	}
	switch len(p.Links) {
	case 0:
	case 1:
		info["ee"] = p.Links[0]
	default:
		info["ee"] = p.Links
	}
	var authors []object
	for _, a := range p.Authors {
		authors = append(authors, object{"@pid": a.PID, "text": a.Name})
	}
	switch len(authors) {
	case 0:
	case 1:
		info["authors"] = object{"author": authors[0]}
	default:
		info["authors"] = object{"author": authors}
	}
	return info
}

func (s *Service) dblpVenue(w http.ResponseWriter, r *http.Request) {
	c := s.catalogue
	words := strings.ToLower(r.URL.Query().Get("q"))
	if !strings.Contains(strings.ToLower(c.Title+" "+c.Name), words) {
		answerJSON(w, object{"result": object{"hits": object{"@total": "0", "@computed": "0", "@sent": "0", "@first": "0"}}})
		return
	}
	answerJSON(w, object{"result": object{"hits": object{"@total": "1", "@computed": "1", "@sent": "1", "@first": "0", "hit": []object{{
		"@score": "1", "@id": "1", "info": object{"venue": c.Title + " (" + c.Name + ")", "acronym": c.Name, "type": "Conference or Workshop", "url": "https://dblp.org/db/" + c.Venue + "/"},
	}}}}})
}

// dblpPage answers index.xml and the volumes' pages.
func (s *Service) dblpPage(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	w.Header().Set("Content-Type", "text/xml")
	c := s.catalogue
	if path == "db/"+c.Venue+"/index.xml" {
		fmt.Fprintf(w, "<?xml version=\"1.0\"?>\n<bht key=\"db/%s/index.bht\" title=\"%s\">\n", c.Venue, html.EscapeString(c.Title+" ("+c.Name+")"))
		for _, v := range c.Volumes {
			fmt.Fprintf(w, "<h2>%d</h2>\n<dblpcites><r><proceedings key=\"%s/%d\" mdate=\"2020-01-01\"><title>%s %d.</title><year>%d</year><booktitle>%s</booktitle><url>%s.html</url></proceedings></r></dblpcites>\n",
				v.Year, c.Venue, v.Year, c.Name, v.Year, v.Year, c.Name, v.TOC)
		}
		fmt.Fprint(w, "</bht>\n")
		return
	}
	for _, v := range c.Volumes {
		if v.TOC+".xml" != path {
			continue
		}
		fmt.Fprintf(w, "<?xml version=\"1.0\"?>\n<bht key=\"%s.bht\" title=\"%s %d\">\n<h1>%s %d</h1>\n<dblpcites>\n", v.TOC, c.Name, v.Year, c.Name, v.Year)
		for _, p := range v.Papers {
			fmt.Fprintf(w, "<r style=\"ee\">%s</r>\n", dblpXML(p, v.TOC, c.Name))
		}
		fmt.Fprint(w, "</dblpcites>\n</bht>\n")
		return
	}
	w.Header().Set("Content-Type", "text/html")
	http.NotFound(w, r)
}

func dblpXML(p gleaner.Paper, toc, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<inproceedings key=\"%s\" mdate=\"2020-01-01\">\n", p.Key)
	for _, a := range p.Authors {
		fmt.Fprintf(&b, "<author pid=\"%s\">%s</author>\n", a.PID, html.EscapeString(a.Name))
	}
	fmt.Fprintf(&b, "<title>%s.</title>\n<pages>%s</pages>\n<year>%d</year>\n<booktitle>%s</booktitle>\n", html.EscapeString(p.Title), p.Pages, p.Year, name)
	for _, l := range p.Links {
		fmt.Fprintf(&b, "<ee>%s</ee>\n", html.EscapeString(l))
	}
	fmt.Fprintf(&b, "<url>%s.html#%s</url>\n</inproceedings>", toc, p.Key[strings.LastIndexByte(p.Key, '/')+1:])
	return b.String()
}

func (s *Service) dblpPerson(w http.ResponseWriter, r *http.Request) {
	pid := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/pid/"), ".xml")
	name := ""
	var titles []gleaner.Paper
	for _, p := range s.catalogue.Papers() {
		for _, a := range p.Authors {
			if a.PID == pid {
				name = a.Name
				titles = append(titles, p)
			}
		}
	}
	if name == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	fmt.Fprintf(w, "<?xml version=\"1.0\"?>\n<dblpperson name=\"%s\" pid=\"%s\" n=\"%d\">\n<person key=\"homepages/%s\" mdate=\"2020-01-01\">\n<author pid=\"%s\">%s</author>\n",
		html.EscapeString(name), pid, len(titles), pid, pid, html.EscapeString(name))
	for _, u := range s.catalogue.Homepages[pid] {
		fmt.Fprintf(w, "<url>%s</url>\n", html.EscapeString(u))
	}
	fmt.Fprint(w, "</person>\n")
	for _, p := range titles {
		fmt.Fprintf(w, "<r>%s</r>\n", dblpXML(p, "db/x/x", s.catalogue.Name))
	}
	fmt.Fprint(w, "</dblpperson>\n")
}
