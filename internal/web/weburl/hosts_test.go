package weburl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHostsHaveOneSpelling: names that are one to a resolver are one here, and those
// that only look alike are not; all are plain ASCII, so that the eye is not fooled.
func TestHostsHaveOneSpelling(t *testing.T) {
	t.Parallel()
	for host, spellings := range map[string][]string{
		"xn--bcher-kva.example": {"bücher.example", "bu\u0308cher.example", "BÜCHER.EXAMPLE", "b%C3%BCcher.example", "XN--BCHER-KVA.example", "xn--bcher-kva.example."},
		"victim.example":        {"victim.example.", "victim。example", "ＶＩＣＴＩＭ.example", "vic\u00adtim.example", "%76ictim.example", "victim.example:80", "victim.example:080"},
		"xn--80ak6aa92e.com":    {"аррӏе.com"}, // Cyrillic, and not apple.com
		"xn--vitim-2ye.example": {"viсtim.example"},
		"viii.example":          {"Ⅷ.example"},
		"127.0.0.1":             {"0x7f.1", "１２７.0.0.1", "2130706433"},
	} {
		for _, s := range spellings {
			c, err := Canonical("http://page.example/", "http://"+s+"/x")
			require.NoError(t, err, s)
			require.Equal(t, "http://"+host+"/x", c, s)
			require.Equal(t, host, Host(c))
			again, err := Canonical("", c)
			require.NoError(t, err)
			require.Equal(t, c, again)
		}
	}
	for _, s := range []string{"a\u200db.example", "xn--example-.org", "xn--a.example", "٣.example", "vic tim.example", "victim\x00.example", "vic\u202etim.example"} {
		_, err := Canonical("", "http://"+s+"/")
		require.ErrorIs(t, err, ErrMalformed, s)
	}
}

// TestNamesThatNoIDHoldsAreNone: a host's name is part of the ids by which others
// know its crawl, and Temporal's tables hold 255 bytes of one.
func TestNamesThatNoIDHoldsAreNone(t *testing.T) {
	t.Parallel()
	name := func(n int) string { return "a" + strings.Repeat(".b", n/2)[:n-2] + "c" }
	for _, scheme := range []string{"http://", "HTTP://"} { // the short way, and the long one
		c, err := Canonical("", scheme+name(maxHost)+":65535/x")
		require.NoError(t, err)
		require.LessOrEqual(t, len("site/"+Host(c)), 255)
		_, err = Canonical("", scheme+name(maxHost+1)+"/x")
		require.ErrorIs(t, err, ErrMalformed)
	}
}
