package robots

import "strings"

const upperHex = "0123456789ABCDEF"

// normalise brings a path with query into the one encoding in which rules and
// URLs are compared (RFC 9309 section 2.2.2): an encoded unreserved character
// is decoded, every other encoded octet has upper-case digits, and octets that
// may not stand in a URI are encoded. "*" and "$" are encoded too, as section
// 2.2.3 names a literal one; patterns set theirs aside before.
//
// Within a query, where nothing hangs on them, the delimiters that people write
// either way (":", "/", "?", "@", ",", ";", "!", "'", "(", ")") are decoded if
// query is set, so that the RFC's "?baz=https%3A%2F%2Ffoo.bar" and the same
// typed plainly are one.
func normalise(s string, query bool) string {
	var b strings.Builder
	b.Grow(len(s) + 8)
	inQuery := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			d := unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
			if isUnreserved(d) || (inQuery && query && strings.IndexByte(":/?@,;!'()", d) >= 0) {
				b.WriteByte(d)
			} else {
				writeEncoded(&b, d)
			}
			continue
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
	b.WriteByte('%')
	b.WriteByte(upperHex[c>>4])
	b.WriteByte(upperHex[c&15])
}

// isUnreserved follows RFC 3986 section 2.3.
func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	default:
		return c - '0'
	}
}
