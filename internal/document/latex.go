package document

import (
	"fmt"
	"strings"

	"gleaner/internal/text"
)

// readLaTeX takes the text of a whole LaTeX document. A part of one, or a style,
// is a source.
func (r *Reader) readLaTeX(p Part, t *Text) {
	t.Reader = "latex"
	src := string(head(p.Body, mostText))
	preamble, body, ok := strings.Cut(src, `\begin{document}`)
	if !ok {
		t.end(SourceOnly, "a part of a paper's source, not a paper")
		return
	}
	body, _, _ = strings.Cut(body, `\end{document}`)
	if _, title, ok := strings.Cut(preamble, `\title`); ok {
		title, _ = argument(title)
		t.Title = text.FromTeX(withoutComments(title))
	}
	l := &latex{head: preambleNames(preamble)}
	l.scan(withoutComments(body))
	var out strings.Builder
	for line := range strings.Lines(l.out.String()) {
		out.WriteString(text.FromTeX(strings.TrimRight(line, "\n")))
		out.WriteByte('\n')
	}
	r.settlePlain(t, clean(out.String()))
}

// preambleNames are title and authors, where they stand before the document.
func preambleNames(preamble string) string {
	out := ""
	for _, name := range []string{`\title`, `\author`} {
		if _, rest, ok := strings.Cut(preamble, name); ok {
			a, _ := argument(rest)
			out += strings.ReplaceAll(withoutComments(a), `\\`, "\n") + "\n"
		}
	}
	return out
}

// withoutComments cuts each line at a percent sign that no backslash is before.
func withoutComments(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		for i := 0; i < len(line); i++ {
			if line[i] == '\\' {
				i++
			} else if line[i] == '%' {
				line = line[:i] + "\n"
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// longestArgument bounds how far the end of an argument is looked for, in bytes.
const longestArgument = 2000

// argument reads {…} or […] with what stands in it, and says how many bytes it
// takes; 0 where there is none.
func argument(s string) (in string, n int) {
	at := 0
	for at < min(len(s), 80) && strings.IndexByte(" \t\n", s[at]) >= 0 {
		at++
	}
	if at >= len(s) || s[at] != '{' && s[at] != '[' {
		return "", 0
	}
	depth := 0
	for i := at; i < min(len(s), at+longestArgument); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return s[at+1 : i], i + 1
			}
		}
	}
	return "", 0
}

// latex turns a document's body into lines that hold at most accents and braces.
type latex struct {
	head  string // for \maketitle
	out   strings.Builder
	items int
	ends  []bool // of the open braces, whether a line ends with them
}

func (l *latex) scan(s string) {
	for i := 0; i < len(s) && l.out.Len() < mostText; {
		switch c := s[i]; c {
		case '\\':
			i++
			n := 0
			for i+n < len(s) && (s[i+n]|0x20) >= 'a' && (s[i+n]|0x20) <= 'z' {
				n++
			}
			if n == 0 {
				i += l.sign(s[i:])
				continue
			}
			i += n + l.command(s[i:i+n], s[i+n:])
		case '{':
			l.ends = append(l.ends, false)
			l.out.WriteByte(c)
			i++
		case '}':
			l.out.WriteByte(c)
			if k := len(l.ends) - 1; k >= 0 {
				if l.ends[k] {
					l.out.WriteByte('\n')
				}
				l.ends = l.ends[:k]
			}
			i++
		default:
			l.out.WriteByte(c)
			i++
		}
	}
}

// sign takes a command that is no word: a line's end, or an accent, which is left.
func (l *latex) sign(s string) int {
	if s == "" {
		return 0
	}
	if s[0] == '\\' {
		l.out.WriteByte('\n')
		return 1
	}
	l.out.WriteString(`\` + s[:1])
	return 1
}

// command takes a command by its name and returns how many bytes behind it went
// with it.
func (l *latex) command(name, rest string) int {
	switch name {
	case "section", "subsection", "subsubsection", "chapter", "paragraph", "title", "author", "caption":
		n := 0
		if strings.HasPrefix(rest, "*") {
			n = 1
		}
		if at := n; strings.HasPrefix(rest[at:], "[") {
			_, k := argument(rest[at:])
			n += k
		}
		l.out.WriteByte('\n')
		if strings.HasPrefix(rest[n:], "{") {
			l.ends = append(l.ends, true)
			l.out.WriteByte('{')
			n++
		}
		return n
	case "begin", "end":
		env, n := argument(rest)
		switch {
		case name == "end":
		case env == "abstract":
			l.out.WriteString("\n\nAbstract\n")
		case env == "thebibliography":
			l.out.WriteString("\n\nReferences\n")
			_, k := argument(rest[n:])
			n += k
		}
		l.out.WriteByte('\n')
		return n
	case "maketitle":
		l.out.WriteString("\n" + l.head + "\n")
	case "bibitem":
		l.items++
		fmt.Fprintf(&l.out, "\n[%d] ", l.items)
		return arguments(rest)
	case "item":
		l.out.WriteString("\n• ")
	case "newpage", "clearpage":
		l.out.WriteByte('\f')
	case "cite", "citep", "citet", "citeauthor", "citeyear", "ref", "eqref", "pageref":
		l.out.WriteString("[1]")
		return arguments(rest)
	case "label", "includegraphics", "input", "include", "vspace", "hspace", "bibliographystyle", "bibliography", "pagestyle", "thispagestyle", "setlength", "setcounter",
		"newcommand", "renewcommand", "def", "usepackage", "documentclass":
		return arguments(rest)
	default:
		l.out.WriteString(`\` + name)
	}
	return 0
}

// arguments is how many bytes the next arguments take, three at most.
func arguments(s string) (n int) {
	for range 3 {
		_, k := argument(s[n:])
		if k == 0 {
			return n
		}
		n += k
	}
	return n
}
