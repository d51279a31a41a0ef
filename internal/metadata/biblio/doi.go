package biblio

import (
	"bufio"
	"iter"
	"strings"
	"unicode/utf8"

	"gleaner/internal/gleaner"
)

// doiPapers reads a DOI a line, bare, labelled or as an address of a resolver. The papers have no
// title: a catalogue has to supply it.
func doiPapers(br *bufio.Reader) iter.Seq2[gleaner.Paper, error] {
	return byLine(br, bufio.MaxScanTokenSize, func(s string, line int) (p gleaner.Paper, begins int, err error) {
		s = strings.TrimSpace(s)
		if s == "" || strings.HasPrefix(s, "#") {
			return p, 0, nil
		}
		p.DOI = gleaner.ParseDOI(s)
		if p.DOI == "" || !utf8.ValidString(s) || strings.ContainsAny(s, " \t") {
			return p, 0, failAt(line, 1, "%.60q is not a DOI; want one a line, such as 10.1145/872757.872770", s)
		}
		return p, line, nil
	})
}
