package gleaner

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParseDOI reads a DOI that is given as one: bare, labelled ("doi:", "info:doi/")
// or as an address of a resolver. It returns "" for anything else, a publisher's
// page that carries a DOI in its address among them (see DOIInURL).
//
// The DOI Handbook makes a DOI of the directory "10.", a registrant's code of
// four digits or more, which may have parts ("10.1000.10"), a slash, and any
// graphic characters: SICIs with brackets and angles are among them. Case means
// nothing in ASCII letters and something in all others; the normal form has
// small ones. Registrants have nine digits at most and no white space in
// suffixes, says Crossref, and a full stop, comma, colon or semicolon at the end
// belongs to the sentence around it.
func ParseDOI(s string) string {
	s = cutLabel(strings.TrimSpace(s))
	if host, path := splitAddress(s); slices.Contains(resolvers, host) {
		s = cutLabel(path)
	}
	if i := strings.IndexByte(s, '%'); i >= 0 && !strings.Contains(s[:i], "/") {
		s = unescape(s) // "10.1145%2F872757"
	}
	return leadingDOI(s)
}

// resolvers are the hosts whose paths are DOIs and nothing else.
var resolvers = []string{"doi.org", "dx.doi.org", "www.doi.org", "doi.acm.org", "doi.ieeecomputersociety.org"}

// DOIInURL finds the DOI that a URL carries in its path or query, as those of
// publishers do, without what tells there which of a work's pages is meant
// (".pdf", "/full").
func DOIInURL(raw string) string {
	if doi := ParseDOI(raw); doi != "" {
		return doi
	}
	raw, _, _ = strings.Cut(raw, "#")
	path, query, _ := strings.Cut(raw, "?")
	for _, part := range append([]string{path}, strings.Split(query, "&")...) {
		part, err := url.PathUnescape(part)
		if err != nil {
			continue
		}
		for i := range part {
			if i > 0 && strings.IndexByte("/=:", part[i-1]) < 0 || !strings.HasPrefix(part[i:], "10.") {
				continue
			}
			if doi := leadingDOI(part[i:]); doi != "" {
				return withoutPage(doi)
			}
		}
	}
	return ""
}

// withoutPage strips the endings that publishers' addresses put behind a DOI.
func withoutPage(doi string) string {
	for _, end := range []string{"/", ".pdf", ".full", "/pdf", "/full"} {
		if rest, cut := strings.CutSuffix(doi, end); cut && leadingDOI(rest) != "" {
			return withoutPage(leadingDOI(rest))
		}
	}
	return doi
}

// DOIsInText lists the DOIs in running text, at most as many as said. There,
// quotes, angles, commas and semicolons end one, and so does a bracket that it
// did not open: "(see 10.1016/S0304-3975(97)00115-1)".
func DOIsInText(text string, most int) []string {
	var out []string
	for at := 0; len(out) < most; {
		i := strings.Index(text[at:], "10.")
		if i < 0 {
			break
		}
		i += at
		at = i + len("10.")
		if i > 0 && isDigit(text[i-1]) || doiPrefix(text[i:]) == 0 {
			continue
		}
		if doi := leadingDOI(text[i : i+endInText(text[i:])]); doi != "" {
			out = append(out, doi)
		}
	}
	return out
}

func endInText(s string) int {
	open := 0
	for i, r := range s {
		switch {
		case strings.ContainsRune(" \n\t\f\r\"<>,;“”‘’«»", r):
			return i
		case strings.ContainsRune("([{", r):
			open++
		case strings.ContainsRune(")]}", r):
			if open--; open < 0 {
				return i
			}
		}
	}
	return len(s)
}

// leadingDOI is the DOI that s begins with, in its normal form, or "".
func leadingDOI(s string) string {
	n := doiPrefix(s)
	if n == 0 {
		return ""
	}
	end := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == utf8.RuneError || r == '"'
	})
	if end < 0 {
		end = len(s)
	}
	s = strings.TrimRight(s[:end], ".,;:")
	if len(s) <= n {
		return ""
	}
	return lowerASCII(s)
}

// doiPrefix is the length of "10.1145/" at the begin of s, or 0.
func doiPrefix(s string) int {
	const longest = 32
	slash := strings.IndexByte(s[:min(len(s), longest)], '/')
	if slash < 0 {
		return 0
	}
	codes := strings.Split(s[:slash], ".")
	if len(codes) < 2 || codes[0] != "10" || len(codes[1]) < 4 || len(codes[1]) > 9 {
		return 0
	}
	for _, c := range codes {
		if !allDigits(c) {
			return 0
		}
	}
	return slash + 1
}

func cutLabel(s string) string {
	for _, label := range []string{"info:doi/", "urn:doi:", "doi:"} {
		if rest, ok := cutPrefixFold(s, label); ok {
			return strings.TrimSpace(rest)
		}
	}
	return s
}

// splitAddress parts a web address, with or without its scheme, into the host
// and the plain path behind its slash.
func splitAddress(s string) (host, path string) {
	for _, scheme := range []string{"https:", "http:"} {
		if rest, ok := cutPrefixFold(s, scheme); ok {
			s = rest
			break
		}
	}
	s = strings.TrimPrefix(s, "//")
	if end := strings.IndexAny(s, "?#"); end >= 0 {
		s = s[:end]
	}
	host, path, _ = strings.Cut(s, "/")
	host, _, _ = strings.Cut(host, ":")
	return lowerASCII(host), unescape(path)
}

func unescape(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
