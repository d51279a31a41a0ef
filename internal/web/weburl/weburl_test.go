package weburl_test

import (
	"errors"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/web/weburl"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	const b = "http://www.cs.example.edu/~ada/index.html"
	tests := []struct{ base, ref, want string }{
		// relative references
		{b, "papers.html", "http://www.cs.example.edu/~ada/papers.html"},
		{b, "./papers/../pubs/a.pdf", "http://www.cs.example.edu/~ada/pubs/a.pdf"},
		{b, "../~bob/", "http://www.cs.example.edu/~bob/"},
		{b, "../../../x", "http://www.cs.example.edu/x"},
		{b, "/", "http://www.cs.example.edu/"},
		{b, "", b},
		{b, "#top", b},
		{b, "?page=2#x", b + "?page=2"},
		{b, "//other.example.org/x", "http://other.example.org/x"},
		{b, "..", "http://www.cs.example.edu/"},
		{b, "pubs/.", "http://www.cs.example.edu/~ada/pubs/"},
		{b + "?q=1#frag", "a.html", "http://www.cs.example.edu/~ada/a.html"},
		{b, "www.other.org/x", "http://www.cs.example.edu/~ada/www.other.org/x"},
		{b, "https://secure.example.org", "https://secure.example.org/"},
		// mended as browsers do
		{b, `papers\2003\a.pdf`, "http://www.cs.example.edu/~ada/papers/2003/a.pdf"},
		{b, `http:\\other.example.org\x`, "http://other.example.org/x"},
		// CINDI (Chen 2008) takes it for http://other.example.org/x; a browser does not.
		{b, "http:/other.example.org/x", "http://www.cs.example.edu/other.example.org/x"},
		{"", "http:/other.example.org/x", "http://other.example.org/x"},
		{"https://a.org/", "http:/other.example.org/x", "http://other.example.org/x"},
		{b, "http:papers.html", "http://www.cs.example.edu/~ada/papers.html"},
		{b, "http:///other.example.org/x", "http://other.example.org/x"},
		{b, "  a.html \n", "http://www.cs.example.edu/~ada/a.html"},
		{b, "my paper.pdf", "http://www.cs.example.edu/~ada/my%20paper.pdf"},
		{b, "pa\n\tper.pdf", "http://www.cs.example.edu/~ada/paper.pdf"},
		{b, "HTTP://WWW.Example.ORG/Path", "http://www.example.org/Path"},
		{b, "http://http://www.example.org/x", "http://www.example.org/x"},
		{"", "//example.org/x", "http://example.org/x"},
		{"", "www.example.org/x", "http://www.example.org/x"},
		{"", "example.org", "http://example.org/"},
		// escapes
		{"", "http://a.org/%7Ejoe/", "http://a.org/~joe/"},
		{"", "http://a.org/%7ejoe/%e9%2f", "http://a.org/~joe/%E9%2F"},
		{"", "http://a.org/100%/x", "http://a.org/100%25/x"},
		{"", "http://a.org/%%37%30", "http://a.org/%2570"},
		{"", "http://a.org/é?ü", "http://a.org/%C3%A9?%C3%BC"},
		{"", "http://a.org/a|b^c{d}", "http://a.org/a%7Cb%5Ec%7Bd%7D"},
		{"", "http://a.org/x/%2e%2E/y", "http://a.org/y"},
		{"", "http://a.org/?q=it's", "http://a.org/?q=it%27s"},
		// hosts
		{"", "http://a.org:80/", "http://a.org/"},
		{"", "https://a.org:443/", "https://a.org/"},
		{"", "http://a.org:443/", "http://a.org:443/"},
		{"", "http://a.org:8080", "http://a.org:8080/"},
		{"", "http://a.org.:8080/", "http://a.org:8080/"},
		{"", "http://user:secret@a.org/", "http://a.org/"},
		{"", "http://bücher.example/", "http://xn--bcher-kva.example/"},
		{"", "http://BÜCHER.example/", "http://xn--bcher-kva.example/"},
		{"", "http://2130706433/", "http://127.0.0.1/"},
		{"", "http://0x7f.1/", "http://127.0.0.1/"},
		{"", "http://0177.0.0.1/", "http://127.0.0.1/"},
		{"", "http://127.1:80/", "http://127.0.0.1/"},
		{"", "http://0xA9FEA9FE/latest", "http://169.254.169.254/latest"},
		{"", "http://①②⑦.0.0.1/", "http://127.0.0.1/"},
		{"", "http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"},
		{"", "http://%6c%6Fcalhost/", "http://localhost/"},
		{"http://127.0.0.1:4711/a/b.html", "c.html", "http://127.0.0.1:4711/a/c.html"},
		// what names the visit, not the page
		{"", "http://a.org/x?PHPSESSID=0123456789abcdef&id=7", "http://a.org/x?id=7"},
		{"", "http://a.org/x?id=7&utm_source=a&utm_medium=b", "http://a.org/x?id=7"},
		{"", "http://a.org/x?fbclid=abc", "http://a.org/x"},
		{"", "http://a.org/x?b=2&gclid=1&a=1", "http://a.org/x?b=2&a=1"},
		{"", "http://a.org/x;jsessionid=12AB?b=1", "http://a.org/x?b=1"},
		{"", "http://a.org/x;JSESSIONID=12AB;v=1/y", "http://a.org/x;v=1/y"},
		{"", "http://a.org/a/..;jsessionid=1/b", "http://a.org/b"},
		{"", "http://a.org/(S(2rt4ab55kld3jq45xyvu2155))/p.aspx", "http://a.org/p.aspx"},
		{"", "http://a.org/article?sid=123", "http://a.org/article?sid=123"},
		{"", "http://a.org/article?sid=9f86d081884c7d659a2feaa0c55ad015", "http://a.org/article"},
		{"", "http://a.org/x?", "http://a.org/x"},
		{"", "http://a.org//b//c", "http://a.org//b//c"},
	}
	for _, tt := range tests {
		got, err := weburl.Canonical(tt.base, tt.ref)
		require.NoError(t, err, "%+v", tt)
		assert.Equal(t, tt.want, got, "%+v", tt)
		again, err := weburl.Canonical("", got)
		require.NoError(t, err, got)
		assert.Equal(t, got, again)
	}
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		base, ref string
		want      error
	}{
		{"", "mailto:ada@example.org", weburl.ErrNotWeb},
		{"http://a.org/", "javascript:void(0)", weburl.ErrNotWeb},
		{"http://a.org/", "ftp://ftp.a.org/x.ps", weburl.ErrNotWeb},
		{"http://a.org/", "file:///etc/passwd", weburl.ErrNotWeb},
		{"", "papers", weburl.ErrMalformed},
		{"", "", weburl.ErrMalformed},
		{"", "http://", weburl.ErrMalformed},
		{"", "http://a b/", weburl.ErrMalformed},
		{"", "http://a.org:99999/", weburl.ErrMalformed},
		{"", "http://a..org/", weburl.ErrMalformed},
		{"", "http://256.256.256.256/", weburl.ErrMalformed},
	}
	for _, tt := range tests {
		got, err := weburl.Canonical(tt.base, tt.ref)
		require.ErrorIs(t, err, tt.want, "Canonical %v %v %v", tt.base, tt.ref, got)
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	same := [][]string{
		{"http://a.org/", "https://a.org/", "http://a.org/index.html", "http://a.org/Index.HTM", "http://a.org/default.aspx", "http://a.org//"},
		{"http://a.org/x/", "http://a.org/x/index.php", "http://a.org//x//", "http://a.org/x/?C=N;O=D", "http://a.org/x/?M=A", "http://a.org/x/?C=S&O=A"},
		{"http://a.org/x?a=1&b=2", "http://a.org/x?b=2&a=1", "https://a.org/x?b=2&&a=1"},
		{"http://a.org/?id=3", "http://a.org/index.php?id=3"},
	}
	seen := map[string]bool{}
	for _, group := range same {
		want := weburl.Key(group[0])
		for _, u := range group {
			assert.Equal(t, want, weburl.Key(u), "Key %v", u)
		}
		assert.NotContains(t, seen, want, "two groups are one")
		seen[want] = true
	}
	for _, pair := range [][2]string{
		{"http://a.org/x", "http://a.org/x/"}, {"http://a.org/x?a=1&a=2", "http://a.org/x?a=2&a=1"},
		{"http://a.org/", "http://a.org:8080/"}, {"http://a.org/", "http://www.a.org/"},
		{"http://a.org/index.pdf", "http://a.org/"}, {"http://a.org/A", "http://a.org/a"},
	} {
		assert.NotEqual(t, weburl.Key(pair[1]), weburl.Key(pair[0]), "Key makes one of")
	}
}

func TestHostDomainSameSite(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"http://A.org/x": "a.org", "https://a.org:443/": "a.org", "http://a.org:8080?x": "a.org:8080",
		"http://[::1]:8080/": "[::1]:8080", "http://u@a.org/": "a.org", "mailto:x@a.org": "", "": "", "nonsense": "",
	} {
		assert.Equal(t, want, weburl.Host(raw), "Host %v", raw)
	}
	for host, want := range map[string]string{
		"www.cs.example.ac.uk": "example.ac.uk", "a.org:80": "a.org", "127.0.0.1:80": "127.0.0.1",
		"[::1]:80": "[::1]", "com": "com", "ada.github.io": "ada.github.io",
	} {
		assert.Equal(t, want, weburl.Domain(host), "Domain %v", host)
	}
	for host, want := range map[string]string{
		"www.cs.example.ac.uk": "example.ac.uk", "ada.github.io": "github.io", "www.ada.github.io:80": "github.io",
		"192.0.2.7:80": "192.0.2.0/24", "[2001:db8::7]:80": "2001:db8::/64", "[::ffff:192.0.2.7]": "192.0.2.0/24",
		"a.example": "a.example", "com": "com",
	} {
		assert.Equal(t, want, weburl.Owner(host), "Owner %v", host)
	}
	assert.True(t, weburl.SameSite("http://www.cs.x.edu/", "https://math.x.edu/a"))
	assert.False(t, weburl.SameSite("http://x.edu/", "http://y.edu/"))
	assert.False(t, weburl.SameSite("http://a.github.io/", "http://b.github.io/"))
	assert.False(t, weburl.SameSite("", ""))
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		"http://a.org/~joe/x.html?a=b#c", "../x/./y", `http:\\a\b`, "//h/p", "http://0x7f.1/", "http://a/%%37%30",
		"http://a/x;jsessionid=1/../y", "?PHPSESSID=1&a", "http://[::1]:80/", "http://xn--/", "http://http://a", "http:x",
		"http://a/(S(0123456789abcdef))/", "HTTP://É/É?É", "http://a.b./..;sid=1", "a\tb\nc",
	} {
		f.Add("http://www.example.org/a/b.html", s)
		f.Add("", s)
	}
	f.Fuzz(func(t *testing.T, base, ref string) {
		got, err := weburl.Canonical(base, ref)
		if err != nil {
			require.False(t, !errors.Is(err, weburl.ErrNotWeb) && !errors.Is(err, weburl.ErrMalformed), "untyped error")
			return
		}
		again, err := weburl.Canonical("", got)
		require.NoError(t, err, "Canonical %v %v", base, ref)
		require.Equal(t, got, again, "Canonical %v %v", base, ref)
		u, err := url.Parse(got)
		require.NoError(t, err)
		require.NotEmpty(t, u.Host, got)
		require.Equal(t, []string{weburl.Host(got), got}, []string{u.Host, u.String()}, "as net/url reads it")
		key := weburl.Key(got)
		require.Equal(t, key, weburl.Key("http://"+key), "Key %v", got)
		require.True(t, weburl.InScope(got, []string{weburl.PathPrefix(got)}))
		_ = weburl.IsDocumentName(got)
		_ = weburl.IsIgnoredType(got)
		_ = weburl.DefaultLimits(now).CheckShape(got)
	})
}

// TestUserDirectory: whatever a user makes below their directory is theirs.
func TestUserDirectory(t *testing.T) {
	for url, want := range map[string]string{
		"http://h.edu/":                           "",
		"http://h.edu/~ada":                       "/~ada/",
		"http://h.edu/~ada/":                      "/~ada/",
		"http://h.edu/~ada/x.php?user=~bob":       "/~ada/",
		"http://h.edu/~ada/~bob/people/eve/":      "/~ada/",
		"http://h.edu/cs/~ada/pubs/index.html":    "/cs/~ada/",
		"http://h.edu/people/faculty/ada/cv.html": "/people/faculty/ada/",
		"http://h.edu/people/ada/~bob/x.html":     "/people/ada/",
		"http://h.edu/people/ada.html":            "",
		"http://h.edu/people/":                    "",
		"http://h.edu/papers/ada.pdf":             "",
		"/~ada/":                                  "/~ada/",
	} {
		assert.Equal(t, want, weburl.UserDirectory(url), "UserDirectory %v", url)
	}
}
