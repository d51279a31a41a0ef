package metadata

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
)

// maxPersonTitles bounds the titles kept with a person; the newest come first.
const maxPersonTitles = 100

// personPage reads /pid/<pid>.xml.
func (b base) personPage(ctx context.Context, pid string) (Person, error) {
	body, addr, err := b.page(ctx, "pid/"+pid+".xml")
	if err != nil {
		return Person{}, err
	}
	p, err := parsePerson(body)
	if err == nil {
		err = p.sound()
	}
	if err != nil {
		return Person{}, ErrBadAnswer{b.svc.name, addr, err}
	}
	if p.Author.PID == "" {
		p.Author.PID = pid
	}
	return p, nil
}

// parsePerson reads a person's page. It also carries the records of namesakes
// and of co-authors, which are other people and passed over.
func parsePerson(body []byte) (Person, error) {
	var p Person
	d := newDecoder(bytes.NewReader(body), nil)
	depth, inR := 0, false
	for {
		tok, err := d.Token()
		if err == io.EOF {
			if depth != 0 || p.Author.Name == "" {
				return p, io.ErrUnexpectedEOF
			}
			return p, nil
		}
		if err != nil {
			return p, err
		}
		switch tok := tok.(type) {
		case xml.EndElement:
			depth--
			inR = false // within <r>, elements are read whole
		case xml.StartElement:
			inside, err := p.open(d, tok, inR)
			if err != nil {
				return p, err
			}
			if inside {
				depth++
				inR = tok.Name.Local == "r"
			}
		}
	}
}

// open handles an element's begin; it reports whether the element is still open.
func (p *Person) open(d *xml.Decoder, el xml.StartElement, inR bool) (bool, error) {
	name := el.Name.Local
	switch {
	case name == "dblpperson":
		p.Author = gleaner.Author{PID: attr(el, "pid"), Name: cleanName(attr(el, "name"))}
		return true, nil
	case name == "homonyms" || name == "coauthors":
		return false, d.Skip()
	case name != "person" && !inR:
		return true, nil
	}
	var x xmlRecord
	if err := d.DecodeElement(&x, &el); err != nil {
		return false, err
	}
	switch {
	case name == "person":
		p.describe(x)
	case len(p.Titles) < maxPersonTitles && x.record().isPaper():
		p.Titles = append(p.Titles, cleanTitle(string(x.Title)))
	}
	return false, nil
}

// describe takes over what the person's own record says.
func (p *Person) describe(x xmlRecord) {
	p.Ambiguous = x.PublType == "disambiguation"
	for i, a := range x.Authors {
		name := cleanName(a.Name)
		if i == 0 {
			if p.Author.PID == "" {
				p.Author.PID = a.PID
			}
			if p.Author.Name == "" {
				p.Author.Name = name
			}
		}
		if name != p.Author.Name {
			p.Aliases = appendOfPerson(p.Aliases, name)
		}
		if a.ORCID != "" {
			p.profile("orcid", "https://orcid.org/"+a.ORCID)
		}
	}
	var former []string
	for _, n := range x.Notes {
		switch {
		case n.Type != "affiliation":
		case strings.Contains(strings.ToLower(n.Label), "former"):
			former = append(former, cleanTitle(n.Text))
		default:
			p.Affiliations = appendOfPerson(p.Affiliations, cleanTitle(n.Text))
		}
	}
	p.Affiliations = append(p.Affiliations, former...)
	var outdated []string
	for _, l := range x.URL {
		if l.Type != "" {
			// "deprecated", "archive": still a hint where the person was.
			outdated = append(outdated, l.URL)
			continue
		}
		p.AddURL(l.URL)
	}
	for _, u := range outdated {
		p.AddURL(u)
	}
}

// AddURL files an address under Profiles or under URLs, whichever it is.
func (p *Person) AddURL(addr string) {
	addr = strings.TrimSpace(addr)
	if addr == "" {
		return
	}
	if kind := ProfileKind(addr); kind != "" {
		p.profile(kind, addr)
		return
	}
	p.URLs = appendOfPerson(p.URLs, addr)
}

func (p *Person) profile(kind, addr string) {
	if p.Profiles == nil {
		p.Profiles = map[string]string{}
	}
	if _, ok := p.Profiles[kind]; !ok {
		p.Profiles[kind] = addr
	}
}

// appendOfPerson is appendNew for what a person may have without end: a list that
// is too long is not made much longer, and sound refuses it.
func appendOfPerson(list []string, s string) []string {
	if len(list) > maxOfAPerson {
		return list
	}
	return appendNew(list, s)
}

func appendNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// Add takes over what another catalogue knows of the same person; what p knows
// already comes first.
func (p *Person) Add(o Person) {
	if p.Author.Name == "" {
		p.Author.Name = o.Author.Name
	}
	if p.Author.PID == "" {
		p.Author.PID = o.Author.PID
	}
	for _, u := range o.URLs {
		p.URLs = appendOfPerson(p.URLs, u)
	}
	for kind, u := range o.Profiles {
		p.profile(kind, u)
	}
	names := append([]string{o.Author.Name}, o.Aliases...)
	for _, n := range names {
		if n != p.Author.Name {
			p.Aliases = appendOfPerson(p.Aliases, n)
		}
	}
	for _, a := range o.Affiliations {
		p.Affiliations = appendOfPerson(p.Affiliations, a)
	}
	for _, t := range o.Titles {
		p.Titles = appendOfPerson(p.Titles, t)
	}
}
