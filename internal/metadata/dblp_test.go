package metadata

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// hits composes an answer of the search service.
func hits(total, first int, infos ...string) string {
	list := each.Of(infos, func(in string) string { return `{"@score":"1","@id":"7","info":` + in + `,"url":"URL#7"}` })
	hit := ""
	if len(list) > 0 {
		hit = `,"hit":[` + strings.Join(list, ",") + `]`
	}
	return fmt.Sprintf(`{"result":{"query":"q","status":{"@code":"200","text":"OK"},"hits":{"@total":"%d","@computed":"%d","@sent":"%d","@first":"%d"%s}}}`, total, len(infos), len(infos), first, hit)
}

func info(key, title string) string {
	return fmt.Sprintf(`{"authors":{"author":{"@pid":"1/2","text":"Ann Lee"}},"title":%q,"venue":"EXA","year":"2003","type":"Conference and Workshop Papers","key":%q}`, title, key)
}

const exaIndex = `<?xml version="1.0" encoding="UTF-8"?>
<bht key="db/conf/exa/index.bht" title="Symposium on Examples (EXA)">
<h1>Symposium on Examples</h1>
<h2>2004</h2>
<dblpcites><r><proceedings key="conf/exa/2004-1" mdate="2010-01-01"><editor pid="9/9">Ed Itor</editor><title>EXA 2004, Part I.</title><year>2004</year><booktitle>EXA (1)</booktitle><url>db/conf/exa/exa2004-1.html</url></proceedings></r>
<r><proceedings key="conf/exa/2004-2"><title>EXA 2004, <i>Part II</i>.</title><year>2004</year><url>db/conf/exa/exa2004-2.html</url></proceedings></r></dblpcites>
<h2>EXA 2003</h2>
<dblpcites><r><proceedings key="conf/exa/2003"><title>EXA 2003.</title><year>2003</year><url>db/conf/exa/old98c.html</url></proceedings></r></dblpcites>
<h2>1999</h2>
<ul><li>Informal proceedings: <ref href="db/conf/exa/informal.html">Contents</ref></li></ul>
<h2>2001: in another journal</h2>
<p><ref href="db/journals/oth/oth7.html">Volume 7</ref></p>
</bht>`

const jexIndex = `<?xml version="1.0" encoding="UTF-8"?>
<bht key="db/journals/jex/index.bht" title="Journal of Examples">
<ul>
<li><ref href="db/journals/jex/jex21.html">Volume 21: 2004/05</ref></li>
<li>2003: Volumes <ref href="db/journals/jex/jex20.html">20</ref>, <ref href="db/journals/jex/jex19.html">19</ref></li>
<li><ref href="db/journals/jex/jex1999.html">Volume 1999: 2002</ref></li>
<li><ref href="db/journals/jex/jexs.html">Special volume</ref></li>
<li><ref href="db/journals/other/other3.html">Related: 2003</ref></li>
</ul>
</bht>`

func TestIndexShapes(t *testing.T) {
	t.Parallel()
	vols := func(body, key string) map[string]gleaner.Years {
		ix, err := parseIndex([]byte(body), key)
		require.NoError(t, err)
		out := map[string]gleaner.Years{}
		for _, v := range ix.volumes {
			out[v.TOC] = v.Years
		}
		return out
	}
	got := vols(exaIndex, "conf/exa")
	want := map[string]gleaner.Years{
		"db/conf/exa/exa2004-1": single(2004), "db/conf/exa/exa2004-2": single(2004),
		"db/conf/exa/old98c": single(2003), "db/conf/exa/informal": single(1999),
	}
	assert.Equal(t, want, got, "conference")
	got = vols(jexIndex, "journals/jex")
	want = map[string]gleaner.Years{
		"db/journals/jex/jex21": {From: 2004, To: 2005}, "db/journals/jex/jex20": single(2003), "db/journals/jex/jex19": single(2003),
		"db/journals/jex/jex1999": single(2002), "db/journals/jex/jexs": {},
	}
	assert.Equal(t, want, got, "journal")
	_, err := parseIndex([]byte(exaIndex[:300]), "conf/exa")
	require.Error(t, err, "an index that breaks off is taken for whole")
}

func TestYearsIn(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]gleaner.Years{
		"Volume 10: 1999": single(1999), "1999/2000": {From: 1999, To: 2000}, "Volume 3, 1999/00": {From: 1999, To: 2000},
		"2004–2005": {From: 2004, To: 2005}, "30. EXA 2003: Paris, France": single(2003), "LNCS 12345": {},
		"no year": {}, "2003-03-05": single(2003),
	} {
		assert.Equal(t, want, yearsIn(s), s)
	}
}

func TestPapersOfAVolume(t *testing.T) {
	t.Parallel()
	cfg, s := stubConfig(t, map[string][]reply{
		"f=0&": one(hits(5, 0,
			`{"authors":{"author":[{"@pid":"1/2","text":"Wei Wang 0001"},{"@pid":"3/4","text":"J&uuml;rgen K&ouml;nig"}]},"title":"Trees &amp; Graphs: &lt;i&gt;Fast&lt;/i&gt; Lists.","venue":"EXA","pages":"1-9","year":"2003","type":"Conference and Workshop Papers","key":"conf/exa/WangK03","doi":"10.1145/ABC.DEF","ee":["https://doi.org/10.1145/ABC.DEF","https://arxiv.org/abs/0301.0001v2"]}`,
			`{"authors":{"author":["Ann Lee","Bo Chen"]},"title":"How Far Is It ...","venue":["EXA","Extra"],"year":"2003","type":"Conference and Workshop Papers","key":"conf/exa/LeeC03","ee":"http://exa.example/p2.html"}`,
			`{"authors":{"author":{"@pid":"9/9","text":"Ed Itor"}},"title":"Proceedings of EXA 2003.","year":"2003","type":"Editorship","key":"conf/exa/2003"}`)),
		"f=3&": one(hits(5, 3,
			`{"title":"Front Matter.","year":"2003","type":"Conference and Workshop Papers","key":"conf/exa/X03"}`,
			`{"authors":{"author":{"@pid":"1/2","text":"Gone"}},"title":"Withdrawn: A Paper.","year":"2003","type":"Withdrawn Items","key":"conf/exa/W03"}`)),
	})
	papers, err := NewDBLP(cfg).Papers(t.Context(), Volume{Venue: "conf/exa", TOC: "db/conf/exa/exa2003"})
	require.NoError(t, err)
	want := []gleaner.Paper{
		{Key: "conf/exa/WangK03", Venue: "conf/exa", Year: 2003, Title: "Trees & Graphs: Fast Lists", Pages: "1-9",
			Authors: []gleaner.Author{{PID: "1/2", Name: "Wei Wang"}, {PID: "3/4", Name: "Jürgen König"}},
			DOI:     "10.1145/abc.def", ArXiv: "0301.0001", Links: []string{"https://doi.org/10.1145/ABC.DEF", "https://arxiv.org/abs/0301.0001v2"}},
		{Key: "conf/exa/LeeC03", Venue: "conf/exa", Year: 2003, Title: "How Far Is It ...",
			Authors: []gleaner.Author{{Name: "Ann Lee"}, {Name: "Bo Chen"}}, Links: []string{"http://exa.example/p2.html"}},
	}
	assert.Equal(t, want, papers)
	assert.Equal(t, 2, s.count("search/publ"))
	require.Contains(t, s.asked[0], "q=toc%3Adb%2Fconf%2Fexa%2Fexa2003.bht%3A")
	assert.Contains(t, s.asked[0], "h=1000")
}

const exaPage = `<?xml version="1.0" encoding="ISO-8859-1"?>
<bht key="db/conf/exa/exa2003.bht" title="EXA 2003"><h1>EXA 2003</h1>
<dblpcites><r><proceedings key="conf/exa/2003"><title>Proceedings.</title><year>2003</year></proceedings></r></dblpcites>
<h2>Session 1</h2><dblpcites>
<r style="ee"><inproceedings key="conf/exa/A03"><author pid="1/2" orcid="0000-0002-1825-0097">Ann Lee 0002</author><title>On H<sub>2</sub>O and <i>b&uuml;gs</i>.</title><pages>1-9</pages><year>2003</year><booktitle>EXA</booktitle><ee type="oa">http://exa.example/a.pdf</ee><url>db/conf/exa/exa2003.html#A03</url></inproceedings></r>
<r><inproceedings key="conf/exa/B03" publtype="withdrawn"><author pid="1/2">Ann Lee</author><title>Gone.</title><year>2003</year></inproceedings></r>
</dblpcites></bht>`

func TestFallbacks(t *testing.T) {
	t.Parallel()
	vol := Volume{Venue: "conf/exa", TOC: "db/conf/exa/exa2003", Years: single(2003)}
	busy := reply{status: 503, header: map[string]string{"Retry-After": "1"}}
	for name, c := range map[string]struct {
		replies map[string][]reply
		key     string // of the single paper found
		err     error
	}{
		"search busy, then well":   {map[string][]reply{"dblp.org/search": {busy, {body: hits(1, 0, info("conf/exa/S", "S."))}}}, "conf/exa/S", nil},
		"search down, mirror well": {map[string][]reply{"dblp.org/search": {{status: 500}}, "uni-trier.de/search": one(hits(1, 0, info("conf/exa/M", "M.")))}, "conf/exa/M", nil},
		"both down, page well":     {map[string][]reply{"/search/": {busy}, "dblp.org/db/": one(exaPage)}, "conf/exa/A03", nil},
		"search has no answer":     {map[string][]reply{"/search/": {{err: errors.New("connection refused")}}, "dblp.org/db/": one(exaPage)}, "conf/exa/A03", nil},
		"search sends a wall":      {map[string][]reply{"/search/": one("<!DOCTYPE html><title>Checking your browser</title>"), "dblp.org/db/": one(exaPage)}, "conf/exa/A03", nil},
		"search empty, page well":  {map[string][]reply{"/search/": one(hits(0, 0)), "dblp.org/db/": one(exaPage)}, "conf/exa/A03", nil},
		"search ends early":        {map[string][]reply{"f=0&": one(hits(2, 0, info("conf/exa/S", "S."))), "f=1&": one(hits(2, 1)), "dblp.org/db/": one(exaPage)}, "conf/exa/A03", nil},
		"page breaks off":          {map[string][]reply{"/search/": {busy}, "dblp.org/db/": one(exaPage[:len(exaPage)/2]), "uni-trier.de/db/": one(exaPage)}, "conf/exa/A03", nil},
		"no such volume":           {map[string][]reply{"/search/": one(hits(0, 0))}, "", ErrNoVolume{Venue: "conf/exa", TOC: vol.TOC, Years: vol.Years}},
		"all down":                 {map[string][]reply{"http": {{status: 503, header: map[string]string{"Retry-After": "600"}}}}, "", ErrUnavailable{}},
	} {
		t.Log(name)
		synctest.Test(t, func(t *testing.T) { fallback(t, vol, c.replies, c.key, c.err) })
	}
}

// fallback asks for a volume and expects the paper of one key, or an error.
func fallback(t *testing.T, vol Volume, replies map[string][]reply, key string, want error) {
	t.Helper()
	cfg, _ := stubConfig(t, replies)
	papers, err := NewDBLP(cfg).Papers(t.Context(), vol)
	switch {
	case want == nil:
		require.NoError(t, err)
		assert.Equal(t, []string{key}, each.Of(papers, func(p gleaner.Paper) string { return p.Key }))
	case is[ErrUnavailable](want):
		down := as[ErrUnavailable](t, err)
		assert.Equal(t, []any{10 * time.Minute, 503}, []any{down.RetryAfter, down.Status})
		for words, times := range map[string]int{"\n": 0, "is unavailable": 1, "worth asking again": 1} {
			assert.Equal(t, times, strings.Count(err.Error(), words), err)
		}
	default:
		assert.Equal(t, want, err)
	}
}

func TestPageRecords(t *testing.T) {
	t.Parallel()
	cfg, _ := stubConfig(t, map[string][]reply{"/search/": {{status: 503}}, "dblp.org/db/": one(exaPage)})
	papers, err := NewDBLP(cfg).Papers(t.Context(), Volume{Venue: "conf/exa", TOC: "db/conf/exa/exa2003"})
	want := []gleaner.Paper{{Key: "conf/exa/A03", Venue: "conf/exa", Year: 2003, Title: "On H2O and bügs", Pages: "1-9",
		Authors: []gleaner.Author{{PID: "1/2", Name: "Ann Lee"}}, Links: []string{"http://exa.example/a.pdf"}}}
	require.NoError(t, err)
	assert.Equal(t, want, papers)
}

func TestVolumesByYear(t *testing.T) {
	t.Parallel()
	cfg, _ := stubConfig(t, map[string][]reply{"/db/conf/exa/index.xml": one(exaIndex), "/db/journals/jex/index.xml": one(jexIndex)})
	d := NewDBLP(cfg)
	for _, c := range []struct {
		key      string
		from, to int
		want     int
	}{
		{"conf/exa", 1999, 2004, 4}, {"conf/exa", 2004, 2004, 2}, {"conf/exa", 2003, 2003, 1},
		// The volume without a year is always among them: its papers decide.
		{"journals/jex", 2005, 2005, 2}, {"journals/jex", 2003, 2003, 3}, {"journals/jex", 1980, 1980, 1},
	} {
		vols, err := d.Volumes(t.Context(), c.key, gleaner.Years{From: c.from, To: c.to})
		require.NoError(t, err, "%+v", c)
		assert.Len(t, vols, c.want, "%+v", c)
	}
	_, err := d.Volumes(t.Context(), "conf/exa", single(2001))
	assert.Equal(t, ErrNoVolume{Venue: "conf/exa", Years: single(2001), Listed: gleaner.YearsOf(1999, 2003, 2004), SeeAlso: []string{"db/journals/oth/oth7"}}, err)
	assert.EqualError(t, err, "conf/exa has no volume for 2001; its index lists 1999,2003-2004; see also db/journals/oth/oth7")
	_, err = d.Volumes(t.Context(), "conf/none", single(2001))
	as[ErrUnknownVenue](t, err)
}

func TestListKeepsTheYears(t *testing.T) {
	t.Parallel()
	in := func(key, year string) string {
		return strings.Replace(strings.Replace(info(key, "A Title of "+key+"."), `"2003"`, `"`+year+`"`, 1), "Conference and Workshop Papers", "Journal Articles", 1)
	}
	cfg, _ := stubConfig(t, map[string][]reply{
		"/db/journals/jex/index.xml": one(jexIndex),
		"jex20.bht":                  one(hits(2, 0, in("journals/jex/A", "2003"), in("journals/jex/B", "2004"))),
		"jex19.bht":                  one(hits(1, 0, in("journals/jex/C", "2003"))),
		"jexs.bht":                   one(hits(1, 0, in("journals/jex/D", "1995"))),
	})
	var volumes [][2]int
	report := func(done, of int) { volumes = append(volumes, [2]int{done, of}) }
	papers, err := NewDBLP(cfg).List(t.Context(), gleaner.Venue{Key: "journals/jex"}, single(2003), report)
	require.NoError(t, err)
	assert.Equal(t, [][2]int{{0, 3}, {1, 3}, {2, 3}}, volumes)
	keys := each.Of(papers, func(p gleaner.Paper) string { return p.Key })
	assert.Equal(t, []string{"journals/jex/A", "journals/jex/C"}, keys)
	_, err = NewDBLP(cfg).List(t.Context(), gleaner.Venue{Key: "journals/jex"}, single(1980), report)
	assert.Equal(t, gleaner.Years{From: 2002, To: 2005}, as[ErrNoVolume](t, err).Listed)
}
