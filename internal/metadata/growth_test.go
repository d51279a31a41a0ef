package metadata

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/growthtest"
)

// foreign are the clients, each with one question to which a service may answer
// whatever it likes.
var foreign = map[string]func(ctx context.Context, cfg Config) error{
	"dblp search": func(ctx context.Context, cfg Config) error {
		return errorOf(NewDBLP(cfg).bases[0].searchVolume(ctx, "db/conf/x/x2003"))
	},
	"dblp venues": func(ctx context.Context, cfg Config) error {
		return errorOf(NewDBLP(cfg).bases[0].searchVenues(ctx, "x"))
	},
	"dblp volume": func(ctx context.Context, cfg Config) error {
		vol := Volume{Venue: "conf/x", TOC: "db/conf/x/x2003", Years: single(2003)}
		records, err := NewDBLP(cfg).bases[0].volumePage(ctx, vol.TOC)
		papersOf(records, vol)
		return err
	},
	"dblp index": func(ctx context.Context, cfg Config) error {
		return errorOf(NewDBLP(cfg).bases[0].indexPage(ctx, "conf/x"))
	},
	"dblp person": func(ctx context.Context, cfg Config) error {
		return errorOf(NewDBLP(cfg).bases[0].personPage(ctx, "1/2", func(record) {}))
	},
	"crossref": func(ctx context.Context, cfg Config) error {
		return takenIn(NewCrossref(cfg).Papers(ctx, gleaner.Venue{Key: "journals/x", IDs: map[string]string{"issn": "1234-5678"}}, single(2003)))
	},
	"crossref copies": func(ctx context.Context, cfg Config) error {
		return errorOf(NewCrossref(cfg).Copies(ctx, gleaner.Paper{DOI: "10.1/a"}))
	},
	"openalex": func(ctx context.Context, cfg Config) error {
		return takenIn(NewOpenAlex(cfg).Papers(ctx, gleaner.Venue{Key: "journals/x", IDs: map[string]string{"issn": "1234-5678"}}, single(2003)))
	},
	"openalex copies": func(ctx context.Context, cfg Config) error {
		c, err := NewOpenAlex(cfg).Copies(ctx, gleaner.Paper{DOI: "10.1/a"})
		rankOf(c)
		return err
	},
	"unpaywall": func(ctx context.Context, cfg Config) error {
		c, err := NewUnpaywall(cfg).Copies(ctx, gleaner.Paper{DOI: "10.1/a"})
		rankOf(c)
		return err
	},
	"semantic scholar": func(ctx context.Context, cfg Config) error {
		return errorOf(NewSemanticScholar(cfg).Copies(ctx, gleaner.Paper{DOI: "10.1/a"}))
	},
	"semantic scholar people": func(ctx context.Context, cfg Config) error {
		return errorOf(NewSemanticScholar(cfg).Persons(ctx, []string{"1"}))
	},
	"orcid": func(ctx context.Context, cfg Config) error {
		return errorOf(NewORCID(cfg).Person(ctx, "0000-0002-1825-0097"))
	},
	"arxiv": func(ctx context.Context, cfg Config) error {
		return errorOf(NewArXiv(cfg).Copies(ctx, gleaner.Paper{Title: "On the growth of things", Year: 2003}))
	},
	"acl": func(ctx context.Context, cfg Config) error {
		return takenIn(NewACL(cfg).Papers(ctx, gleaner.Venue{Key: "conf/acl"}, single(2003)))
	},
	"oai": func(ctx context.Context, cfg Config) error {
		return takenIn(NewOAI(cfg, "https://oai.example.org").Papers(ctx, gleaner.Venue{Key: "conf/x", IDs: map[string]string{"oai": "x"}}, single(2003)))
	},
}

// errorOf is the error alone.
func errorOf[T any](_ T, err error) error { return err }

func takenIn(papers []gleaner.Paper, err error) error {
	Merge(Listing{Source: "a", Papers: papers}, Listing{Source: "b", Papers: papers})
	if err == nil {
		_, err = Sound(context.Background(), slog.Default(), "a", papers)
	}
	return err
}

var rep, between = growthtest.Fill, growthtest.Between

// counting makes answers that repeat something in which each has another word.
func counting(before, again, end, after string) func(n int) []byte {
	return func(n int) []byte { return []byte(before + growthtest.Numbered(again+"%s"+end, n) + after) }
}

// worst are answers that cost the reader most, by their number of bytes or so.
var worst = []struct {
	name, of string
	answer   func(n int) []byte
}{
	{"hits of one key", "dblp search",
		between(`{"result":{"hits":{"@total":"9","hit":[`, `{"info":{"key":"a"}},`, `{}]}}}`)},
	{"authors, one or many", "dblp search", between(`{"result":{"hits":{"@total":"1","hit":{"info":{"key":"a","authors":{"author":[`, `"b",{"text":"c"},`, `"d"]}}}}}}`)},
	{"nesting", "dblp search", func(n int) []byte { return []byte(`{"result":` + rep("[", n) + rep("]", n) + `}`) }},
	{"nesting within a hit", "dblp search", func(n int) []byte {
		return []byte(`{"result":{"hits":{"@total":"1","hit":{"info":` + strings.Repeat("[", min(n, 9000)) + strings.Repeat("]", min(n, 9000)) + rep(" ", n) + `}}}}`)
	}},
	{"no count", "dblp search", between(`{"result":{"text":"`, "x", `"}}`)},
	{"venues", "dblp venues", between(`{"result":{"hits":{"@total":"9","hit":[`, `{"info":{"venue":["&amp;&amp;"],"url":"https://dblp.org/db/conf/a/"}},`, `{"info":{}}]}}}`)},
	{"records", "dblp volume",
		between(`<bht><dblpcites><r>`, `<article key="a"><title>b</title></article>`, `</r></dblpcites></bht>`)},
	{"a title of markup", "dblp volume",
		between(`<bht><r><article key="a"><title>`, "<i>", `</title></article></r></bht>`)},
	{"a title of ends of markup", "dblp volume",
		between(`<bht><r><article key="a"><title>`, "&lt;i &amp;amp;", `</title></article></r></bht>`)},
	{"a title of accents", "dblp volume",
		between(`<bht><r><article key="a"><title>a`, "\u0301\u0323", `</title></article></r></bht>`)},
	{"open elements", "dblp volume", func(n int) []byte { return []byte(rep("<a>", n)) }},
	{"closed elements", "dblp volume", func(n int) []byte { return []byte("<bht><r>" + rep("<a></b>", n)) }},
	{"attributes", "dblp volume", between("<bht><r><article ", `a="b" `, "/></r></bht>")},
	{"entities", "dblp volume", func(n int) []byte { return []byte("<bht><r><article><title>" + rep("&eacute;&x", n)) }},
	{"links", "dblp volume", between(`<bht><r><article key="a"><title>b</title>`, "<ee>https://doi.org/10.1234/%28a</ee>", `</article></r></bht>`)},
	{"a long heading over many references", "dblp index", func(n int) []byte {
		return []byte(`<bht><h2>` + rep("x 1", n) + `</h2>` + rep(`<ref href="db/conf/x/y"/>`, n) + `</bht>`)
	}},
	{"a long heading over many items", "dblp index", func(n int) []byte {
		return []byte(`<bht><h2>` + rep("x 1", n) + `</h2>` + rep(`<li><ref href="db/conf/x/y"/></li>`, n) + `</bht>`)
	}},
	{"years in an item", "dblp index", func(n int) []byte {
		return []byte(`<bht><li>` + rep("1999/00 ", n) + rep(`<ref href="db/conf/x/y"/>`, n) + `</li></bht>`)
	}},
	{"other venues", "dblp index", between(`<bht>`, `<ref href="db/conf/y/y">2003</ref>`, `</bht>`)},
	{"names of a person", "dblp person", counting(`<dblpperson name="A" pid="1/2"><person key="homepages/1/2">`, "<author>B ", "</author>", `</person></dblpperson>`)},
	{"addresses of a person", "dblp person", counting(`<dblpperson name="A" pid="1/2"><person key="homepages/1/2">`, "<url>http://a.example/", "</url>", `</person></dblpperson>`)},
	{"affiliations of a person", "dblp person", counting(`<dblpperson name="A" pid="1/2"><person key="homepages/1/2">`, `<note type="affiliation">`, "</note>", `</person></dblpperson>`)},
	{"works", "crossref", counting(`{"message":{"total-results":1,"items":[`, `{"type":"journal-article","issued":{"date-parts":[[2003]]},"DOI":"10.1/a","title":["On the growth of `, `"]},`, `{}]}}`)},
	{"authors", "crossref", between(`{"message":{"total-results":1,"items":[{"type":"journal-article","DOI":"10.1/a","title":["a"],"issued":{"date-parts":[[2003]]},"author":[`, `{"given":" ","family":"&amp;"},`, `{}]}]}}`)},
	{"a subtitle", "crossref", func(n int) []byte {
		return []byte(`{"message":{"total-results":1,"items":[{"type":"journal-article","DOI":"10.1/a","title":["` + rep("ab", n) + `"],"subtitle":["` + rep("ab", n/2) + `c"]}]}}`)
	}},
	{"links", "crossref copies", counting(`{"message":{"license":[{"URL":"https://creativecommons.org/licenses/by/4.0"}],"link":[`, `{"content-type":"application/pdf","URL":"https://a.example/`, `"},`, `{}]}}`)},
	{"works", "openalex", counting(`{"meta":{"count":1},"results":[`, `{"publication_year":2003,"id":"W1","title":"On the growth of `, `"},`, `{}]}`)},
	{"authors", "openalex", between(`{"meta":{"count":1},"results":[{"id":"W1","title":"a","publication_year":2003,"authorships":[`, `{"author":{"display_name":"B C"}},`, `{}]}]}`)},
	{"locations", "openalex copies", counting(`{"meta":{"count":1},"results":[{"id":"W1","doi":"10.1/a","locations":[`, `{"is_oa":true,"pdf_url":"https://a.example/`, `"},`, `{}]}]}`)},
	{"locations", "unpaywall", counting(`{"oa_locations":[`, `{"url":"https://a.example/`, `"},`, `{}]}`)},
	{"one location", "unpaywall", between(`{"oa_locations":[`, `{"url":"https://a.example/"},`, `{}]}`)},
	{"identifiers", "semantic scholar", counting(`[{"externalIds":{`, `"`, `":"a",`, `"ArXiv":"1"}}]`)},
	{"affiliations", "semantic scholar people", between(`[{"authorId":"1","name":"A","affiliations":[`, `"a",`, `"b"]}]`)},
	{"people", "semantic scholar people", counting(`[`, `{"authorId":"`, `"},`, `{}]`)},
	{"other names", "orcid", counting(`{"other-names":{"other-name":[`, `{"content":"A `, `"},`, `{}]}}`)},
	{"addresses", "orcid", counting(`{"researcher-urls":{"researcher-url":[`, `{"url":{"value":"https://a.example/`, `"}},`, `{}]}}`)},
	{"entries", "arxiv", between(`<feed>`, `<entry><id>http://arxiv.org/abs/1234.5678v1</id><title>On the growth of things</title></entry>`, `</feed>`)},
	{"a title", "arxiv", between(`<feed><entry><id>http://arxiv.org/abs/1234.5678v1</id><title>`, "On the growth ", `</title></entry></feed>`)},
	{"papers", "acl", between(`<collection id="P03"><volume id="1">`, `<paper id="1"><title>a</title></paper>`, `</volume></collection>`)},
	{"pages", "acl", between(`<collection id="P03"><volume id="1"><paper id="1"><title>a</title><pages>`, "–", `</pages></paper></volume></collection>`)},
	{"records", "oai", counting(`<OAI-PMH><ListRecords>`, `<record><header><identifier>a</identifier></header><metadata><dc><date>2003</date><title>On the growth of `, `</title></dc></metadata></record>`, `</ListRecords></OAI-PMH>`)},
	{"creators", "oai", between(`<OAI-PMH><ListRecords><record><metadata><dc><title>a</title><date>2003</date>`, `<creator>,,a, b</creator>`, `</dc></metadata></record></ListRecords></OAI-PMH>`)},
	{"dates", "oai", between(`<OAI-PMH><ListRecords><record><metadata><dc><title>a</title><date>`, "1999-2003 ", `</date></dc></metadata></record></ListRecords></OAI-PMH>`)},
	{"a page instead of data", "oai", func(n int) []byte { return []byte("<!doctype html>" + rep("just a moment", n)) }},
}

// sends answers everything with the same bytes, in the calling goroutine.
type sends []byte

func (s sends) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(s)), Request: r}, nil
}

// askedFor asks one client a question that is answered with some bytes.
func askedFor(t testing.TB, client string, answer []byte) error {
	cfg, _ := stubConfig(t, nil)
	cfg.HTTPClient, cfg.Retries, cfg.OpenAlexKey, cfg.DBLPMirrorURL = &http.Client{Transport: sends(answer)}, -1, "k", "-"
	return foreign[client](t.Context(), cfg)
}

// No answer makes a client work more than its length.
func TestReadingAnswersGrowsWithThem(t *testing.T) {
	for _, w := range worst {
		t.Run(w.of+", "+w.name, func(t *testing.T) {
			growthtest.Linear(t, 4<<10, w.answer, func(in []byte) { _ = askedFor(t, w.of, in) })
		})
	}
}

// Whatever a service answers, its client comes back, with papers that the record
// can hold or an error.
func FuzzAnswers(f *testing.F) {
	for _, w := range worst {
		f.Add(w.of, w.answer(200))
	}
	f.Fuzz(func(t *testing.T, client string, answer []byte) {
		if foreign[client] == nil {
			return
		}
		_ = askedFor(t, client, answer)
	})
}

// worstDumps are dumps that cost the scanner most.
var worstDumps = map[string]func(n int) []byte{
	"records":              between("<dblp>", `<article key="a"><author>b</author></article>`, "</dblp>"),
	"one long record":      between("<dblp><article>", "<author>b</author>", "</article></dblp>"),
	"tags of no record":    between("<dblp>", "<articl", "</dblp>"),
	"a record without end": between("<dblp><article>", "</articl", ""),
	"authors without end":  between("<dblp><article>", "<author", "</article></dblp>"),
}

// No dump costs more than its length, also where it comes in small pieces.
func TestScanningADumpGrowsWithIt(t *testing.T) {
	growthtest.Each(t, 256<<10, worstDumps, func(t *testing.T, in []byte) {
		_ = scanRecords(t.Context(), pieces{bytes.NewReader(in)}, func(raw []byte) error { rawAuthors(raw); return nil })
	})
}

// pieces gives no more than a decompressor does at once.
type pieces struct{ r io.Reader }

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), 4<<10)]) }

func FuzzDump(f *testing.F) {
	for _, of := range worstDumps {
		f.Add(of(200))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var whole, cutUp []string
		errWhole := scanRecords(t.Context(), bytes.NewReader(in), func(raw []byte) error { whole = append(whole, string(raw)); return nil })
		errCut := scanRecords(t.Context(), pieces{bytes.NewReader(in)}, func(raw []byte) error { cutUp = append(cutUp, string(raw)); return nil })
		require.Equal(t, strings.Join(cutUp, "\x00"), strings.Join(whole, "\x00"))
		assert.Equal(t, (errCut == nil), (errWhole == nil))
	})
}
