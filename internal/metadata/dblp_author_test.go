package metadata

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

// TestResolveAuthor finds one person by id, address or name, and says who else may
// be meant.
func TestResolveAuthor(t *testing.T) {
	t.Parallel()
	hits := func(people ...string) string {
		var all []string
		for i := 0; i < len(people); i += 2 {
			all = append(all, `{"info":{"author":"`+people[i]+`","url":"https://dblp.org/pid/`+people[i+1]+`"}}`)
		}
		return `{"result":{"hits":{"@total":"1","hit":[` + strings.Join(all, ",") + `]}}}`
	}
	cfg, _ := stubConfig(t, map[string][]reply{
		"/pid/65/2885.xml":   one(personPage("65/2885", "Ada Lovelace")),
		"/pid/w/WeiWang.xml": one(`<dblpperson name="Wei Wang" pid="w/WeiWang"><person key="homepages/w/WeiWang" publtype="disambiguation"><author>Wei Wang</author></person></dblpperson>`),
		"author/api?f=0&format=json&h=100&q=Ada+Lovelace": one(hits("Ada Lovelace", "65/2885", "Ada K. Lovelace", "1/2")),
		"author/api?f=0&format=json&h=100&q=Wei+Wang":     one(hits("Wei Wang 0001", "7/1", "Wei Wang 0002", "7/2")),
		"author/api?f=0&format=json&h=100&q=Adah":         one(hits("Ada Lovelace", "65/2885")),
		"author/api?f=0&format=json&h=100&q=Bob":          {{status: 503}},
	})
	d := NewDBLP(cfg)
	for _, name := range []string{"65/2885", "https://dblp.org/pid/65/2885.html", "Ada Lovelace"} {
		a, err := d.ResolveAuthor(t.Context(), name)
		require.NoError(t, err, name)
		assert.Equal(t, gleaner.Author{PID: "65/2885", Name: "Ada Lovelace"}, a, name)
	}
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), late} {
		_, err := d.ResolveAuthor(ctx, "Bob") // the search does not answer: the error names a way out
		require.ErrorContains(t, err, "dblp-url")
		require.ErrorContains(t, err, "65/2885")
	}
	for name, say := range map[string]string{
		"9/9":       `no person "9/9" is known to DBLP`,
		"w/WeiWang": `DBLP knows several people as "w/WeiWang"; name one by the id`,
		"Wei Wang":  `DBLP knows several people as "Wei Wang"; name one by the id: 7/1 (Wei Wang 0001), 7/2 (Wei Wang 0002)`,
		"Adah":      `no person "Adah" is known to DBLP; did you mean: 65/2885 (Ada Lovelace)`,
	} {
		_, err := d.ResolveAuthor(t.Context(), name)
		assert.Equal(t, say, as[errNotOnePerson](t, err).Error(), name)
	}
}

// TestPapersOf lists a person's own records, each of its venue, and no namesake's.
func TestPapersOf(t *testing.T) {
	t.Parallel()
	cfg, _ := stubConfig(t, map[string][]reply{"/pid/1/2.xml": one(`<dblpperson name="Ann Lee" pid="1/2" n="3">
<person key="homepages/1/2"><author pid="1/2">Ann Lee</author></person>
<homonyms n="1"><h f="k"><person key="homepages/1/2-1"><author>Ann Lee 0001</author></person></h></homonyms>
<r><article key="journals/jex/L03"><author pid="1/2">Ann Lee</author><author pid="5/6">Bob Bell</author><title>A New Thing.</title><year>2003</year><ee>https://doi.org/10.1145/1.2</ee></article></r>
<r><inproceedings key="conf/exa/LeeB01"><author pid="1/2">Ann Lee</author><title>An Old Thing.</title><year>2001</year></inproceedings></r>
<r><proceedings key="conf/exa/2003"><editor pid="1/2">Ann Lee</editor><title>EXA.</title></proceedings></r>
</dblpperson>`)})
	papers, err := NewDBLP(cfg).PapersOf(t.Context(), "1/2")
	require.NoError(t, err)
	require.Len(t, papers, 2)
	want := gleaner.Paper{Key: "journals/jex/L03", Venue: "journals/jex", Year: 2003, Title: "A New Thing", DOI: "10.1145/1.2",
		Authors: []gleaner.Author{{PID: "1/2", Name: "Ann Lee"}, {PID: "5/6", Name: "Bob Bell"}}, Links: []string{"https://doi.org/10.1145/1.2"}}
	assert.Equal(t, want, papers[0])
	assert.Equal(t, "conf/exa", papers[1].Venue)
	_, err = NewDBLP(cfg).PapersOf(t.Context(), "9/9")
	as[errNotOnePerson](t, err)
}
