package seeds

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/lab/packtest"
	"gleaner/internal/topic"
)

// odp is a dump of a directory, faults and all.
const odp = "\xef\xbb\xbfurl,category,title,description\n" + `http://Primes.example:80/,Top/Science/Math/Number_Theory
http://sieve.example/paper.pdf,Top/Science/Math/Number_Theory
http://primes.example/,Top/Science/Math/Number_Theory,Primes & more ` + "\x01\xff" + `,All <b>about</b> primes
http://sums.example/,Top/Science/Math/Number_Theory/Sums,Sums
javascript:alert(1),Top/Science/Math/Number_Theory
http://verse.example/,Top/Arts/Poetry
`

func entries(t *testing.T, dump string) (out []Entry) {
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
	require.Equal(t, "Top/Arts/Poetry", got[5].Category)

	require.Equal(t, got, entries(t, string(packtest.Gzip(odp))))

	require.Equal(t, []Entry{{URL: "http://a.example/", Category: "Math/Number Theory"}, {URL: "http://b.example/", Category: "Arts"}},
		entries(t, "Title,URL,Category\n\"A, B\",http://a.example/,Math/Number Theory\n,http://b.example/,Arts,too,many\n"))
	require.Equal(t, []Entry{{URL: "http://a.example/", Category: "Arts"}},
		entries(t, "topic\tlink\tdescription\nArts\thttp://a.example/\tan \"odd\" one\n"))
}

// TestNoDump: what cannot be read is named, and what came before it is not lost.
func TestNoDump(t *testing.T) {
	t.Parallel()
	for dump, says := range map[string]string{
		"":                   "empty",
		" \n":                "empty",
		"name,colour\nx,y\n": "url and category",
		"<RDF><ExternalPage about=\"http://a.example/\"/></RDF>": "url and category",
		"\x1f\x8bno gzip": "EOF",
		"url,category\nhttp://a.example/,\"" + strings.Repeat("x", 2*maxEntry): "bytes",
	} {
		_, err := Each(strings.NewReader(dump), func(Entry) bool { return true })
		require.ErrorIs(t, err, ErrFormat, "%.60q", dump)
		require.ErrorContains(t, err, says, "%.60q", dump)
	}
}

// TestLongPaths: a path has an end.
func TestLongPaths(t *testing.T) {
	t.Parallel()
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
	one := each.Count(f.Of["none"], func(u string) bool { return strings.HasPrefix(u, "http://one.example/") })
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
