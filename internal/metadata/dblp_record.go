package metadata

import (
	"cmp"
	"strconv"
	"strings"

	"gleaner/internal/gleaner"
)

// record is one DBLP record, from whichever way it came.
type record struct {
	kind     string // element name: "inproceedings", "article", "proceedings", …
	key      string
	publtype string // "withdrawn", "informal", …
	title    string // raw
	authors  []gleaner.Author
	// rawAuthors are the authors as the dump writes them, in the same order;
	// nil from other ways, which give pids.
	rawAuthors []string
	year       int
	pages      string
	doi        string
	ee         []string // open ones first
	url        string   // where it is listed: "db/conf/x/x2003.html#Abc"
	booktitle  string   // or journal
}

// searchKinds maps the search service's words for a type to element names; what
// is not here (Editorship, Books and Theses, Withdrawn Items, Reference Works,
// Data and Artifacts) is no paper of a volume.
var searchKinds = map[string]string{
	"Conference and Workshop Papers":      "inproceedings",
	"Journal Articles":                    "article",
	"Parts in Books or Collections":       "incollection",
	"Informal and Other Publications":     "article",
	"Informal Publications":               "article",
	"Editorship":                          "proceedings",
	"Books and Theses":                    "book",
	"Reference Works":                     "reference",
	"Data and Artifacts":                  "data",
	"Withdrawn Items":                     "withdrawn",
	"Informal or Other Publications":      "article",
	"Conference or Workshop Papers":       "inproceedings",
	"Books or Theses":                     "book",
	"Parts in Books or Collections Items": "incollection",
}

// isPaper reports whether a record is one of the things that a venue publishes
// and a library collects.
func (r record) isPaper() bool {
	switch r.kind {
	case "inproceedings", "article", "incollection":
	default:
		return false
	}
	switch r.publtype {
	case "withdrawn", "data", "software", "encyclopedia", "edited":
		return false
	}
	title := cleanTitle(r.title)
	return title != "" && r.key != "" && !strings.EqualFold(r.booktitle, "Withdrawn Items") && !isFrontMatter(title)
}

// papersOf makes papers of a volume's records, each once, and counts the rest.
// A record without a year gets its volume's, where that is a single one.
func papersOf(records []record, vol Volume) (papers []gleaner.Paper, dropped int) {
	seen := map[string]bool{}
	for _, r := range records {
		if !r.isPaper() || seen[r.key] {
			dropped++
			continue
		}
		seen[r.key] = true
		p := r.paper(vol.Venue)
		p.Year = cmp.Or(p.Year, vol.Years.Single())
		papers = append(papers, p)
	}
	return papers, dropped
}

func (r record) paper(key string) gleaner.Paper {
	p := gleaner.Paper{
		Key: r.key, Venue: key, Year: r.year, Title: cleanTitle(r.title),
		DOI: gleaner.ParseDOI(r.doi), Pages: strings.TrimSpace(r.pages),
	}
	for _, a := range r.authors {
		if name := cleanName(a.Name); name != "" {
			p.Authors = append(p.Authors, gleaner.Author{PID: a.PID, Name: name})
		}
	}
	for _, link := range r.ee {
		link = strings.TrimSpace(link)
		if link == "" {
			continue
		}
		p.DOI = cmp.Or(p.DOI, gleaner.ParseDOI(link))
		p.ArXiv = cmp.Or(p.ArXiv, gleaner.LabelledArXiv(link))
		p.Links = append(p.Links, link)
	}
	p.ArXiv = cmp.Or(p.ArXiv, gleaner.LabelledArXiv(p.DOI))
	return p
}

// tocOf is the volume in which a record is listed, or "".
func (r record) tocOf() string { return tocPath(r.url) }

// tocPath takes the address of a table of contents down to the path that names
// it: "db/conf/x/x2003.html#Abc" → "db/conf/x/x2003".
func tocPath(ref string) string {
	ref, _, _ = strings.Cut(ref, "#")
	if i := strings.Index(ref, "/db/"); i >= 0 {
		ref = ref[i+1:]
	}
	ref = strings.TrimSpace(ref)
	for _, end := range []string{".html", ".htm", ".xml", ".bht"} {
		ref = strings.TrimSuffix(ref, end)
	}
	if !strings.HasPrefix(ref, "db/") || strings.HasSuffix(ref, "/") || strings.HasSuffix(ref, "/index") {
		return ""
	}
	return ref
}

// atoi returns the number that s is, or 0.
func atoi(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	return n
}

func lastSegment(key string) string {
	return key[strings.LastIndexByte(key, '/')+1:]
}
