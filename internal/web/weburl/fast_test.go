package weburl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzFastIsSlow holds the two ways against each other.
func FuzzFastIsSlow(f *testing.F) {
	for _, s := range []string{
		"x.html", "../a/./b?c=d", "/", "?q=1", "http://b.org/x?utm_source=1", "http://1.2.3.4:8080/", "https://h:443/..",
		"http://a-b.c/%2F%20", "//x/y", "a/.b/..c/...", "http://x.09/", "http://x.0xf/", "x:y", "/(S(x))/;a",
	} {
		f.Add("http://www.example.org/a/b.html?c", s)
	}
	f.Fuzz(func(t *testing.T, base, ref string) {
		got, ok := fast(base, ref)
		if !ok {
			return
		}
		want, err := slow(base, ref)
		require.NoError(t, err, "%v %v", base, ref)
		require.Equal(t, want, got, "%v %v", base, ref)
	})
}
