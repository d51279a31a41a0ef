package robots

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// normalise returns a path with query in the encoding in which rules and URLs are compared (RFC
// 9309 section 2.2.2): encoded unreserved characters are decoded, other encoded octets have
// upper-case digits, and octets that are invalid in a URI are encoded. "*" and "$" are encoded
// too, as section 2.2.3 names a literal one; patterns remove their own before.
//
// If query is set, delimiters in a query that people write in both ways (":", "/", "?", "@", ",",
// ";", "!", "'", "(", ")") are decoded, so that the RFC's "?baz=https%3A%2F%2Ffoo.bar" equals its
// plain form.
func normalise(s string, query bool) string {
	var b strings.Builder
	b.Grow(len(s) + 8)
	inQuery := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if octet, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				i += 2
				if d := octet[0]; isUnreserved(d) || inQuery && query && strings.IndexByte(":/?@,;!'()", d) >= 0 {
					b.WriteByte(d)
				} else {
					writeEncoded(&b, d)
				}
				continue
			}
		}
		if c == '?' {
			inQuery = true
		}
		if isUnreserved(c) || strings.IndexByte(":/?#[]@!&'()+,;=%", c) >= 0 {
			b.WriteByte(c)
		} else {
			writeEncoded(&b, c)
		}
	}
	return b.String()
}

func writeEncoded(b *strings.Builder, c byte) {
	fmt.Fprintf(b, "%%%02X", c)
}

// isUnreserved follows RFC 3986 section 2.3.
func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}
