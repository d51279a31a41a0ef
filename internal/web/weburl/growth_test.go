package weburl_test

import (
	"strings"
	"testing"
	"time"

	"gleaner/internal/lab/growthtest"
	"gleaner/internal/web/weburl"
)

var between = growthtest.Between

// worstReferences are made to be dear to canonicalise, each of about n bytes.
var worstReferences = map[string]func(n int) []byte{
	"a path":                between("/", "a", ""),
	"segments":              between("/", "a/", ""),
	"steps back":            between("/", "a/../", ""),
	"steps back from afar":  func(n int) []byte { return between("/"+strings.Repeat("a/", n/4), "../", "")(n) },
	"steps back and forth":  func(n int) []byte { return between("/"+strings.Repeat("a", n/2)+"/", "b/../", "")(n) },
	"encoded steps":         between("/", "%2e%2e/", ""),
	"dots":                  between("/", ".", ""),
	"single dots":           between("/", "./", ""),
	"slashes":               between("", "/", ""),
	"slashes of a path":     between("http://a.org", "/", ""),
	"backslashes":           between("", `\`, ""),
	"parameters of a path":  between("/", ";a=b", ""),
	"semicolons":            between("", ";", ""),
	"sessions":              between("/", ";jsessionid=0123456789abcdef", ""),
	"cookieless sessions":   between("/", "(S(0123456789abcdef01))/", "x"),
	"schemes":               between("", "http://", "a.org/"),
	"schemes without hosts": between("", "http:", "a.org/"),
	"users":                 between("http://", "a@", "a.org/"),
	"passwords":             between("http://", "a:", "@a.org/"),
	"at signs":              between("http://", "@", "a.org/"),
	"at signs behind a tab": between("ht\ttp://", "@", "a.org/"),
	"at signs of no scheme": between(`\\`, "@", "a.org/"),
	"labels":                between("http://", "a.", "org/"),
	"a label":               between("http://", "a", ".org/"),
	"escaped labels":        between("http://", "%61", ".org/"),
	"letters in labels":     between("http://", "ä", ".org/"),
	"letters for letters":   between("http://", "ﷺ", ".org/"),
	"punycode":              between("http://xn--", "a", ".org/"),
	"colons of an address":  between("http://[", ":", "]/"),
	"digits of a port":      between("http://a.org:", "0", "/"),
	"numbers":               between("http://", "1.", "1/"),
	"letters":               between("/", "ä", ""),
	"broken letters":        between("/", "\xff", ""),
	"per cent signs":        between("/", "%", ""),
	"escapes":               between("/", "%61", ""),
	"per cent signs of per": between("/%", "25", ""),
	"a query":               between("?", "a", ""),
	"parameters":            between("?", "a=b&", ""),
	"tracking":              between("?", "utm_a=b&", ""),
	"tracking and others":   between("?", "utm_a=b&c=d&", ""),
	"letters of a query":    between("?", "ä'", ""),
	"a fragment":            between("#", "ä", ""),
	"number signs":          between("", "#", ""),
	"tabs and ends of line": between("/", "a\t\n", ""),
	"spaces":                between("", " ", "a"),
	"controls":              between("/", "\x00\x1b", ""),
	"brackets":              between("/", "[", ""),
	"a scheme":              between("", "a", ":b"),
}

func TestCanonicalGrowsWithTheReference(t *testing.T) {
	const base = "http://www.example.edu/~ada/papers/index.html?a=b"
	limits := weburl.DefaultLimits(time.Now())
	limits.MaxLength = 0
	growthtest.Each(t, 1000, worstReferences, func(_ *testing.T, b []byte) {
		for _, base := range []string{base, ""} {
			c, err := weburl.Canonical(base, string(b))
			if err != nil {
				continue
			}
			_, _, _ = weburl.Key(c), weburl.Host(c), weburl.Domain(weburl.Host(c))
			_, _ = weburl.IsDocumentName(c), weburl.PathPrefix(c)
			_ = limits.CheckShape(c)
		}
	})
}

// TestCanonicalGrowsWithTheBase: a page names its base itself.
func TestCanonicalGrowsWithTheBase(t *testing.T) {
	growthtest.Each(t, 1000, worstReferences, func(_ *testing.T, b []byte) {
		base := string(b)
		if !strings.HasPrefix(base, "http") {
			base = "http://www.example.edu" + base
		}
		_, _ = weburl.Canonical(base, "../paper.pdf")
	})
}
