package sampleweb

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// serveDBLP answers in the shapes of dblp.org: the publication search by exact
// table of contents, the venue search, the XML pages of venues, volumes and
// persons.
func (w *Web) serveDBLP(rw http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	switch {
	case path == "/search/publ/api":
		w.dblpPublications(rw, r)
	case path == "/search/venue/api":
		w.dblpVenues(rw, r)
	case strings.HasPrefix(path, "/pid/") && strings.HasSuffix(path, ".xml"):
		w.dblpPerson(rw, r, strings.TrimSuffix(strings.TrimPrefix(path, "/pid/"), ".xml"))
	default:
		for v := range w.opt.Venues {
			base := "/db/" + w.venueKey(v) + "/"
			if path == base+"index.xml" {
				w.dblpIndex(rw, r, v)
				return
			}
			rest, ok := strings.CutPrefix(path, base+w.venueShort(v))
			year, err := strconv.Atoi(strings.TrimSuffix(rest, ".xml"))
			if ok && err == nil && strings.HasSuffix(rest, ".xml") && w.inYears(year) {
				w.dblpVolume(rw, r, v, year)
				return
			}
		}
		http.NotFound(rw, r)
	}
}

func (w *Web) inYears(year int) bool {
	first, last := w.Years()
	return year >= first && year <= last
}

func (w *Web) volume(v, year int) []*paper {
	var out []*paper
	for _, p := range w.papers {
		if p.venue == v && p.year == year {
			out = append(out, p)
		}
	}
	return out
}

// dblpPublications knows the one query that is exact: toc:db/conf/x/x2003.bht:
func (w *Web) dblpPublications(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	toc := strings.TrimSuffix(strings.TrimPrefix(q.Get("q"), "toc:db/"), ".bht:")
	var papers []*paper
	for v := range w.opt.Venues {
		rest, ok := strings.CutPrefix(toc, w.venueKey(v)+"/"+w.venueShort(v))
		if year, err := strconv.Atoi(rest); ok && err == nil {
			papers = w.volume(v, year)
		}
	}
	hits := make([]any, len(papers))
	for i, p := range papers {
		hits[i] = map[string]any{"@score": "1", "@id": strconv.Itoa(1000 + p.index), "info": w.hitInfo(p), "url": "URL#" + strconv.Itoa(1000+p.index)}
	}
	sendHits(rw, r, hits)
}

func (w *Web) hitInfo(p *paper) map[string]any {
	authors := make([]map[string]string, len(p.authors))
	for i, a := range p.authors {
		authors[i] = map[string]string{"@pid": a.pid, "text": a.name}
	}
	var author any = authors
	if len(authors) == 1 { // a single one is no array, as at the original
		author = authors[0]
	}
	return map[string]any{
		"authors": map[string]any{"author": author}, "title": p.title + ".", "venue": w.venueName(p.venue),
		"pages": p.pages, "year": strconv.Itoa(p.year), "type": "Conference and Workshop Papers",
		"access": "open", "key": p.key, "ee": p.electronic(), "url": "http://" + DBLPHost + "/rec/" + p.key,
	}
}

func (w *Web) dblpVenues(rw http.ResponseWriter, r *http.Request) {
	want := strings.ToLower(r.URL.Query().Get("q"))
	var hits []any
	for v := range w.opt.Venues {
		name := w.venueLong(v) + " (" + w.venueName(v) + ")"
		if !strings.Contains(strings.ToLower(name), want) {
			continue
		}
		hits = append(hits, map[string]any{"@score": "1", "@id": strconv.Itoa(v), "info": map[string]string{
			"venue": name, "acronym": w.venueName(v), "type": "Conference or Workshop", "url": "http://" + DBLPHost + "/db/" + w.venueKey(v) + "/",
		}})
	}
	sendHits(rw, r, hits)
}

// sendHits pages through the hits with f and h, as strings and without `hit`
// where there is none.
func sendHits(rw http.ResponseWriter, r *http.Request, all []any) {
	q := r.URL.Query()
	first, _ := strconv.Atoi(q.Get("f"))
	most, err := strconv.Atoi(q.Get("h"))
	if err != nil {
		most = 30
	}
	first = max(0, min(first, len(all)))
	part := all[first:min(len(all), first+max(0, most))]
	hits := map[string]any{
		"@total": strconv.Itoa(len(all)), "@computed": strconv.Itoa(len(part)),
		"@sent": strconv.Itoa(len(part)), "@first": strconv.Itoa(first),
	}
	if len(part) > 0 {
		hits["hit"] = part
	}
	body, err := json.Marshal(map[string]any{"result": map[string]any{
		"query": q.Get("q"), "status": map[string]string{"@code": "200", "text": "OK"},
		"time": map[string]string{"@unit": "msecs", "text": "1.00"}, "hits": hits,
	}})
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	send(rw, r, "application/json; charset=utf-8", body)
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

func xmlEsc(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder does not fail
	return b.String()
}

func (w *Web) dblpIndex(rw http.ResponseWriter, r *http.Request, v int) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s<bht key=\"db/%s/index.bht\" title=\"%s\">\n<h1>%s (%s)</h1>\n", xmlHead, w.venueKey(v), w.venueName(v), xmlEsc(w.venueLong(v)), w.venueName(v))
	first, last := w.Years()
	for y := last; y >= first; y-- {
		fmt.Fprintf(&b, "<h2>%d</h2>\n<dblpcites><r><proceedings key=\"%s/%d\" mdate=\"2004-03-01\"><title>%s %d, %s.</title><year>%d</year><booktitle>%s</booktitle><url>db/%s/%s%d.html</url></proceedings></r></dblpcites>\n",
			y, w.venueKey(v), y, w.venueName(v), y, xmlEsc(w.venueLong(v)), y, w.venueName(v), w.venueKey(v), w.venueShort(v), y)
	}
	b.WriteString("</bht>\n")
	send(rw, r, "application/xml; charset=utf-8", []byte(b.String()))
}

func (w *Web) dblpVolume(rw http.ResponseWriter, r *http.Request, v, year int) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s<bht key=\"db/%s/%s%d.bht\" title=\"%s %d\">\n<h1>%s %d</h1>\n<dblpcites>\n", xmlHead, w.venueKey(v), w.venueShort(v), year, w.venueName(v), year, w.venueName(v), year)
	for _, p := range w.volume(v, year) {
		b.WriteString(w.dblpRecord(p))
	}
	b.WriteString("</dblpcites>\n</bht>\n")
	send(rw, r, "application/xml; charset=utf-8", []byte(b.String()))
}

func (w *Web) dblpRecord(p *paper) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<r><inproceedings key=\"%s\" mdate=\"2004-03-01\">\n", p.key)
	for _, a := range p.authors {
		fmt.Fprintf(&b, "<author pid=\"%s\">%s</author>\n", a.pid, xmlEsc(a.name))
	}
	fmt.Fprintf(&b, "<title>%s.</title>\n<pages>%s</pages>\n<year>%d</year>\n<booktitle>%s</booktitle>\n<ee>%s</ee>\n<crossref>%s/%d</crossref>\n<url>db/%s/%s%d.html#%s</url>\n</inproceedings></r>\n",
		xmlEsc(p.title), p.pages, p.year, w.venueName(p.venue), xmlEsc(p.electronic()), w.venueKey(p.venue), p.year, w.venueKey(p.venue), w.venueShort(p.venue), p.year, p.id)
	return b.String()
}

func (w *Web) dblpPerson(rw http.ResponseWriter, r *http.Request, pid string) {
	for _, a := range w.authors {
		if a.pid != pid {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s<dblpperson name=\"%s\" pid=\"%s\" n=\"%d\">\n<person key=\"homepages/%s\" mdate=\"2004-03-01\">\n<author pid=\"%s\">%s</author>\n",
			xmlHead, xmlEsc(a.name), a.pid, len(a.papers), a.pid, a.pid, xmlEsc(a.name))
		for _, u := range a.listed {
			fmt.Fprintf(&b, "<url>%s</url>\n", xmlEsc(u))
		}
		b.WriteString("</person>\n")
		for _, p := range a.papers {
			b.WriteString(w.dblpRecord(p))
		}
		b.WriteString("</dblpperson>\n")
		send(rw, r, "application/xml; charset=utf-8", []byte(b.String()))
		return
	}
	http.NotFound(rw, r)
}
