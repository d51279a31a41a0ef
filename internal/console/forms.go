package console

import (
	"cmp"
	"strings"

	"gleaner/internal/each"
)

// tab is a part of the console, in the frame.
type tab struct {
	Here     bool
	To, Name string
}

// question is asked before something is done that cannot be taken back.
type question struct{ Does, Do, Lost string }

// mostTitles is how many papers a preview lists.
const mostTitles = 500

// csvOf is the address of a list as CSV: all of it, from its beginning.
func csvOf(address string) string {
	path, query, _ := strings.Cut(withParam(address, "after", ""), "?")
	return path + ".csv?" + query
}

// choice is a choice of a form in words: most are words already.
func choice(name string) string {
	words := map[string]string{
		"bibtex": "BibTeX, for LaTeX and JabRef", "ris": "RIS, for EndNote and Zotero", "csv": "CSV, a table",
		"csljson": "CSL-JSON, for Zotero and pandoc, without documents", "jsonl": "JSON Lines, for programs",
		"bfs": "bfs: every link, as it is met", "best": "best: links of pages on topic first",
		"graph":   "graph: then links of pages like those that led there",
		"gleaner": "gleaner: the words of a link and what its host brought count, too",
		"auto":    "WARC, ARC or WACZ archives, as their content says", "warc": "WARC archives", "arc": "ARC archives",
		"heritrix": "a job of Heritrix, with its crawl.log",
		"mirror":   "a mirror, as wget and HTTrack keep it", "folder": "a folder or a zip of files",
	}
	return cmp.Or(words[name], name, "–")
}

// option is a choice of a form.
type option struct {
	Name   string
	Chosen bool
}

// options are the choices of a form, with the one that holds.
func options[T ~string](names []T, chosen string) []option {
	return each.Of(names, func(n T) option { return option{string(n), string(n) == chosen} })
}

// follow is the address of the next page, "" without one.
func follow(address, next string) string {
	if next == "" {
		return ""
	}
	return withParam(address, "after", next)
}
