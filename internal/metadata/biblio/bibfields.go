package biblio

import (
	"cmp"
	"fmt"
	"strings"

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
		p.Venue = cmp.Or(p.Venue, text.FromTeX(f[name]))
	}
	for _, name := range []string{"arxiv", "eprint"} {
		p.ArXiv = cmp.Or(p.ArXiv, gleaner.ParseArXiv(f[name]))
	}
	if u := strings.TrimSpace(f["url"] + " " + f["also"]); u != "" {
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
