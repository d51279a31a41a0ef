package sampleweb

import (
	"bytes"
	"fmt"
	"strings"
)

// writePS sets an article as PostScript of the plainest kind, line by line.
func writePS(a article) []byte {
	type line struct {
		size int
		text string
	}
	var lines []line
	add := func(size, width int, text string) {
		for _, l := range wrap(plainLetters.Replace(text), width) {
			lines = append(lines, line{size, l})
		}
		lines = append(lines, line{size, ""})
	}
	add(16, 56, a.title)
	add(12, 76, strings.Join(a.authors, ", "))
	add(10, 96, strings.ReplaceAll(a.contact, "\n", ", "))
	add(12, 76, "Abstract")
	add(10, 96, a.abstract)
	for _, s := range a.sections {
		add(12, 76, s.heading)
		for _, p := range s.text {
			add(10, 96, p)
		}
	}
	add(12, 76, "References")
	for _, ref := range a.refs {
		add(10, 96, ref)
	}
	add(10, 96, a.venue)

	const linesPerPage = 56
	pages := (len(lines) + linesPerPage - 1) / linesPerPage
	var b bytes.Buffer
	fmt.Fprintf(&b, "%%!PS-Adobe-3.0\n%%%%Title: %s\n%%%%Pages: %d\n%%%%EndComments\n", a.title, pages)
	for page := range pages {
		fmt.Fprintf(&b, "%%%%Page: %d %d\n", page+1, page+1)
		for i, l := range lines[page*linesPerPage : min(len(lines), (page+1)*linesPerPage)] {
			if l.text == "" {
				continue
			}
			fmt.Fprintf(&b, "/Times-Roman findfont %d scalefont setfont 60 %d moveto (%s) show\n", l.size, 770-13*i, psEscape.Replace(l.text))
		}
		b.WriteString("showpage\n")
	}
	b.WriteString("%%EOF\n")
	return b.Bytes()
}

var psEscape = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`)

func wrap(text string, width int) []string {
	var lines []string
	cur := ""
	for _, word := range strings.Fields(text) {
		if cur != "" && len(cur)+1+len(word) > width {
			lines = append(lines, cur)
			cur = ""
		}
		if cur != "" {
			cur += " "
		}
		cur += word
	}
	return append(lines, cur)
}
