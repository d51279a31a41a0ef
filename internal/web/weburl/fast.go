package weburl

import (
	"bytes"
	"net/netip"
	"strings"
)

// The classes of bytes that the short way lets through as they are. Whatever
// has another goes the long way.
const (
	inPath  = 1 << iota // stands for itself in a canonical path
	inQuery             // stands for itself in a canonical query
	inHost              // may stand in a plain host name
	unreserved
)

// classes gives the classes of each byte (RFC 3986, sections 2.2, 2.3 and 3.3;
// the apostrophe is escaped in queries as WHATWG asks).
var classes = func() (t [256]uint8) {
	for c := range 256 {
		lower, digit := c|0x20 >= 'a' && c|0x20 <= 'z' && c < 0x80, c >= '0' && c <= '9'
		if lower || digit || (c < 0x80 && strings.IndexByte("-._~", byte(c)) >= 0) {
			t[c] |= inPath | inQuery | unreserved
		}
		if (c >= 'a' && c <= 'z') || digit || c == '-' || c == '.' {
			t[c] |= inHost
		}
	}
	for _, c := range []byte("!$&'()*+,;=:@/[]") {
		t[c] |= inPath | inQuery
	}
	t['?'] |= inQuery
	t['\''] &^= inQuery
	return t
}()

// fast canonicalises plain references against plain bases without a parser. It
// declines (false) whatever it is not sure of.
func fast(base, ref string) (string, bool) {
	if i := strings.IndexByte(ref, '#'); i >= 0 {
		ref = ref[:i]
	}
	if rest, scheme := webScheme(ref); scheme != "" {
		host, path, query, ok := plainParts(rest)
		if !ok || !plainHost(host, scheme) || needsCare(path) {
			return "", false
		}
		return join(scheme, host, path, query, ref), true
	}
	if base == "" || strings.HasPrefix(ref, "//") {
		return "", false
	}
	rest, scheme := webScheme(base)
	if scheme == "" {
		return "", false
	}
	host, bpath, bquery, ok := plainParts(rest)
	if !ok || !plainHost(host, scheme) || strings.Contains(bpath, "/.") {
		return "", false
	}
	path, query, ok := resolve(bpath, bquery, ref)
	if !ok || needsCare(path) {
		return "", false
	}
	return join(scheme, host, path, query, ""), true
}

// webScheme cuts "http://" or "https://" off s.
func webScheme(s string) (rest, scheme string) {
	switch {
	case strings.HasPrefix(s, "http://"):
		return s[len("http://"):], "http"
	case strings.HasPrefix(s, "https://"):
		return s[len("https://"):], "https"
	}
	return s, ""
}

// plainParts cuts what follows the scheme, and says whether path and query are
// made of plain bytes only.
func plainParts(rest string) (host, path, query string, ok bool) {
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ = strings.Cut(rest, "?")
	host, path = rest, "/"
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	return host, path, query, plain(path, inPath) && plain(query, inQuery)
}

// resolve merges a relative reference into the path of its base (RFC 3986,
// section 5.2.3).
func resolve(bpath, bquery, ref string) (path, query string, ok bool) {
	if ref == "" {
		return bpath, bquery, true
	}
	rpath, query, hasQuery := strings.Cut(ref, "?")
	if !plain(rpath, inPath) || !plain(query, inQuery) {
		return "", "", false
	}
	switch {
	case rpath == "" && hasQuery:
		return bpath, query, true
	case rpath[0] == '/':
		return rpath, query, true
	case strings.IndexByte(rpath, ':') >= 0:
		return "", "", false // it may be a scheme
	}
	return bpath[:strings.LastIndexByte(bpath, '/')+1] + rpath, query, true
}

// plain says whether all of s is of a class, escapes included that are in
// normal form already.
func plain(s string, class uint8) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if classes[c]&class != 0 {
			continue
		}
		if c != '%' || i+2 >= len(s) || !normalEscape(s[i+1], s[i+2]) {
			return false
		}
		i += 2
	}
	return true
}

// normalEscape says whether %hl has upper-case digits and has to be an escape.
func normalEscape(h, l byte) bool {
	hi, lo := unhex(h), unhex(l)
	if hi < 0 || lo < 0 || h >= 'a' || l >= 'a' {
		return false
	}
	return classes[byte(hi<<4|lo)]&unreserved == 0
}

// unhex is the value of a hexadecimal digit, or -1.
func unhex(c byte) int {
	i := strings.IndexByte("0123456789ABCDEFabcdef", c)
	if i >= 16 {
		return i - 6
	}
	return i
}

// needsCare says whether a path may carry a session id: those are found and
// taken out on the long way.
func needsCare(path string) bool {
	return strings.IndexByte(path, ';') >= 0 || strings.Contains(path, "/(")
}

// plainHost says whether a host (with an optional port) is in canonical form
// for sure: a lower-case name that cannot be read as a number, or a dotted IPv4.
func plainHost(host, scheme string) bool {
	name, port, hasPort := strings.Cut(host, ":")
	if hasPort && !plainPort(port, scheme) {
		return false
	}
	if name == "" || len(name) > maxHost {
		return false
	}
	label := 0 // where the present label starts
	for i := 0; i < len(name); i++ {
		c := name[i]
		if classes[c]&inHost == 0 {
			return false
		}
		if c == '.' {
			if i == label || i-label > 63 {
				return false
			}
			label = i + 1
		}
		if c == '-' && (i == label || i+1 < len(name) && name[i+1] == '-') {
			return false // punycode, or like it, or a number with a sign
		}
	}
	last := name[label:]
	if last == "" || len(last) > 63 {
		return false
	}
	if last[0] >= '0' && last[0] <= '9' {
		a, err := netip.ParseAddr(name)
		return err == nil && a.Is4()
	}
	return name != "http" && name != "https"
}

// plainPort says whether a port is written as it should be, and not the
// scheme's own.
func plainPort(port, scheme string) bool {
	if !isNumber(port) || port[0] == '0' || len(port) > 5 || len(port) == 5 && port > "65535" {
		return false
	}
	return !(scheme == "http" && port == "80" || scheme == "https" && port == "443")
}

// join writes a URL of plain parts. Where the result is whole, that very string
// is returned and nothing is allocated.
func join(scheme, host, path, query, whole string) string {
	path = withoutDots(path)
	query = withoutNoise(query)
	n := len(scheme) + len("://") + len(host) + len(path)
	if query != "" {
		n += 1 + len(query)
	}
	if len(whole) == n && sameTail(whole[len(scheme)+len("://")+len(host):], path, query) {
		return whole
	}
	var b strings.Builder
	b.Grow(n)
	b.WriteString(scheme)
	b.WriteString("://")
	b.WriteString(host)
	b.WriteString(path)
	if query != "" {
		b.WriteByte('?')
		b.WriteString(query)
	}
	return b.String()
}

// sameTail says whether tail is path?query.
func sameTail(tail, path, query string) bool {
	rest, ok := strings.CutPrefix(tail, path)
	if !ok || query == "" {
		return ok && rest == ""
	}
	return rest[0] == '?' && rest[1:] == query
}

// withoutDots removes "." and ".." segments (RFC 3986, section 5.2.4).
func withoutDots(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); { // path[i] is the slash before a segment
		end := strings.IndexByte(path[i+1:], '/')
		if end < 0 {
			end = len(path)
		} else {
			end += i + 1
		}
		seg, last := path[i+1:end], end == len(path)
		switch seg {
		case ".", "..":
			if seg == ".." {
				if cut := bytes.LastIndexByte(out, '/'); cut >= 0 {
					out = out[:cut]
				}
			}
			if last {
				out = append(out, '/')
			}
		default:
			out = append(out, path[i:end]...)
		}
		i = end
	}
	return string(out)
}
