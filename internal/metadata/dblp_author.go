package metadata

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// pidRE is DBLP's id of a person: "65/2885", "l/AdaLovelace", "07/627-1".
var pidRE = regexp.MustCompile(`^[A-Za-z0-9]+/[A-Za-z0-9_-]+$`)

// personID takes what names a person in DBLP's way ("65/2885", the address of the
// page) to the id, or "".
func personID(s string) string {
	if i := strings.Index(s, "/pid/"); i >= 0 {
		s = s[i+len("/pid/"):]
	}
	for _, end := range []string{".html", ".xml"} {
		s = strings.TrimSuffix(s, end)
	}
	if !pidRE.MatchString(s) {
		return ""
	}
	return s
}

// ResolveAuthor finds the person that is meant by "65/2885", the address of a page of
// DBLP's, or a name. errNotOnePerson where that is nobody, or several.
func (d *DBLP) ResolveAuthor(ctx context.Context, name string) (gleaner.Author, error) {
	name = strings.TrimSpace(name)
	if pid := personID(name); pid != "" {
		p, err := d.Person(ctx, pid)
		if is[ErrNotFound](err) || err == nil && p.Ambiguous {
			err = errNotOnePerson{Name: name, Several: p.Ambiguous}
		}
		return p.Author, err
	}
	found, err := d.Authors(ctx, name)
	if err != nil {
		return gleaner.Author{}, fmt.Errorf("DBLP's search for people did not answer: name %q by DBLP's id, such as 65/2885, "+
			"or set dblp-url or dblp-mirror-url to a DBLP that has the search: %w", name, err)
	}
	exact := each.Where(found, func(a gleaner.Author) bool {
		return text.Normalise(cleanName(a.Name)) == text.Normalise(cleanName(name))
	})
	if len(exact) != 1 {
		if len(exact) > 0 {
			found = exact
		}
		return gleaner.Author{}, errNotOnePerson{Name: name, Found: found, Several: len(exact) > 1}
	}
	return gleaner.Author{PID: exact[0].PID, Name: cleanName(exact[0].Name)}, nil
}

// Authors searches for people by name. The names carry DBLP's numbers of homonyms.
func (d *DBLP) Authors(ctx context.Context, name string) ([]gleaner.Author, error) {
	return first(ctx, &d.ways, at(d, "search", func(ctx context.Context, b base) ([]gleaner.Author, error) {
		return b.searchAuthors(ctx, name)
	}))
}

func (b base) searchAuthors(ctx context.Context, name string) ([]gleaner.Author, error) {
	found, err := searchHits[struct {
		Author string `json:"author"`
		URL    string `json:"url"`
	}](ctx, b, "author", name)
	var out []gleaner.Author
	for _, a := range found {
		if pid := personID(a.URL); pid != "" {
			out = append(out, gleaner.Author{PID: pid, Name: visible(a.Author)})
		}
	}
	return out, err
}

// PapersOf lists the papers of a person as DBLP has them, each with the venue that
// its key names. errNotOnePerson where DBLP has no such person.
func (d *DBLP) PapersOf(ctx context.Context, pid string) ([]gleaner.Paper, error) {
	records, err := first(ctx, &d.ways, at(d, "pages", func(ctx context.Context, b base) (records []record, err error) {
		_, err = b.personPage(ctx, pid, func(r record) { records = append(records, r) })
		return records, err
	}))
	if is[ErrNotFound](err) {
		return nil, errNotOnePerson{Name: pid}
	}
	papers, _ := papersOf(records, Volume{})
	for i := range papers {
		if at := strings.LastIndexByte(papers[i].Key, '/'); at > 0 {
			papers[i].Venue = papers[i].Key[:at]
		}
	}
	return papers, err
}
