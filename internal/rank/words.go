package rank

import (
	"strings"
	"unicode"
)

// words splits text into lower-case words of letters only. A capital after a small letter begins
// a word, so that file names are split too.
func words(s string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	small := false
	for _, r := range s {
		if !unicode.IsLetter(r) {
			flush()
			small = false
			continue
		}
		if small && unicode.IsUpper(r) {
			flush()
		}
		small = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	flush()
	return out
}
