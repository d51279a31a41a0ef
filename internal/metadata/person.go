package metadata

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
)

// soundPerson refuses a person that no catalogue can mean.
func soundPerson(p gleaner.Person) error {
	if max(len(p.URLs), len(p.Aliases), len(p.Affiliations)) > maxOfAPerson {
		return ErrTooMuch{"addresses, names or affiliations of a person", maxOfAPerson}
	}
	if anyLonger(maxName, p.Author.Name, p.Author.PID) || anyLonger(maxName, p.Aliases...) {
		return ErrTooMuch{"bytes in a name", maxName}
	}
	if anyLonger(maxTitle, slices.Concat(p.URLs, p.Affiliations, p.Titles)...) {
		return ErrTooMuch{"bytes in an address, affiliation or title", maxTitle}
	}
	return nil
}

// anyLonger reports whether one of some texts has more than most bytes.
func anyLonger(most int, texts ...string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return len(s) > most })
}

// openPerson handles an element's begin; it reports whether the element is still open.
func openPerson(p *gleaner.Person, d *xml.Decoder, el xml.StartElement) (bool, error) {
	switch el.Name.Local {
	case "dblpperson":
		p.Author = gleaner.Author{PID: attr(el, "pid"), Name: cleanName(attr(el, "name"))}
	case "homonyms", "coauthors":
		return false, d.Skip()
	case "person":
		var x xmlRecord
		if err := d.DecodeElement(&x, &el); err != nil {
			return false, err
		}
		describePerson(p, x)
		return false, nil
	}
	return true, nil
}

// describePerson takes over what the person's own record says.
func describePerson(p *gleaner.Person, x xmlRecord) {
	p.Ambiguous = x.PublType == "disambiguation"
	for i, a := range x.Authors {
		name := cleanName(a.Name)
		if i == 0 {
			p.Author.PID = cmp.Or(p.Author.PID, a.PID)
			p.Author.Name = cmp.Or(p.Author.Name, name)
		}
		if name != p.Author.Name {
			p.Aliases = appendOfPerson(p.Aliases, name)
		}
		if a.ORCID != "" {
			addProfile(p, "orcid", "https://orcid.org/"+a.ORCID)
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
		addURL(p, l.URL)
	}
	for _, u := range outdated {
		addURL(p, u)
	}
}

// addURL files an address under Profiles or under URLs, whichever it is.
func addURL(p *gleaner.Person, addr string) {
	addr = strings.TrimSpace(addr)
	if addr == "" {
		return
	}
	if kind := profileKind(addr); kind != "" {
		addProfile(p, kind, addr)
		return
	}
	p.URLs = appendOfPerson(p.URLs, addr)
}

func addProfile(p *gleaner.Person, kind, addr string) {
	if p.Profiles == nil {
		p.Profiles = map[string]string{}
	}
	if _, ok := p.Profiles[kind]; !ok {
		p.Profiles[kind] = addr
	}
}

// AddPerson takes over what another catalogue knows of the same person; what p knows
// already comes first.
func AddPerson(p *gleaner.Person, o gleaner.Person) {
	p.Author.Name = cmp.Or(p.Author.Name, o.Author.Name)
	p.Author.PID = cmp.Or(p.Author.PID, o.Author.PID)
	p.URLs = appendOfPerson(p.URLs, o.URLs...)
	p.Affiliations = appendOfPerson(p.Affiliations, o.Affiliations...)
	p.Titles = appendOfPerson(p.Titles, o.Titles...)
	for kind, u := range o.Profiles {
		addProfile(p, kind, u)
	}
	for _, n := range append([]string{o.Author.Name}, o.Aliases...) {
		if n != p.Author.Name {
			p.Aliases = appendOfPerson(p.Aliases, n)
		}
	}
}
