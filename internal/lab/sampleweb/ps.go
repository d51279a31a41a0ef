package sampleweb

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// writePS sets an article as PostScript of the plainest kind, line by line.
func writePS(a article) []byte {
	type line struct {
		size int
		text string
	}
	var lines []line
	measure := newPDF("P", "") // knows how wide letters are
	add := func(size int, paragraphs ...string) {
		measure.SetFont("Times", "", float64(size))
		for _, p := range paragraphs {
			for _, l := range append(measure.SplitText(plainLetters.Replace(p), 160), "") {
				lines = append(lines, line{size, l})
			}
		}
	}
	add(16, a.title)
	add(12, strings.Join(a.authors, ", "))
	add(10, strings.ReplaceAll(a.contact, "\n", ", "))
	add(12, "Abstract")
	add(10, a.abstract)
	for _, s := range a.sections {
		add(12, s.heading)
		add(10, s.text...)
	}
	add(12, "References")
	add(10, append(a.refs, a.venue)...)

	pages := slices.Collect(slices.Chunk(lines, 56))
	var b bytes.Buffer
	fmt.Fprintf(&b, "%%!PS-Adobe-3.0\n%%%%Title: %s\n%%%%Pages: %d\n%%%%EndComments\n", a.title, len(pages))
	for i, page := range pages {
		fmt.Fprintf(&b, "%%%%Page: %d %d\n", i+1, i+1)
		for j, l := range page {
			fmt.Fprintf(&b, "/Times-Roman findfont %d scalefont setfont 60 %d moveto (%s) show\n", l.size, 770-13*j, psEscape.Replace(l.text))
		}
		b.WriteString("showpage\n")
	}
	b.WriteString("%%EOF\n")
	return b.Bytes()
}

var psEscape = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`)
