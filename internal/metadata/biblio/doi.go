package biblio

import (
	"bufio"
	"errors"
	"strings"
	"unicode/utf8"

	"gleaner/internal/gleaner"
)

// eachDOI reads a DOI a line, bare, labelled or as an address of a resolver. What it
// hands on has no title: a catalogue has to give that.
func eachDOI(br *bufio.Reader, do func(gleaner.Paper) error, bad func(*SyntaxError) error) error {
	sc := bufio.NewScanner(br)
	line := 0
	for sc.Scan() {
		line++
		s := strings.TrimSpace(sc.Text())
		if s == "" || strings.HasPrefix(s, "#") {
			continue
		}
		doi := gleaner.ParseDOI(s)
		if doi == "" || !utf8.ValidString(s) || strings.ContainsAny(s, " \t") {
			if err := tell(failAt(line, 1, "%.60q is not a DOI; want one a line, such as 10.1145/872757.872770", s), bad); err != nil {
				return err
			}
			continue
		}
		if err := do(gleaner.Paper{DOI: doi}); err != nil {
			return err
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return tell(failAt(line+1, 0, "longer than %d bytes", bufio.MaxScanTokenSize), bad)
	}
	return sc.Err()
}
