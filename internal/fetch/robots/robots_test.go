package robots

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/temoto/robotstxt"

	"gleaner/internal/lab/realdata"
)

// ask is one question to a file.
type ask struct {
	agent, path string
	want        bool
}

func TestAllowed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		asks       []ask
	}{
		{"nothing at all", "", []ask{{"foobot", "/x", true}, {"", "", true}}},
		{"one group", "user-agent: FooBot\ndisallow: /\n", []ask{
			{"FooBot", "/x/y", false}, {"FooBot", "", false}, {"", "/x", true}, {"BarBot", "/x", true}}},
		{"unknown records", "foo: FooBot\nbar: /\n", []ask{{"FooBot", "/x/y", true}}},
		{"forgotten colons", "user-agent FooBot\ndisallow /\n", []ask{{"FooBot", "/x/y", false}}},
		{"three words without a colon are no record", "user-agent: *\ndisallow / please\n", []ask{{"a", "/x", true}}},
		{"groups, merged and shared", `allow: /foo/bar/

user-agent: FooBot
disallow: /
allow: /x/
user-agent: BarBot
disallow: /
allow: /y/


allow: /w/
user-agent: BazBot

user-agent: FooBot
allow: /z/
disallow: /
`, []ask{
			{"FooBot", "/x/b", true}, {"FooBot", "/z/d", true}, {"FooBot", "/y/c", false},
			{"BarBot", "/y/c", true}, {"BarBot", "/w/a", true}, {"BarBot", "/z/d", false}, {"BazBot", "/z/d", true},
			{"FooBot", "/foo/bar/", false}, {"BarBot", "/foo/bar/", false}, {"BazBot", "/foo/bar/", false}}},
		{"names in any case", "uSeR-aGeNt: FooBot\nAlLoW: /x/\ndIsAlLoW: /\n", []ask{{"FooBot", "/x/y", true}, {"FooBot", "/a/b", false}}},
		{"agents in any case", "User-Agent: FoO\nAllow: /x/\nDisallow: /\n", []ask{{"foo", "/x/y", true}, {"FOO", "/a/b", false}}},
		{"agent up to a blank", "User-Agent: *\nDisallow: /\nUser-Agent: Foo Bar\nAllow: /x/\nDisallow: /\n", []ask{
			{"Foo", "/x/y", true}, {"Foo Bar", "/x/y", false}}},
		{"agent with a version", "User-agent: foo/2.1\nDisallow: /\n", []ask{{"foo", "/x", false}}},
		{"whole tokens only", "User-agent: my\nDisallow: /\nUser-agent: mybot-news\nDisallow: /\n", []ask{{"mybot", "/x", true}}},
		{"a longer name is another agent", "User-agent: gleaner\nDisallow: /*?\nUser-agent: glean\nDisallow: /\n", []ask{{"gleaner", "/x", true}, {"gleaner", "/x?y", false}}},
		{"everybody comes second", "user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n", []ask{{"FooBot", "/x", false}, {"BarBot", "/x", true}}},
		{"many slashes are one", "user-agent: *\ndisallow: /private/\nallow: /open\n", []ask{{"a", "//private/x", false}, {"a", "/private///x?a//b", false}, {"a", "///private/?q", false},
			{"a", "//open", true}, {"a", "/x?u=http://h//private/", true}}},
		{"no group for us", "user-agent: FooBot\nallow: /\nuser-agent: BarBot\ndisallow: /\n", []ask{{"QuxBot", "/x", true}}},
		{"own group hides everybody's", "User-agent: *\nDisallow: /x/\nUser-agent: FooBot\nDisallow: /y/\n", []ask{
			{"FooBot", "/x/page", true}, {"FooBot", "/y/page", false}}},
		{"empty disallow ends a run of agents", "User-agent: a\nDisallow:\nUser-agent: *\nDisallow: /\n", []ask{{"a", "/x", true}, {"b", "/x", false}}},
		{"paths in their own case", "user-agent: FooBot\ndisallow: /X/\n", []ask{{"FooBot", "/x/y", true}, {"FooBot", "/X/y", false}}},
		{"longest wins, disallow", "user-agent: a\ndisallow: /x/page.html\nallow: /x/\n", []ask{{"a", "/x/page.html", false}}},
		{"longest wins, allow", "user-agent: a\nallow: /x/page.html\ndisallow: /x/\n", []ask{{"a", "/x/page.html", true}, {"a", "/x/", false}}},
		{"empty values", "user-agent: a\ndisallow: \nallow: \n", []ask{{"a", "/x", true}}},
		{"tie at the root", "user-agent: a\ndisallow: /\nallow: /\n", []ask{{"a", "/x", true}}},
		{"tie on a page", "user-agent: a\ndisallow: /x/p\nallow: /x/p\n", []ask{{"a", "/x/p", true}}},
		{"tie with an asterisk", "user-agent: a\ndisallow: /*.html\nallow: /p.html\n", []ask{{"a", "/p.html", true}, {"a", "/q.html", false}}},
		{"tie with an asterisk, the other first", "user-agent: a\nallow: /p.html\ndisallow: /*.html\n", []ask{{"a", "/p.html", true}}},
		{"slash or none", "user-agent: a\ndisallow: /x\nallow: /x/\n", []ask{{"a", "/x", false}, {"a", "/x/", true}}},
		{"asterisks count as octets", "user-agent: a\nallow: /page\ndisallow: /*.html\n", []ask{{"a", "/page.html", false}, {"a", "/page", true}}},
		{"longer than the asterisk", "user-agent: a\nallow: /x/page.\ndisallow: /*.html\n", []ask{{"a", "/x/page.html", true}, {"a", "/x/y.html", false}}},
		{"one octet of tail decides", "user-agent: a\nallow: /page\ndisallow: /*.htm\n", []ask{{"a", "/page.htm", false}}},
		{"only the root", "user-agent: a\nallow: /$\ndisallow: /\n", []ask{{"a", "/", true}, {"a", "/page.html", false}, {"a", "", true}}},
		{"asterisk within", "User-agent: a\nDisallow: /foo/bar/quz\nAllow: /foo/*/qux\n", []ask{
			{"a", "/foo/bar/quz", false}, {"a", "/foo/quz", true}, {"a", "/foo//quz", true}}},
		{"asterisk starts at the start", "User-agent: a\nDisallow: /foo*bar\n", []ask{{"a", "/x/foo1bar", true}, {"a", "/foo1bar", false}, {"a", "/foobar", false}}},
		{"dollar ends", "User-agent: a\nDisallow: /foo/bar$\nAllow: /foo/bar/qux\n", []ask{
			{"a", "/foo/bar", false}, {"a", "/foo/bar/qux", true}, {"a", "/foo/bar/", true}, {"a", "/foo/bar/baz", true}, {"a", "/foo/bar?q", true}}},
		{"dollar within is a dollar", "User-agent: a\nDisallow: /a$b\n", []ask{{"a", "/a$bc", false}, {"a", "/a", true}, {"a", "/a%24b", false}}},
		{"literal star and dollar", "User-agent: a\nDisallow: /x-%2A.html\nDisallow: /y-%24\n", []ask{
			{"a", "/x-*.html", false}, {"a", "/x-1.html", true}, {"a", "/y-$z", false}, {"a", "/y-", true}}},
		{"comments", "User-agent: a\n# Disallow: /\nDisallow: /foo/quz#qux\nAllow: / # all\n", []ask{{"a", "/foo/bar", true}, {"a", "/foo/quz", false}}},
		{"prefix", "user-agent: a\ndisallow: /\nallow: /fish\n", fishAsks()},
		{"prefix with a star", "user-agent: a\ndisallow: /\nallow: /fish*\n", fishAsks()},
		{"folder", "user-agent: a\ndisallow: /\nallow: /fish/\n", []ask{
			{"a", "/fish/", true}, {"a", "/fish/salmon", true}, {"a", "/fish/?id=1", true}, {"a", "/fish", false}, {"a", "/fish.html", false}, {"a", "/Fish/x", false}}},
		{"ending anywhere", "user-agent: a\ndisallow: /\nallow: /*.php\n", []ask{
			{"a", "/file.php", true}, {"a", "/d/file.php?x", true}, {"a", "//d/any.php.html", true}, {"a", "/file.php/", true},
			{"a", "/index?f=file.php/", true}, {"a", "/php/", false}, {"a", "/index?php", false}, {"a", "/windows.PHP", false}}},
		{"ending at the end", "user-agent: a\ndisallow: /\nallow: /*.php$\n", []ask{
			{"a", "/file.php", true}, {"a", "/d/file.php", true}, {"a", "/file.php?x", false}, {"a", "/file.php/", false}, {"a", "/file.php5", false}}},
		{"star between", "user-agent: a\ndisallow: /\nallow: /fish*.php\n", []ask{
			{"a", "/fish.php", true}, {"a", "/fishheads/cat.php?x", true}, {"a", "/Fish.PHP", false}}},
		{"pattern that begins with a star", "user-agent: a\ndisallow: *.gif$\n", []ask{{"a", "/x.gif", false}, {"a", "/x.gif?1", true}}},
		{"anchored part may not overlap", "user-agent: a\ndisallow: /ab*ba$\n", []ask{{"a", "/aba", true}, {"a", "/abba", false}}},
		{"index page is its directory", "User-Agent: *\nAllow: /d/index.html\nDisallow: /\n", []ask{
			{"a", "/d/", true}, {"a", "/d/index.htm", false}, {"a", "/d/index.html", true}, {"a", "/e", false}}},
		{"robots.txt is always allowed", "User-agent: *\nDisallow: /\n", []ask{{"a", "/robots.txt", true}, {"a", "/robots.txt2", false}}},
		{"slash left out", "User-agent: *\nDisallow: private\n", []ask{{"a", "/private/x", false}, {"a", "/public", true}}},
		{"misspelt disallow", "User-agent: *\nDissalow: /a\nDisalow: /b\n", []ask{{"a", "/a", false}, {"a", "/b", false}, {"a", "/c", true}}},
		{"blank before the colon", "User-agent : *\nDisallow : /a\n", []ask{{"a", "/a", false}}},
		{"bad lines cost themselves", "garbage\n:\nUser-agent: *\nCrawl-delay: soon\n<b>no</b>\nDisallow: /a\n\xff\xfe\nDisallow: /b", []ask{{"a", "/a", false}, {"a", "/b", false}, {"a", "/c", true}}},
		{"delay and sitemap end no group", "User-agent: a\nCrawl-delay: 3\nSitemap: http://x.example/s.xml\nUser-agent: b\nDisallow: /x\n", []ask{{"a", "/x", false}, {"b", "/x", false}}},
		{"web page", "<!DOCTYPE html>\n<pre>\nUser-agent: *\nDisallow: /\n</pre>", []ask{{"a", "/x", true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, a := range tt.asks {
				if got, rule := Parse([]byte(tt.file), a.agent).Allowed(a.path); got != a.want {
					t.Errorf("agent %q, path %q: allowed %v by %q, want %v", a.agent, a.path, got, rule, a.want)
				}
			}
		})
	}
}

func fishAsks() []ask {
	return []ask{{"a", "/bar", false}, {"a", "/fish", true}, {"a", "/fish.html", true}, {"a", "/fish/salmon.html", true},
		{"a", "/fishheads", true}, {"a", "/fish.html?id=1", true}, {"a", "/Fish.asp", false}, {"a", "/catfish", false}, {"a", "/?id=fish", false}}
}

// TestEncoding compares spellings of one path, in the file and in the URL.
func TestEncoding(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, path string
		match         bool
	}{
		{"/%7Ejoe/", "/~joe/paper.pdf", true},
		{"/~joe/", "/%7ejoe/paper.pdf", true},
		{"/%7ejoe/", "/%7Ejoe/", true},
		{"/foo/bar/ツ", "/foo/bar/%E3%83%84", true},
		{"/foo/bar/%e3%83%84", "/foo/bar/ツ", true},
		{"/foo/bar/%62%61%7A", "/foo/bar/baz", true},
		{"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", true},
		{"/foo/bar?baz=https%3a%2f%2ffoo.bar", "/foo/bar?baz=https://foo.bar", true},
		{"/foo/bar?qux=taz&baz=http://foo.bar?tar&par", "/foo/bar?qux=taz&baz=http://foo.bar?tar&par", true},
		{"/*=https://foo", "/x?u=https%3A%2F%2Ffoo.bar", true},
		{"/*=https://foo", "/x?u=https://foo.bar", true},
		{"/*=https%3A%2F%2Ffoo", "/x?u=https%3A%2F%2Ffoo.bar", true},
		{"/a%2Fb", "/a/b", false},
		{"/a%2fb", "/a%2Fb", true},
		{"/a b", "/a%20b", true},
		{"/wiki/Talk%3Mediation", "/wiki/Talk%3Mediation/x", true},
		{"/a;b", "/a;b", true},
		{"/a|b", "/a%7Cb", true},
	}
	for _, tt := range tests {
		rules := Parse([]byte("User-agent: *\nDisallow: "+tt.pattern+"\n"), "gleaner")
		if allowed, _ := rules.Allowed(tt.path); allowed == tt.match {
			t.Errorf("Disallow: %s on %s: allowed %v", tt.pattern, tt.path, allowed)
		}
	}
}

func TestLineEndsAndMarks(t *testing.T) {
	t.Parallel()
	const file = "User-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\nDisallow: /\n"
	utf16 := func(high, low int) string {
		out := []byte{0, 0}
		out[high], out[low] = 0xFE, 0xFF
		for _, c := range []byte(file) {
			pair := []byte{0, 0}
			pair[low] = c
			out = append(out, pair...)
		}
		return string(out)
	}
	for name, body := range map[string]string{
		"LF": file, "CRLF": strings.ReplaceAll(file, "\n", "\r\n"), "CR": strings.ReplaceAll(file, "\n", "\r"),
		"no end": strings.TrimSuffix(file, "\n"), "mixed": strings.Replace(strings.Replace(file, "\n", "\r\n", 1), "\n\n", "\r\n\n", 1),
		"BOM": "\xEF\xBB\xBF" + file, "two thirds of a BOM": "\xEF\xBB" + file, "a third": "\xEF" + file,
		"UTF-16BE": utf16(0, 1), "UTF-16LE": utf16(1, 0),
	} {
		foo, _ := Parse([]byte(body), "foo").Allowed("/x")
		bar, _ := Parse([]byte(body), "bar").Allowed("/x")
		require.True(t, foo, name)
		assert.False(t, bar, name)
	}
	broken := Parse([]byte("\xEF\x11\xBFUser-Agent: foo\nDisallow: /\n"), "foo")
	if ok, _ := broken.Allowed("/x"); !ok {
		t.Error("rules after a broken first line applied to nobody in particular")
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("# "+strings.Repeat("x", 98)+"\n", MaxBytes/101)
	rules := Parse([]byte("User-agent: *\nDisallow: /a\n"+filler+"Disallow: /b\n"), "foo")
	if ok, _ := rules.Allowed("/a"); ok {
		t.Error("a rule below the limit was forgotten")
	}
	if ok, _ := rules.Allowed("/b"); !ok {
		t.Error("a rule above the limit was read")
	}
	cut := "User-agent: *\n" + strings.Repeat("#\n", (MaxBytes-14)/2-3) + "Disallow: /abcdef\n"
	if ok, _ := Parse([]byte(cut), "foo").Allowed("/abc"); !ok {
		t.Error("a line across the limit was read in part")
	}
	long := "/x/" + strings.Repeat("a", maxLine)
	rules = Parse([]byte("User-agent: *\nDisallow: "+long+"/qux\n"), "foo")
	if ok, _ := rules.Allowed(long + "/fux"); ok {
		t.Error("a long line is cut, not dropped")
	}
}

func TestDelayAndSitemaps(t *testing.T) {
	t.Parallel()
	file := []byte(`Sitemap: https://x.example/one.xml
User-agent: gleaner
Crawl-delay: 2.5
Disallow: /*?x
User-agent: glean
Crawl-delay: 7
User-agent: *
Crawl-delay: 10
Crawl-delay: -4
Disallow: /a
sitemap : /two.xml
Site-map: https://x.example/one.xml
Sitemap: two words
User-agent: fast
Disallow:
User-agent: endless
Crawl-delay: 1e300
User-agent: odd
Crawl-delay: NaN
`)
	for agent, want := range map[string]time.Duration{
		"Gleaner": 2500 * time.Millisecond, "glean": 10 * time.Second, "other": 10 * time.Second,
		"fast": 0, "endless": 24 * time.Hour, "odd": 0,
	} {
		assert.Equal(t, want, Parse(file, agent).CrawlDelay(), agent)
	}
	if got := strings.Join(Parse(file, "gleaner").Sitemaps(), " "); got != "https://x.example/one.xml /two.xml" {
		t.Errorf("sitemaps %q", got)
	}
}

func TestRuleIsNamed(t *testing.T) {
	t.Parallel()
	rules := Parse([]byte("User-agent: *\nDisallow: /%7Eprivate/ # mine\nAllow: /a*\n"), "x")
	if _, rule := rules.Allowed("/~private/1"); rule != "Disallow: /%7Eprivate/" {
		t.Errorf("rule %q", rule)
	}
	if _, rule := rules.Allowed("/ab"); rule != "Allow: /a*" {
		t.Errorf("rule %q", rule)
	}
}

// TestRealFiles reads robots.txt files as servers have them, where a collection
// of them lies beside the project.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	root := realdata.Path(t, "data", "robots")
	files, silent, spoken, plain, agreed := 0, 0, 0, 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		rules := Parse(body, "gleaner")
		named := strings.ToLower(string(body))
		if rules.group == nil && (strings.Contains(named, "\nuser-agent: *\n") || strings.Contains(named, "\nuser-agent: *\r\n")) {
			silent++
			t.Errorf("%s: speaks to everybody, but that was not understood", path)
		}
		if g := rules.group; g != nil && len(g.rules) > 0 {
			spoken++
			if !g.wildcard && g.lib != nil {
				plain++
			}
			lib, err := robotstxt.FromBytes(body) // as it stands, for the comment of the package
			same := err == nil
			for _, r := range g.rules {
				if path := strings.Join(r.parts, "x"); same && strings.HasPrefix(path, "/") {
					own, _ := rules.Allowed(path)
					same = lib.TestAgent(path, "gleaner") == own
				}
			}
			if same {
				agreed++
			}
		}
		for _, p := range []string{"/", "/~joe/", "/a?b=c", "/index.html"} {
			rules.Allowed(p)
		}
		return agree(rules)
	})
	require.NoError(t, err)
	if files == 0 {
		t.Skipf("no files in %s", root)
	}
	t.Logf("%d files read, %d whose group for everybody was missed; %d have rules for us, %d of them prefixes alone; the library by itself, on the file as it is, says the same of all rules of %d", files, silent, spoken, plain, agreed)
}
