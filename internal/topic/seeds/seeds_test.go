package seeds

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"gleaner/internal/topic"
)

// odp is a dump as the Open Directory wrote it, faults and all.
const odp = "\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8' ?>\n" + `<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://directory.mozilla.org/rdf">
<!-- Generated -->
<Topic r:id="Top/Science/Math/Number_Theory">
  <catid>1</catid>
  <link r:resource="http://Primes.example:80/"/>
  <link r:resource="http://sieve.example/paper.pdf"/>
</Topic>
<ExternalPage about="http://primes.example/">
  <d:Title>Primes &amp; more&nbsp;` + "\x01\xff" + `</d:Title>
  <d:Description>All <b>about</b> primes</d:Description>
  <topic>Top/Science/Math/Number_Theory</topic>
</ExternalPage>
<ExternalPage about="http://sums.example/">
  <d:Title>Sums</d:Title>
  <topic>Top/Science/Math/Number_Theory/Sums</topic>
</ExternalPage>
<ExternalPage about="javascript:alert(1)"><topic>Top/Science/Math/Number_Theory</topic></ExternalPage>
<ExternalPage about="http://verse.example/"><topic>Top/Arts/Poetry</topic></ExternalPage>
</RDF>
`

func entries(t *testing.T, dump string) (out []Entry) {
	t.Helper()
	_, err := Each(strings.NewReader(dump), func(e Entry) bool { out = append(out, e); return true })
	require.NoError(t, err)
	return out
}

func TestEach(t *testing.T) {
	t.Parallel()
	got := entries(t, odp)
	require.Len(t, got, 6)
	require.Equal(t, Entry{URL: "http://Primes.example:80/", Category: "Top/Science/Math/Number_Theory"}, got[0])
	require.Equal(t, "http://primes.example/", got[2].URL)
	require.True(t, strings.HasPrefix(got[2].Title, "Primes & more"), "%q", got[2].Title)
	require.Equal(t, "Top/Arts/Poetry", got[5].Category)

	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.WriteString(z, odp)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.Equal(t, got, entries(t, packed.String()))

	require.Equal(t, []Entry{{URL: "http://a.example/", Category: "Math/Number Theory", Title: "A, B"}, {URL: "http://b.example/", Category: "Arts"}},
		entries(t, "Title,URL,Category\n\"A, B\",http://a.example/,Math/Number Theory\n,http://b.example/,Arts,too,many\n"))
	require.Equal(t, []Entry{{URL: "http://a.example/", Category: "Arts", Description: "an \"odd\" one"}},
		entries(t, "topic\tlink\tdescription\nArts\thttp://a.example/\tan \"odd\" one\n"))
}

// TestNoDump: what cannot be read is named, and what came before it is not lost.
func TestNoDump(t *testing.T) {
	t.Parallel()
	for dump, says := range map[string]string{
		"":                               "empty",
		" \n":                            "empty",
		"name,colour\nx,y\n":             "url and category",
		"<html><p>no dump</p></html>":    "no page",
		odp[:strings.Index(odp, "Sums")]: "EOF",
		"\x1f\x8bno gzip":                "EOF",
		"<RDF><ExternalPage about=\"http://a.example/\"><topic>" + strings.Repeat("x", 2*maxEntry) + "</topic></ExternalPage></RDF>": "bytes",
		"url,category\nhttp://a.example/,\"" + strings.Repeat("x", 2*maxEntry):                                                       "bytes",
		`<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><RDF><link resource="&b;"/></RDF>`:                                     "",
	} {
		_, err := Each(strings.NewReader(dump), func(Entry) bool { return true })
		if says == "" {
			require.NoError(t, err, "%.60q", dump)
			continue
		}
		require.ErrorIs(t, err, ErrFormat, "%.60q", dump)
		require.ErrorContains(t, err, says, "%.60q", dump)
	}
}

// TestBrokenEntries: a dump is read on behind an entry that is no XML, in whatever
// encoding it says to be, and is not held open.
func TestBrokenEntries(t *testing.T) {
	t.Parallel()
	const page = "<ExternalPage about=\"http://%s.example/\"><d:Title>%s</d:Title><topic>Top/Math</topic></ExternalPage>\n"
	dump := "<?xml version='1.0' encoding='ISO-8859-1'?><RDF>" + fmt.Sprintf(page, "a", "A\xe9") + fmt.Sprintf(page, "b", "x < y") + fmt.Sprintf(page, "c", "C") + "</RDF>"
	f := NewFinder([]topic.Topic{{ID: "math"}})
	require.NoError(t, f.Read(strings.NewReader(dump)))
	require.Equal(t, []string{"http://a.example/", "http://c.example/"}, f.Of["math"])
	require.Equal(t, 1, f.Broken)
	_, err := Each(strings.NewReader(strings.Repeat("<a>", 1000)), func(Entry) bool { return true })
	require.ErrorContains(t, err, "open at once")
}

// TestBoundedEntries: what a dump says of one page is bounded, however it is cut into
// elements, what it says of no page is not kept, and a path has an end.
func TestBoundedEntries(t *testing.T) {
	t.Parallel()
	title := "<d:Title>" + strings.Repeat("x", 900_000) + "</d:Title>"
	_, err := Each(strings.NewReader("<RDF><ExternalPage about=\"http://a.example/\">"+strings.Repeat(title, 3)+"</ExternalPage></RDF>"), func(Entry) bool { return true })
	require.ErrorContains(t, err, "bytes")
	var got []Entry
	broken, err := Each(strings.NewReader("<RDF><Topic r:id=\"Top/Math\"><d:Title>Math</d:Title></Topic>"+strings.Repeat("<Alias>"+title+"</Alias>", 3)+
		"<ExternalPage about=\"http://a.example/\"><d:Title>A</d:Title><topic>Top/Math</topic></ExternalPage></RDF>"), func(e Entry) bool { got = append(got, e); return true })
	require.NoError(t, err)
	require.Zero(t, broken)
	require.Equal(t, []Entry{{URL: "http://a.example/", Category: "Top/Math", Title: "A"}}, got)
	f := NewFinder([]topic.Topic{{ID: "deep"}, {ID: "math"}})
	path := "Math/" + strings.Repeat("x/", 2*maxDepth)
	require.NoError(t, f.Read(strings.NewReader("url,category\nhttp://a.example/,"+path+"Deep\n")))
	require.Equal(t, map[string][]string{"math": {"http://a.example/"}}, f.Of)
}

func TestFind(t *testing.T) {
	t.Parallel()
	f := NewFinder([]topic.Topic{{ID: "mathematics/number theory"}, {ID: "sums", Categories: []string{"Top/Science/Math/Number_Theory/"}}, {ID: "verse", Categories: []string{"top/arts"}}, {ID: "none"}})
	require.NoError(t, f.Read(strings.NewReader(odp)))
	math := []string{"http://primes.example/", "http://sums.example/"}
	require.Equal(t, map[string][]string{"mathematics/number theory": math, "sums": math, "verse": {"http://verse.example/"}}, f.Of)
	require.Equal(t, []int{6, 6, 2}, []int{f.Entries, f.Met, f.Left})

	var big strings.Builder
	big.WriteString("url,category\n")
	for i := range 1000 {
		fmt.Fprintf(&big, "http://h%d.example/,none\nhttp://one.example/%d,none\n", i, i)
	}
	require.NoError(t, f.Read(strings.NewReader(big.String())))
	require.Len(t, f.Of["none"], PerTopic)
	one := 0
	for _, u := range f.Of["none"] {
		if strings.HasPrefix(u, "http://one.example/") {
			one++
		}
	}
	require.Equal(t, perHost, one, "no host fills a topic alone")
	require.Len(t, f.Of["verse"], 1)

	topics := make([]topic.Topic, 500)
	for i := range topics {
		topics[i].ID = fmt.Sprintf("t%d", i)
	}
	f = NewFinder(topics)
	require.NoError(t, f.Read(strings.NewReader(strings.ReplaceAll(big.String(), ",none", ",t0")+"http://last.example/,t499\n")))
	require.Len(t, f.Of["t0"], all/500, "no topic takes what is the others'")
	require.Len(t, f.Of["t499"], 1)

	f = NewFinder([]topic.Topic{{ID: "math"}})
	require.NoError(t, f.Read(strings.NewReader("url,category\nhttp://a.example/p,Math\nhttps://a.example/p,Math\n")))
	require.Len(t, f.Of["math"], 1, "one page")
}

func FuzzEach(f *testing.F) {
	f.Add(odp)
	f.Add("url,category\nhttp://a.example/,\"x\n")
	f.Fuzz(func(t *testing.T, dump string) {
		_, err := Each(strings.NewReader(dump), func(Entry) bool { return true })
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
		}
	})
}
