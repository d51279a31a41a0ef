package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/growthtest"
)

func TestWhatIsKeptOut(t *testing.T) {
	t.Parallel()
	l, err := Parse(strings.NewReader(`
ignore: ["*/courses.html", ads.example, shop.example/cart/, "*/calendar*"]
allow: [a.test, "b.test/~ada/*"]
ignore-types: [.PPT, tex]
stop-directories: [cgi-bin, learnt]
levels: 3
`))
	require.NoError(t, err)
	s := New(l, []string{"blog"})
	for _, c := range []struct {
		url      string
		document bool
		rule     Rule
		entry    string
	}{
		{"http://a.test/x.html", false, "", ""},
		{"http://www.a.test/x.html", false, "", ""},
		{"http://a.test:8080/x.html", false, "", ""},
		{"http://nota.test/x.html", false, Outside, ""},
		{"http://c.test/x.pdf", true, "", ""},
		{"http://b.test/~ada/x.html", false, "", ""},
		{"http://b.test/~bob/x.html", false, Outside, ""},
		{"http://a.test/~ada/courses.html", false, Ignored, "*/courses.html"},
		{"http://a.test/~ada/courses.html?y=1", false, "", ""},
		{"http://a.test/calendar/1.html", false, Ignored, "*/calendar*"},
		{"http://deep.ads.example/x.pdf", true, Ignored, "ads.example"},
		{"http://shop.example/cart/x.pdf", true, Ignored, "shop.example/cart/"},
		{"http://a.test/x.ppt", false, IgnoredType, "ppt"},
		{"http://a.test/x.tex", true, IgnoredType, "tex"},
		{"http://a.test/1/2/3/x.html", false, "", ""},
		{"http://a.test/1/2/3/4/x.html", false, TooManyLevels, "4 directories, at most 3"},
		{"http://a.test/CGI-bin/x", false, StopDirectory, "cgi-bin"},
		{"http://a.test/blog/x.pdf", true, StopDirectory, "blog"},
		{"http://a.test/blog", false, "", ""}, // a file
	} {
		rule, entry := s.KeepsOut(c.url, c.document)
		require.Equal(t, []string{string(c.rule), c.entry}, []string{string(rule), entry}, c.url)
	}
	require.True(t, s.Follows("http://x.a.test/"))
	require.False(t, s.Follows("http://b.test/"))
}

func TestListsOfSeveralHarvests(t *testing.T) {
	t.Parallel()
	strict, other := New(Lists{Ignore: []string{"*/x/*", "*/y/*"}}, nil), New(Lists{Ignore: []string{"*/y/*"}}, nil)
	for url, want := range map[string]Rule{"http://a.test/x/1": "", "http://a.test/y/1": Ignored} {
		rule, _ := Sets{strict, other}.KeepsOut(url, false)
		require.Equal(t, want, rule, url)
	}
	rule, _ := Sets{strict, New(Lists{}, nil)}.KeepsOut("http://a.test/y/1", false)
	require.Empty(t, rule, "a harvest without lists keeps nothing out")
	rule, _ = Sets(nil).KeepsOut("http://a.test/y/1", false)
	require.Empty(t, rule)
}

// A harvest's list is in place of the worker's, and may empty it.
func TestOver(t *testing.T) {
	t.Parallel()
	worker := Lists{Ignore: []string{"*/a/*"}, StopDirectories: []string{Learnt}, Levels: 7}
	l := Lists{StopDirectories: []string{None}, Levels: -1}.Over(worker)
	require.Equal(t, worker.Ignore, l.Ignore)
	require.False(t, l.Learns())
	require.True(t, Lists{}.Over(worker).Learns())
	rule, _ := New(l, []string{"blog"}).KeepsOut("http://a.test/1/2/3/4/5/6/7/8/blog/x", false)
	require.Empty(t, rule)
}

func TestWhatNoListCanMean(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"ingore: [a.test]", "ignore: ['*']", "allow: ['http://a.test/']", "ignore-types: ['*.pdf']", "stop-directories: [a/b]", "ignore: [' ']",
		"ignore: [" + strings.Repeat("a", 301) + "]", "ignore: [" + strings.Repeat("a.test,", 1001) + "]"} {
		_, err := Parse(strings.NewReader(text))
		require.Error(t, err, text[:min(len(text), 40)])
	}
}

func TestMatchingGrowsNoFasterThanTheAddress(t *testing.T) {
	s := New(Lists{Ignore: []string{"*a*b*c*d*/x", "*/*/*/*/y"}, Allow: []string{"*a*a*a*a*.test/*"}, StopDirectories: []string{"z"}, Levels: 1 << 30}, nil)
	for name, piece := range map[string]string{"letters": "a", "directories": "a/", "almost": "abcd/"} {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 2000, func(n int) []byte { return []byte("http://a.test/" + strings.Repeat(piece, n)) }, func(b []byte) { s.KeepsOut(string(b), false) })
		})
	}
}
