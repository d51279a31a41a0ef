package gleaner

import (
	"fmt"
	"strconv"
	"strings"
)

// Years is a closed interval of publication years. The zero value is every year.
type Years struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// ParseYears reads "1998-2004", "1998–2004" or "2003".
func ParseYears(s string) (Years, error) {
	from, to, isRange := strings.Cut(strings.ReplaceAll(strings.TrimSpace(s), "–", "-"), "-")
	if !isRange {
		to = from
	}
	a, errA := strconv.Atoi(strings.TrimSpace(from))
	b, errB := strconv.Atoi(strings.TrimSpace(to))
	switch {
	case errA != nil || errB != nil:
		return Years{}, fmt.Errorf("years %q: want YYYY or YYYY-YYYY, such as 1998-2004", s)
	case a < 1600 || b > 2999:
		return Years{}, fmt.Errorf("years %q: outside 1600-2999", s)
	case a > b:
		return Years{}, fmt.Errorf("years %q: the first year is after the last", s)
	}
	return Years{From: a, To: b}, nil
}

// Contains reports whether y lies in the interval, ends included.
func (r Years) Contains(y int) bool { return r == (Years{}) || r.From <= y && y <= r.To }

// String is "1998-2004", "2003" for a single year, "all years" for the zero value.
func (r Years) String() string {
	if r == (Years{}) {
		return "all years"
	}
	if r.From == r.To {
		return strconv.Itoa(r.From)
	}
	return fmt.Sprintf("%d-%d", r.From, r.To)
}

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
	Links   []string `json:"links,omitempty"` // electronic editions: landing pages or documents
}

// Surnames lists the authors' surnames in order.
func (p Paper) Surnames() []string {
	out := make([]string, len(p.Authors))
	for i, a := range p.Authors {
		out[i] = a.Surname()
	}
	return out
}
