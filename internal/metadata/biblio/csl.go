package biblio

import (
	"bufio"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
)

// cslItem is a paper as citation processors (CSL) take it.
type cslItem struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Title     string    `json:"title,omitempty"`
	Author    []cslName `json:"author,omitempty"`
	Issued    *cslDate  `json:"issued,omitempty"`
	Container string    `json:"container-title,omitempty"`
	Pages     string    `json:"page,omitempty"`
	DOI       string    `json:"DOI,omitempty"`
	URL       string    `json:"URL,omitempty"`
}

type cslName struct {
	Family  string `json:"family,omitempty"`
	Given   string `json:"given,omitempty"`
	Suffix  string `json:"suffix,omitempty"`
	Literal string `json:"literal,omitempty"`
}

type cslDate struct {
	Parts [][]int `json:"date-parts"`
}

func writeCSL(w *bufio.Writer, entries []Entry) {
	items, taken := make([]cslItem, len(entries)), map[string]int{}
	for i, e := range entries {
		it := cslItem{ID: citeKey(taken, e.Key, i), Type: "paper-conference", Title: e.Title, Container: e.Venue, Pages: e.Pages, DOI: e.DOI}
		switch {
		case inJournal(e.Paper):
			it.Type = "article-journal"
		case e.Venue == "":
			it.Type = "document"
		}
		for _, a := range e.Authors {
			it.Author = append(it.Author, cslNameOf(a))
		}
		if e.Year != 0 {
			it.Issued = &cslDate{Parts: [][]int{{e.Year}}}
		}
		if len(e.Links) > 0 {
			it.URL = e.Links[0]
		}
		items[i] = it
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(items)
}

func cslNameOf(a gleaner.Author) cslName {
	family, given, suffix := parts(a)
	if given == "" {
		return cslName{Literal: a.Name}
	}
	return cslName{Family: family, Given: given, Suffix: suffix}
}

// particle stands before a surname, in small letters, and is of it.
var particle = regexp.MustCompile(`^\p{Ll}+$`)

// parts are the parts of a name; what cannot be parted is all surname.
func parts(a gleaner.Author) (surname, given, suffix string) {
	surname = a.Surname()
	i := strings.LastIndex(a.Name, surname)
	given = strings.TrimSpace(a.Name[:max(0, i)])
	suffix = strings.Trim(a.Name[min(len(a.Name), max(0, i)+len(surname)):], " ,")
	for before := strings.LastIndexByte(given, ' '); before > 0 && particle.MatchString(given[before+1:]); before = strings.LastIndexByte(given, ' ') {
		surname, given = given[before+1:]+" "+surname, given[:before]
	}
	if given == "" {
		return a.Name, "", ""
	}
	return surname, given, suffix
}

// inverted is a name as "Lovelace, Ada"; the suffix is behind the surname in BibTeX, and last in RIS.
func inverted(a gleaner.Author, format Format) string {
	surname, given, suffix := parts(a)
	all := []string{surname, suffix, given}
	if format == RIS {
		all = []string{surname, given, suffix}
	}
	return strings.Join(slices.DeleteFunc(all, func(part string) bool { return part == "" }), ", ")
}
