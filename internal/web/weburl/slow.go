package weburl

import (
	"fmt"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// maxPasses bounds how often the long way is walked until nothing changes:
// taking a session id out of a path can leave something to be mended again.
const maxPasses = 6

// The parser takes time by the square of a path's segments, and of a user's
// name and password. No reference that leads anywhere has so many of either.
const (
	maxSegments = 256
	maxUserInfo = 128
)

// tooDear says whether a reference is one that the parser would be long at.
func tooDear(s string) bool {
	if strings.Count(s, "/")+strings.Count(s, `\`) > maxSegments {
		return true
	}
	if strings.ContainsAny(s, "\t\r\n") { // which the parser leaves out, even of a scheme
		s = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(s)
	}
	if scheme, ok := schemeOf(s); ok {
		s = s[len(scheme)+1:]
	}
	s = strings.TrimLeft(s, `/\`)
	if end := strings.IndexAny(s, `/\?#`); end >= 0 {
		s = s[:end]
	}
	return strings.LastIndexByte(s, '@') > maxUserInfo
}

// slow canonicalises by the WHATWG parser. Its result is one that it would not
// change again.
func slow(base, ref string) (string, error) {
	if _, scheme := webScheme(ref); scheme != "" {
		base = "" // not needed, so it may be as broken as it likes
	}
	s, err := once(base, ref)
	for range maxPasses {
		if err != nil {
			return "", err
		}
		if same, ok := fast("", s); ok && same == s {
			return s, nil
		}
		var next string
		next, err = once("", s)
		if err == nil && next == s {
			return s, nil
		}
		s = next
	}
	return "", fmt.Errorf("%w: never settles: %s", ErrMalformed, clip(ref))
}

// once parses, normalises and writes a reference.
func once(base, ref string) (string, error) {
	u, err := parse(base, ref)
	if err != nil {
		return "", err
	}
	scheme := strings.TrimSuffix(u.Protocol(), ":")
	if scheme != "http" && scheme != "https" {
		return "", fmt.Errorf("%w: %s", ErrNotWeb, clip(ref))
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if !possibleHost(host) {
		return "", fmt.Errorf("%w: host %q", ErrMalformed, clip(host))
	}
	path := u.Pathname()
	if (host == "http" || host == "https") && strings.HasPrefix(path, "//") {
		return host + ":" + path + u.Search(), nil // "http://http://host/": slow comes again
	}
	if p := u.Port(); p != "" {
		host += ":" + p
	}
	path = withoutDots(withoutSession(normalise(path, inPath)))
	query := withoutNoise(normalise(strings.TrimPrefix(u.Search(), "?"), inQuery))
	if query != "" {
		query = "?" + query
	}
	return scheme + "://" + host + path + query, nil
}

// parse runs the WHATWG parser. Its failures are ErrMalformed.
func parse(base, ref string) (*whatwg.Url, error) {
	var u *whatwg.Url
	var err error
	if base == "" {
		u, err = whatwg.Parse(ref)
	} else {
		u, err = whatwg.ParseRef(base, ref)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrMalformed, clip(ref))
	}
	return u, nil
}

// possibleHost refuses what no resolver could look up: empty labels, labels
// over 63 bytes (RFC 1035, section 2.3.4), names over maxHost, and signs that WHATWG
// lets pass but no name has.
func possibleHost(host string) bool {
	if host == "" || len(host) > maxHost {
		return false
	}
	if host[0] == '[' {
		return true
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	for i := 0; i < len(host); i++ {
		if classes[host[i]]&inHost == 0 && host[i] != '_' {
			return false
		}
	}
	return true
}

// normalise writes escapes in their normal form: what need not be escaped is
// not, hexadecimal digits are upper case, a per cent sign that escapes nothing
// is escaped itself, and so is every byte outside the class.
func normalise(s string, class uint8) string {
	if plain(s, class) {
		return s
	}
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi >= 0 && lo >= 0 {
				b := byte(hi<<4 | lo)
				if classes[b]&unreserved != 0 {
					out = append(out, b)
				} else {
					out = append(out, '%', digits[hi], digits[lo])
				}
				i += 2
				continue
			}
		}
		if classes[c]&class != 0 {
			out = append(out, c)
			continue
		}
		out = append(out, '%', digits[c>>4], digits[c&15])
	}
	return string(out)
}
