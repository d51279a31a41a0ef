package biblio

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

func paperOfFields(key string, f map[string]string) (gleaner.Paper, error) {
	p := gleaner.Paper{
		Key:   key,
		Title: clean(text.FromTeX(f["title"])),
		DOI:   gleaner.ParseDOI(f["doi"]),
		Pages: strings.ReplaceAll(strings.Join(strings.Fields(f["pages"]), ""), "--", "-"),
	}
	if s := text.FromTeX(f["subtitle"]); s != "" {
		p.Title += ": " + clean(s)
	}
	for _, name := range []string{"year", "date"} {
		if p.Year != 0 || f[name] == "" {
			continue
		}
		y, ok := yearOf(text.FromTeX(f[name]))
		if !ok && name == "year" && strings.ContainsAny(f[name], "0123456789") {
			return p, fmt.Errorf("%q is not a year", f[name])
		}
		p.Year = y
	}
	for _, a := range splitAnd(f["author"]) {
		if name := text.FromTeX(a); name != "" && !strings.EqualFold(name, "others") {
			p.Authors = append(p.Authors, gleaner.Author{Name: turned(name)})
		}
	}
	for _, name := range []string{"venue", "booktitle", "journal", "journaltitle"} {
		if p.Venue == "" {
			p.Venue = text.FromTeX(f[name])
		}
	}
	for _, name := range []string{"arxiv", "eprint"} {
		if p.ArXiv == "" {
			p.ArXiv = gleaner.ParseArXiv(f[name])
		}
	}
	if u := strings.TrimSpace(f["url"]); u != "" {
		p.Links = strings.Fields(strings.NewReplacer(`\url`, "", "{", "", "}", "", `\_`, "_", `\%`, "%", `\&`, "&", `\#`, "#").Replace(u))
	}
	return p, nil
}

// splitAnd splits names at " and " outside braces: "{Barnes and Noble}" is one.
func splitAnd(s string) []string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return nil
	}
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth--
		case depth == 0 && len(s) >= i+5 && strings.EqualFold(s[i:i+5], " and "):
			out = append(out, s[start:i])
			start = i + 5
			i += 4
		}
	}
	return append(out, s[start:])
}

// inJournal tells by the keys that catalogues give.
func inJournal(p gleaner.Paper) bool {
	return strings.HasPrefix(p.Venue, "journals/") || strings.HasPrefix(p.Key, "journals/")
}

func writeBibTeX(w io.Writer, papers []gleaner.Paper) error {
	for i, p := range papers {
		var b strings.Builder
		kind, in := "inproceedings", "booktitle"
		if inJournal(p) {
			kind, in = "article", "journal"
		}
		key := strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || strings.ContainsRune(`,{}()"#%=\~@`, r) {
				return -1
			}
			return r
		}, p.Key)
		if key == "" {
			key = fmt.Sprintf("paper%d", i+1)
		}
		fmt.Fprintf(&b, "@%s{%s,\n", kind, key)
		field := func(name, v string) {
			if v = strings.Join(strings.Fields(v), " "); v != "" {
				fmt.Fprintf(&b, "  %-9s = {%s},\n", name, v)
			}
		}
		field("title", toTeX(p.Title))
		as := make([]string, len(p.Authors))
		for i, a := range p.Authors {
			as[i] = toTeX(inverted(a))
		}
		field("author", strings.Join(as, " and "))
		if p.Year != 0 {
			field("year", fmt.Sprint(p.Year))
		}
		field(in, toTeX(p.Venue))
		field("pages", strings.ReplaceAll(toTeX(p.Pages), "-", "--"))
		field("doi", verbatim.Replace(p.DOI))
		field("eprint", verbatim.Replace(p.ArXiv))
		field("url", verbatim.Replace(strings.Join(p.Links, " ")))
		b.WriteString("}\n\n")
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// verbatim writes identifiers and addresses, which styles take as they are: what
// would end the field, or the entry, is written as in an address.
var verbatim = strings.NewReplacer("{", "%7B", "}", "%7D", `\`, "%5C")

// toTeX escapes what means something to TeX; letters stay Unicode, as today's
// BibTeX engines read them. An escaped brace counts as a brace all the same
// where BibTeX balances them, so braces are written by name.
func toTeX(s string) string { return escaped.Replace(s) }

var escaped = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"{", `\textbraceleft{}`, "}", `\textbraceright{}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`)
