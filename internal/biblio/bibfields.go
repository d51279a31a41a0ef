package biblio

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"gleaner/internal/gleaner"
)

func paperOfFields(key string, f map[string]string) (gleaner.Paper, error) {
	p := gleaner.Paper{
		Key:   key,
		Title: clean(unTeX(f["title"])),
		DOI:   gleaner.ParseDOI(f["doi"]),
		Pages: strings.ReplaceAll(strings.Join(strings.Fields(f["pages"]), ""), "--", "-"),
	}
	if s := unTeX(f["subtitle"]); s != "" {
		p.Title += ": " + clean(s)
	}
	for _, name := range []string{"year", "date"} {
		if p.Year != 0 || f[name] == "" {
			continue
		}
		y, ok := yearOf(unTeX(f[name]))
		if !ok && name == "year" && strings.ContainsAny(f[name], "0123456789") {
			return p, fmt.Errorf("%q is not a year", f[name])
		}
		p.Year = y
	}
	for _, a := range splitAnd(f["author"]) {
		if name := unTeX(a); name != "" && !strings.EqualFold(name, "others") {
			p.Authors = append(p.Authors, gleaner.Author{Name: turned(name)})
		}
	}
	for _, name := range []string{"venue", "booktitle", "journal", "journaltitle"} {
		if p.Venue == "" {
			p.Venue = unTeX(f[name])
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

// accents are the combining marks of TeX's accent commands.
var accents = map[string]rune{
	"`": 0x300, "'": 0x301, "^": 0x302, "~": 0x303, "=": 0x304, "u": 0x306, ".": 0x307,
	`"`: 0x308, "r": 0x30a, "H": 0x30b, "v": 0x30c, "d": 0x323, "c": 0x327, "k": 0x328, "b": 0x331,
}

// symbols are the letters and signs that TeX has commands for.
var symbols = map[string]string{
	"o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å",
	"i": "ı", "j": "ȷ", "dh": "ð", "th": "þ", "textendash": "–", "textemdash": "—", "ldots": "…", "dots": "…", "ell": "ℓ",
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "lambda": "λ", "mu": "μ",
	"pi": "π", "sigma": "σ", "tau": "τ", "phi": "φ", "omega": "ω", "Omega": "Ω", "Sigma": "Σ", "Delta": "Δ", "Lambda": "Λ",
	"textasciitilde": "~", "textunderscore": "_", "infty": "∞", "times": "×", "textregistered": "®", "textquotesingle": "'", "textbraceleft": "{", "textbraceright": "}", "textasciicircum": "^", "textbackslash": `\`,
}

// unTeX turns a field into plain text: accents and letters as Unicode, other
// commands and braces gone.
func unTeX(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '{', '}', '$':
			i++
		case '~':
			b.WriteByte(' ')
			i++
		case '\\':
			text, n := command(s[i+1:])
			b.WriteString(text)
			i += 1 + n
		case '-':
			n := len(s[i:]) - len(strings.TrimLeft(s[i:], "-"))
			b.WriteString([]string{"", "-", "–", "—"}[min(n, 3)])
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return strings.Join(strings.Fields(norm.NFC.String(b.String())), " ")
}

// command reads one TeX command behind its backslash and returns what it prints
// and how many bytes it takes.
func command(s string) (text string, n int) {
	if s == "" {
		return "", 0
	}
	for n < len(s) && (s[n]|0x20) >= 'a' && (s[n]|0x20) <= 'z' {
		n++
	}
	if n == 0 {
		n = 1
	}
	name := s[:n]
	if mark, ok := accents[name]; ok {
		letter, m := accented(s[n:])
		if letter != 0 {
			return string([]rune{letter, mark}), n + m
		}
		return "", n
	}
	if t, ok := symbols[name]; ok {
		if n < len(s) && s[n] == ' ' {
			n++
		}
		return t, n
	}
	if name[0] > 0x7f || strings.IndexByte("&%$#_{}-,;:! \\/", name[0]) >= 0 {
		switch name[0] {
		case '&', '%', '$', '#', '_', '{', '}':
			return name, n
		case ' ', '\\', ',', ';', ':':
			return " ", n
		}
		return "", min(n, 1)
	}
	if n < len(s) && s[n] == ' ' && unicode.IsLetter(rune(name[0])) {
		n++ // TeX eats the space behind a command
	}
	return "", n
}

// accented finds the letter that an accent goes on: \'e, \'{e}, \'{\i}, \v c.
func accented(s string) (letter rune, n int) {
	rest := strings.TrimLeft(s, " {")
	n = len(s) - len(rest)
	if strings.HasPrefix(rest, `\i`) || strings.HasPrefix(rest, `\j`) {
		return rune(rest[1]), n + 2
	}
	if r, size := utf8.DecodeRuneInString(rest); unicode.IsLetter(r) {
		return r, n + size
	}
	return 0, 0
}

func writeBibTeX(w io.Writer, papers []gleaner.Paper) error {
	for i, p := range papers {
		var b strings.Builder
		kind, in := "inproceedings", "booktitle"
		if strings.HasPrefix(p.Venue, "journals/") {
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
