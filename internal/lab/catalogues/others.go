package catalogues

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

type object = map[string]any

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func crossrefItem(p gleaner.Paper) object {
	var authors []object
	for _, a := range p.Authors {
		given, family, _ := strings.Cut(a.Name, " ")
		authors = append(authors, object{"given": given, "family": family, "sequence": "additional"})
	}
	return object{
		"DOI": p.DOI, "type": "proceedings-article", "title": []string{p.Title}, "author": authors, "page": p.Pages,
		"issued": object{"date-parts": [][]int{{p.Year, 6}}}, "published-print": object{"date-parts": [][]int{{p.Year}}},
		"license": []object{{"URL": "http://creativecommons.org/licenses/by/4.0/", "content-version": "vor", "delay-in-days": 0}},
		"link":    []object{{"URL": "https://publisher.example/" + p.DOI + ".pdf", "content-type": "application/pdf", "content-version": "vor", "intended-application": "text-mining"}},
	}
}

func (s *Service) withDOI() []gleaner.Paper {
	return each.Where(s.catalogue.Papers(), func(p gleaner.Paper) bool { return p.DOI != "" })
}

// crossrefList pages by a cursor that names the next offset.
func (s *Service) crossrefList(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Rate-Limit-Limit", "10")
	w.Header().Set("X-Rate-Limit-Interval", "1s")
	q := r.URL.Query()
	rows, _ := strconv.Atoi(q.Get("rows"))
	from := 0
	if c := q.Get("cursor"); c != "*" {
		n, err := strconv.Atoi(strings.TrimPrefix(c, "c"))
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			answerJSON(w, object{"status": "failed", "message-type": "validation-failure", "message": []object{{"type": "cursor-invalid", "value": c, "message": "The cursor has expired"}}})
			return
		}
		from = n
	}
	papers := s.withDOI()
	if filter := q.Get("filter"); strings.HasPrefix(filter, "doi:") {
		asked := strings.Split(filter, ",")
		papers = slices.DeleteFunc(papers, func(p gleaner.Paper) bool { return !slices.Contains(asked, "doi:"+p.DOI) })
	}
	items := []object{}
	for i := from; i < min(len(papers), from+rows); i++ {
		items = append(items, crossrefItem(papers[i]))
	}
	answerJSON(w, object{"status": "ok", "message-type": "work-list", "message": object{
		"total-results": len(papers), "items-per-page": rows, "next-cursor": "c" + strconv.Itoa(from+len(items)), "items": items,
	}})
}

func (s *Service) crossrefWork(w http.ResponseWriter, r *http.Request) {
	doi := strings.TrimPrefix(r.URL.Path, "/works/")
	for _, p := range s.withDOI() {
		if p.DOI == doi {
			answerJSON(w, object{"status": "ok", "message-type": "work", "message": crossrefItem(p)})
			return
		}
	}
	http.Error(w, "Resource not found.", http.StatusNotFound)
}

func (s *Service) openAlex(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("api_key") == "" {
		w.WriteHeader(http.StatusUnauthorized)
		answerJSON(w, object{"error": "API key required"})
		return
	}
	wanted := map[string]bool{}
	if list, ok := strings.CutPrefix(q.Get("filter"), "doi:"); ok {
		for _, d := range strings.Split(list, "|") {
			wanted[d] = true
		}
	}
	per, _ := strconv.Atoi(q.Get("per_page"))
	from, _ := strconv.Atoi(strings.TrimPrefix(q.Get("cursor"), "*"))
	results, total, next := []object{}, 0, any(nil)
	for i, p := range s.withDOI() {
		if len(wanted) > 0 && !wanted[p.DOI] {
			continue
		}
		total++
		if total <= from {
			continue
		}
		if len(results) == per {
			next = strconv.Itoa(from + per)
			continue
		}
		location := object{"is_oa": true, "landing_page_url": "https://repo.example/" + strconv.Itoa(i), "pdf_url": "https://repo.example/" + strconv.Itoa(i) + ".pdf",
			"license": "cc-by", "version": "acceptedVersion", "source": object{"type": "repository"}}
		results = append(results, object{"id": "https://openalex.org/W" + strconv.Itoa(i+1), "doi": "https://doi.org/" + p.DOI, "title": p.Title,
			"publication_year": p.Year, "type": "article", "best_oa_location": location, "locations": []object{location}, "primary_location": nil})
	}
	answerJSON(w, object{"meta": object{"count": total, "per_page": per, "next_cursor": next}, "results": results})
}

func (s *Service) s2Papers(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		IDs []string `json:"ids"`
	}
	if json.NewDecoder(r.Body).Decode(&ask) != nil || len(ask.IDs) > 500 {
		w.WriteHeader(http.StatusBadRequest)
		answerJSON(w, object{"error": "at most 500 ids"})
		return
	}
	byDOI := map[string]gleaner.Paper{}
	for _, p := range s.withDOI() {
		byDOI["DOI:"+p.DOI] = p
	}
	out := make([]any, len(ask.IDs))
	for i, id := range ask.IDs {
		if p, ok := byDOI[id]; ok {
			out[i] = object{"paperId": fmt.Sprintf("%040d", i), "externalIds": object{"DOI": p.DOI, "CorpusId": i}, "openAccessPdf": object{"url": "", "status": "CLOSED", "license": nil}}
		}
	}
	answerJSON(w, out)
}

func (s *Service) unpaywall(w http.ResponseWriter, r *http.Request) {
	mail := r.URL.Query().Get("email")
	if mail == "" || strings.HasSuffix(mail, "@example.com") {
		w.WriteHeader(http.StatusUnprocessableEntity)
		answerJSON(w, object{"HTTP_status_code": 422, "error": true, "message": "Please use your own email address in API calls. See http://unpaywall.org/products/api"})
		return
	}
	doi := strings.TrimPrefix(r.URL.Path, "/v2/")
	for i, p := range s.withDOI() {
		if p.DOI == doi {
			at := "https://repo.example/" + strconv.Itoa(i)
			answerJSON(w, object{"doi": doi, "is_oa": true, "oa_locations": []object{
				{"url": at, "url_for_pdf": nil, "url_for_landing_page": at, "version": "publishedVersion", "license": nil, "host_type": "publisher"},
				{"url": at + ".pdf", "url_for_pdf": at + ".pdf", "url_for_landing_page": at, "version": "acceptedVersion", "license": "cc-by", "host_type": "repository"},
			}})
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
	answerJSON(w, object{"HTTP_status_code": 404, "error": true, "message": "'" + doi + "' isn't in Unpaywall."})
}

// arxiv knows every paper whose title is asked for as a phrase and whose number
// of authors is odd.
func (s *Service) arxiv(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query().Get("search_query")
	w.Header().Set("Content-Type", "application/atom+xml")
	var entries []string
	for i, p := range s.catalogue.Papers() {
		words := strings.FieldsFunc(p.Title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if len(p.Authors)%2 == 0 || !strings.Contains(q, `ti:"`+strings.Join(words, " ")+`"`) {
			continue
		}
		var b strings.Builder
		id := fmt.Sprintf("%02d%02d.%05d", p.Year%100, 1+i%12, i)
		fmt.Fprintf(&b, "<entry><id>http://arxiv.org/abs/%sv1</id><published>%d-01-01T00:00:00Z</published><title>%s</title>", id, p.Year, html.EscapeString(p.Title))
		for _, a := range p.Authors {
			fmt.Fprintf(&b, "<author><name>%s</name></author>", html.EscapeString(a.Name))
		}
		fmt.Fprintf(&b, `<link href="https://arxiv.org/abs/%sv1" rel="alternate" type="text/html"/><link href="https://arxiv.org/pdf/%sv1" rel="related" type="application/pdf" title="pdf"/></entry>`, id, id)
		entries = append(entries, b.String())
	}
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults>%d</opensearch:totalResults>%s</feed>`,
		len(entries), strings.Join(entries, ""))
}
