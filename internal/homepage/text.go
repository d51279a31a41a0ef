package homepage

import (
	"html"
	"strings"
	"unicode"
)

// plain removes the tags and entities that search engines put into titles.
func plain(s string) string {
	if strings.ContainsRune(s, '<') {
		var b strings.Builder
		depth := 0
		for i, r := range s {
			switch {
			case r == '<' && i+1 < len(s) && (s[i+1] == '/' || unicode.IsLetter(rune(s[i+1]))):
				depth++
			case r == '>' && depth > 0:
				depth--
			case depth == 0:
				b.WriteRune(r)
			}
		}
		s = b.String()
	}
	return strings.Join(strings.Fields(html.UnescapeString(s)), " ")
}
