package gleaner

import "strings"

// Author is a person as a metadata source names them. PID is the identity where
// there is one (a DBLP person id such as "233/1453"); Name carries no homonym
// number ("Wei Wang", not "Wei Wang 0001").
type Author struct {
	PID  string `json:"pid,omitempty"`
	Name string `json:"name"`
}

// ID is the author's identity: the pid, or "name:…" where no source gave one.
func (a Author) ID() string {
	if a.PID != "" {
		return a.PID
	}
	return "name:" + strings.ToLower(strings.Join(strings.Fields(a.Name), " "))
}

// Names are those of some authors, in their order.
func Names(of []Author) []string {
	out := make([]string, len(of))
	for i, a := range of {
		out[i] = a.Name
	}
	return out
}

// Surname is the last word of the name, without a generational suffix.
func (a Author) Surname() string {
	words := strings.Fields(a.Name)
	for len(words) > 1 {
		switch strings.ToLower(strings.Trim(words[len(words)-1], ".,")) {
		case "jr", "sr", "ii", "iii", "iv":
			words = words[:len(words)-1]
			continue
		}
		break
	}
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// Paper is one publication of a venue.
type Paper struct {
	Key     string   `json:"key"`   // DBLP key such as "conf/colt/alon16"; the identity
	Venue   string   `json:"venue"` // "conf/colt"
	Year    int      `json:"year"`
	Title   string   `json:"title"` // plain text, without the closing full stop
	Authors []Author `json:"authors"`
	DOI     string   `json:"doi,omitempty"`   // bare, lower case: "10.1145/…"
	ArXiv   string   `json:"arxiv,omitempty"` // bare, without version: "1609.01872"
	Pages   string   `json:"pages,omitempty"`
	Links   []string `json:"links,omitempty"`       // electronic editions: landing pages or documents
	Type    string   `json:"type,omitempty" db:"-"` // of its BibTeX entry, in lower case, where a list in BibTeX names it
}

// Surnames lists the authors' surnames in order.
func (p Paper) Surnames() []string {
	out := make([]string, len(p.Authors))
	for i, a := range p.Authors {
		out[i] = a.Surname()
	}
	return out
}
