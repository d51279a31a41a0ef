package metadata

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
)

// ACL reads the ACL Anthology's own XML files, one a venue and year.
type ACL struct {
	url string
	svc *service
}

// NewACL returns a client.
func NewACL(cfg Config) *ACL {
	cfg = cfg.withDefaults()
	return &ACL{url: cfg.ACLURL, svc: newService(cfg, "the ACL Anthology", cfg.Delays.ACL)}
}

func (a *ACL) Name() string { return "acl" }

// aclLetters are the collections of before 2020, one letter a venue.
var aclLetters = map[string]string{
	"acl": "P", "naacl": "N", "emnlp": "D", "eacl": "E", "coling": "C", "cl": "J", "tacl": "Q", "conll": "K",
	"anlp": "A", "ijcnlp": "I", "lrec": "L", "muc": "M", "ranlp": "R", "semeval": "S", "tinlap": "T", "alta": "U",
	"rocling": "O", "hlt": "H", "paclic": "Y", "jep": "F", "ws": "W",
}

// newStyleYear is the first year whose collections are named by venue.
const newStyleYear = 2020

type aclCollection struct {
	ID      string      `xml:"id,attr"`
	Volumes []aclVolume `xml:"volume"`
}

type aclVolume struct {
	ID   string `xml:"id,attr"`
	Meta struct {
		Year   string   `xml:"year"`
		Venues []string `xml:"venue"`
	} `xml:"meta"`
	Papers []aclPaper `xml:"paper"`
}

type aclPaper struct {
	ID      string    `xml:"id,attr"`
	Title   rich      `xml:"title"`
	Authors []aclName `xml:"author"`
	Pages   rich      `xml:"pages"`
	DOI     string    `xml:"doi"`
	URL     string    `xml:"url"`
}

type aclName struct {
	First string `xml:"first"`
	Last  string `xml:"last"`
}

// Papers lists the venue's volumes of the years. IDs["acl"] names the venue as
// the Anthology does ("acl", "emnlp"); for a DBLP venue whose key ends so, it is
// not needed. A year without a collection is no error unless all are.
func (a *ACL) Papers(ctx context.Context, v gleaner.Venue, years gleaner.Years) ([]gleaner.Paper, error) {
	id := strings.ToLower(v.IDs["acl"])
	if id == "" {
		id = strings.ToLower(lastSegment(v.Key))
		if _, known := aclLetters[id]; !known {
			return nil, ErrNotCovered{a.Name(), v.Key, "acl"}
		}
	}
	if years == (gleaner.Years{}) {
		return nil, ErrRefused{Service: "the ACL Anthology", URL: v.Key, Reason: "it lists a venue by the year; want years (--years)"}
	}
	var out []gleaner.Paper
	found := false
	for _, year := range years.All() {
		file := fmt.Sprintf("%d.%s", year, id)
		if year < newStyleYear {
			letter, ok := aclLetters[id]
			if !ok {
				letter = "W" // workshops share a collection
			}
			file = fmt.Sprintf("%s%02d", letter, year%100)
		}
		var c aclCollection
		err := a.svc.xml(ctx, a.url+"/"+file+".xml", &c)
		if is[ErrNotFound](err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = true
		out = append(out, a.papers(c, v.Key, id, year)...)
	}
	if !found {
		return nil, ErrNoVolume{Venue: v.Key, Years: years}
	}
	return out, nil
}

func (a *ACL) papers(c aclCollection, key, id string, year int) []gleaner.Paper {
	var out []gleaner.Paper
	for _, vol := range c.Volumes {
		// A collection of old holds the workshops of its conference too.
		own := func(venue string) bool { return strings.EqualFold(strings.TrimSpace(venue), id) }
		if len(vol.Meta.Venues) > 0 && !slices.ContainsFunc(vol.Meta.Venues, own) {
			continue
		}
		for _, x := range vol.Papers {
			p := gleaner.Paper{Venue: key, Year: year, Title: cleanTitle(string(x.Title)), DOI: gleaner.ParseDOI(x.DOI), Pages: strings.ReplaceAll(string(x.Pages), "–", "-")}
			if y := atoi(vol.Meta.Year); y > 0 {
				p.Year = y
			}
			// Paper 0 is the front matter of files that know no <frontmatter>.
			if x.ID == "0" || p.Title == "" || isFrontMatter(p.Title) {
				continue
			}
			aid := aclPaperID(c.ID, vol.ID, x.ID)
			p.Key = "acl:" + aid
			for _, n := range x.Authors {
				p.Authors = append(p.Authors, gleaner.Author{Name: cleanName(n.First + " " + n.Last)})
			}
			switch {
			case strings.Contains(x.URL, "://"):
				p.Links = []string{strings.TrimSpace(x.URL)}
			case x.URL != "":
				p.Links = []string{aclSite + "/" + strings.TrimSpace(x.URL) + ".pdf"}
			}
			out = append(out, p)
		}
	}
	return out
}

// aclPaperID composes "P03-1001" (volume 1, paper 1; workshops "W03-0101") or
// "2020.acl-main.1".
func aclPaperID(collection, volume, paper string) string {
	if strings.Contains(collection, ".") {
		return collection + "-" + volume + "." + paper
	}
	width := 1
	if strings.HasPrefix(collection, "W") || collection == "C69" || (collection == "D19" && atoi(volume) >= 5) {
		width = 2
	}
	return fmt.Sprintf("%s-%0*d%0*d", collection, width, atoi(volume), 4-width, atoi(paper))
}

var (
	aclHostRE = regexp.MustCompile(`(?i)^https?://(?:www\.)?(?:aclanthology\.(?:org|info|coli\.uni-saarland\.de)|aclweb\.org)/`)
	aclIDRE   = regexp.MustCompile(`\b([A-Z]\d{2}-\d{4}|\d{4}\.[a-z0-9]+-[a-z0-9]+\.\d+)\b`)
	aclDOIRE  = regexp.MustCompile(`(?i)10\.(?:18653|3115)/v1/([a-z]\d{2}-\d{4}|\d{4}\.[a-z0-9]+-[a-z0-9]+\.\d+)$`)
)

// aclID finds the Anthology's identifier in an address of its own (in all the
// forms it has had) or in a DOI, or "".
func aclID(s string) string {
	if m := aclDOIRE.FindStringSubmatch(s); m != nil {
		if strings.Contains(m[1], ".") {
			return strings.ToLower(m[1])
		}
		return strings.ToUpper(m[1])
	}
	if aclHostRE.MatchString(s) {
		return aclIDRE.FindString(s)
	}
	return ""
}

// aclCopy is the document of an identifier. The Anthology's own terms: CC BY
// from 2016 on, CC BY-NC-SA before; year 0 leaves it open.
func aclCopy(id string, year int, source string) Copy {
	c := Copy{URL: aclSite + "/" + id + ".pdf", Version: Published, Host: AtRepository, Source: source}
	switch {
	case year >= 2016:
		c.License = "cc-by"
	case year > 0:
		c.License = "cc-by-nc-sa"
	}
	return c
}
