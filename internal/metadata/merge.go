package metadata

import (
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/text"
)

// Listing is one source's list of a venue's papers.
type Listing struct {
	Source string
	Papers []gleaner.Paper
	// Enrich says that the source may complete papers which others list, but
	// not say what belongs to the venue.
	Enrich bool
}

// Record is one paper as all sources together know it.
type Record struct {
	Paper gleaner.Paper `json:"paper"`
	gleaner.Origin
}

// Merge makes one list of several. The lists come in the order of trust: the
// first that has a field decides it, the others add what is missing and are
// named where they agree. Records of one source are never taken for one another
// unless they share an identifier: a source knows its own papers apart. Two
// records are one paper when match.Records says so for sure.
func Merge(lists ...Listing) []Record {
	var out []Record
	for _, list := range lists {
		before := newPaperIndex(Papers(out))
		ids := map[string]int{} // within this list
		for _, p := range list.Papers {
			if i, ok := ids[identity(p)]; ok {
				out[i].add(list.Source, p, "")
				continue
			}
			i, why := before.find(p)
			switch {
			case i >= 0:
				out[i].add(list.Source, p, list.Source+": "+why)
			case list.Enrich:
				continue
			default:
				i = len(out)
				out = append(out, newRecord(list.Source, p))
			}
			before.taken[i] = true
			ids[identity(p)] = i
		}
	}
	return out
}

// identity is what makes two records of one source the same.
func identity(p gleaner.Paper) string {
	if p.Key != "" {
		return p.Key
	}
	if p.DOI != "" {
		return "doi:" + p.DOI
	}
	return text.Normalise(p.Title) + "|" + strings.Join(p.Surnames(), ",")
}

func newRecord(source string, p gleaner.Paper) Record {
	r := Record{Paper: gleaner.Paper{Key: p.Key, Venue: p.Venue}, Origin: gleaner.Origin{IDs: map[string]string{}, From: map[string][]string{}}}
	r.add(source, p, "")
	return r
}

// add takes over what p knows and the record does not.
func (r *Record) add(source string, p gleaner.Paper, why string) {
	r.Sources = appendNew(r.Sources, source)
	r.Why = appendNew(r.Why, why)
	r.identify(source, p)
	merge := func(field string, have *string, v string, same bool) {
		switch {
		case v == "":
		case *have == "":
			*have = v
			r.From[field] = []string{source}
		case same:
			r.From[field] = appendNew(r.From[field], source)
		default:
			r.differ(field, source, v)
		}
	}
	own := &r.Paper
	merge("title", &own.Title, p.Title, text.Normalise(own.Title) == text.Normalise(p.Title))
	merge("doi", &own.DOI, p.DOI, own.DOI == p.DOI)
	merge("arxiv", &own.ArXiv, p.ArXiv, own.ArXiv == p.ArXiv)
	merge("pages", &own.Pages, p.Pages, text.Normalise(own.Pages) == text.Normalise(p.Pages))
	year := biblio.Year(own.Year)
	merge("year", &year, biblio.Year(p.Year), own.Year == p.Year)
	own.Year = atoi(year)
	r.addAuthors(source, p.Authors)
	for _, l := range p.Links {
		before := len(own.Links)
		if before >= maxLinks {
			break
		}
		if own.Links = appendNew(own.Links, l); len(own.Links) > before {
			r.From["links"] = appendNew(r.From["links"], source)
		}
	}
}

// addAuthors keeps the first list whole: identities of one catalogue are worth
// more together than names picked from several.
func (r *Record) addAuthors(source string, authors []gleaner.Author) {
	own := r.Paper.Authors
	switch {
	case len(authors) == 0:
	case len(own) == 0:
		r.Paper.Authors = append([]gleaner.Author(nil), authors...)
		r.From["authors"] = []string{source}
	case len(own) == len(authors):
		r.From["authors"] = appendNew(r.From["authors"], source)
		for i, a := range authors {
			if own[i].PID == "" && text.Normalise(own[i].Surname()) == text.Normalise(a.Surname()) {
				own[i].PID = a.PID
			}
		}
	default:
		r.differ("authors", source, strings.Join(gleaner.Paper{Authors: authors}.Surnames(), ", "))
	}
}

// mostDiffer bounds what is kept of what sources say otherwise about one field.
const mostDiffer = 20

func (r *Record) differ(field, source, value string) {
	if r.Differ == nil {
		r.Differ = map[string][]string{}
	}
	if said := r.Differ[field]; len(said) < mostDiffer {
		r.Differ[field] = appendNew(said, source+": "+value)
	}
}

// identify notes the identifiers that p carries.
func (r *Record) identify(source string, p gleaner.Paper) {
	set := func(kind, v string) {
		if _, ok := r.IDs[kind]; !ok && v != "" {
			r.IDs[kind] = v
		}
	}
	if kind, id, ok := strings.Cut(p.Key, ":"); ok && kind != "oai" && kind != "papers" && !strings.Contains(kind, "/") {
		set(kind, id)
	} else if p.Key != "" {
		set(source, p.Key)
	}
	set("doi", p.DOI)
	set("arxiv", p.ArXiv)
	set("acl", aclID(p.DOI))
	for _, l := range p.Links {
		set("acl", aclID(l))
	}
}

// Papers takes the papers out of merged records.
func Papers(records []Record) []gleaner.Paper {
	return each.Of(records, func(r Record) gleaner.Paper { return r.Paper })
}
