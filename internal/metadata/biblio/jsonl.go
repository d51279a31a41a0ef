package biblio

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"strings"

	"gleaner/internal/gleaner"
)

// maxLine bounds one line of JSON Lines, in bytes.
const maxLine = 8 << 20

// record is a paper as other programs write it too: a year as text, authors as
// text, as a list of names or of objects, links as "url".
type record struct {
	Key     string          `json:"key"`
	ID      string          `json:"id"`
	Venue   string          `json:"venue"`
	Year    json.RawMessage `json:"year"`
	Title   string          `json:"title"`
	Authors json.RawMessage `json:"authors"`
	Author  json.RawMessage `json:"author"`
	DOI     string          `json:"doi"`
	ArXiv   string          `json:"arxiv"`
	Pages   string          `json:"pages"`
	Links   []string        `json:"links"`
	URL     string          `json:"url"`
}

func jsonPapers(br *bufio.Reader) iter.Seq2[gleaner.Paper, error] {
	list := false // the rest is one
	return byLine(br, maxLine, func(s string, line int) (gleaner.Paper, int, error) {
		s = strings.TrimSpace(s)
		if list || s == "" {
			return gleaner.Paper{}, 0, nil
		}
		if list = s[0] == '['; list {
			const why = "a list in one, such as CSL-JSON, is not read: give a JSON object a line, or BibTeX, RIS or CSV"
			return gleaner.Paper{}, 0, failAt(line, 1, why)
		}
		p, err := paperOfJSON(s, line)
		return p, line, err
	})
}

func paperOfJSON(s string, line int) (gleaner.Paper, error) {
	var r record
	if err := json.Unmarshal([]byte(s), &r); err != nil {
		column := int64(1)
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			column = max(1, e.Offset)
		} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			column = max(1, e.Offset)
		}
		return gleaner.Paper{}, failAt(line, int(column), "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	p := gleaner.Paper{Key: r.Key, Venue: r.Venue, Title: clean(r.Title), DOI: gleaner.ParseDOI(r.DOI), ArXiv: gleaner.ParseArXiv(r.ArXiv), Pages: r.Pages, Links: r.Links}
	p.Key = cmp.Or(p.Key, r.ID)
	if r.URL != "" && len(p.Links) == 0 {
		p.Links = []string{r.URL}
	}
	year, ok := yearOfJSON(r.Year)
	if !ok {
		return p, failAt(line, 1, "year %s is not a year", r.Year)
	}
	p.Year = year
	if len(r.Authors) == 0 {
		r.Authors = r.Author
	}
	authors, ok := authorsOfJSON(r.Authors)
	if !ok {
		return p, failAt(line, 1, "authors: want names or objects with a name")
	}
	p.Authors = authors
	return p, nil
}

func yearOfJSON(raw json.RawMessage) (int, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return 0, true
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return yearOf(s)
	}
	n, err := strconv.Atoi(string(raw))
	return n, err == nil && (n == 0 || n >= 1600 && n <= 2999)
}

func authorsOfJSON(raw json.RawMessage) ([]gleaner.Author, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, true
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return authorsOf(s), true
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	var out []gleaner.Author
	for _, item := range list {
		var name string
		if json.Unmarshal(item, &name) == nil {
			if name = turned(name); name != "" {
				out = append(out, gleaner.Author{Name: name})
			}
			continue
		}
		var o struct {
			PID    string `json:"pid"`
			Name   string `json:"name"`
			Given  string `json:"given"`
			Family string `json:"family"`
		}
		if json.Unmarshal(item, &o) != nil {
			return nil, false
		}
		if o.Name == "" {
			o.Name = strings.TrimSpace(o.Given + " " + o.Family)
		}
		if o.Name != "" {
			out = append(out, gleaner.Author{PID: o.PID, Name: o.Name})
		}
	}
	return out, true
}

func writeJSONL(w *bufio.Writer, entries []Entry) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		_ = enc.Encode(e.Paper)
	}
}
