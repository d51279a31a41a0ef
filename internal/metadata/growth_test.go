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
		_, err := NewDBLP(cfg).bases[0].searchVolume(ctx, "db/conf/x/x2003")
		return err
	},
	"dblp venues": func(ctx context.Context, cfg Config) error {
		_, err := NewDBLP(cfg).bases[0].searchVenues(ctx, "x")
		return err
	},
	"dblp volume": func(ctx context.Context, cfg Config) error {
		vol := Volume{Venue: "conf/x", TOC: "db/conf/x/x2003", Years: single(2003)}
		records, err := NewDBLP(cfg).bases[0].volumePage(ctx, vol.TOC)
		papersOf(records, vol)
		return err
	},
	"dblp index": func(ctx context.Context, cfg Config) error {
		_, err := NewDBLP(cfg).bases[0].indexPage(ctx, "conf/x")
		return err
	},
	"dblp person": func(ctx context.Context, cfg Config) error {
		_, err := NewDBLP(cfg).bases[0].personPage(ctx, "1/2", func(record) {})
		return err
	},
	"crossref": func(ctx context.Context, cfg Config) error {
		return takenIn(NewCrossref(cfg).Papers(ctx, gleaner.Venue{Key: "journals/x", IDs: map[string]string{"issn": "1234-5678"}}, single(2003)))
	},
	"crossref copies": func(ctx context.Context, cfg Config) error {
		_, err := NewCrossref(cfg).Copies(ctx, gleaner.Paper{DOI: "10.1/a"})
		return err
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
		_, err := NewSemanticScholar(cfg).Copies(ctx, gleaner.Paper{DOI: "10.1/a"})
		return err
	},
	"semantic scholar people": func(ctx context.Context, cfg Config) error {
		_, err := NewSemanticScholar(cfg).Persons(ctx, []string{"1"})
		return err
	},
	"orcid": func(ctx context.Context, cfg Config) error {
		_, err := NewORCID(cfg).Person(ctx, "0000-0002-1825-0097")
		return err
	},
	"arxiv": func(ctx context.Context, cfg Config) error {
		_, err := NewArXiv(cfg).Copies(ctx, gleaner.Paper{Title: "On the growth of things", Year: 2003})
		return err
	},
	"acl": func(ctx context.Context, cfg Config) error {
		return takenIn(NewACL(cfg).Papers(ctx, gleaner.Venue{Key: "conf/acl"}, single(2003)))
	},
	"oai": func(ctx context.Context, cfg Config) error {
		return takenIn(NewOAI(cfg, "https://oai.example.org").Papers(ctx, gleaner.Venue{Key: "conf/x", IDs: map[string]string{"oai": "x"}}, single(2003)))
	},
}

func takenIn(papers []gleaner.Paper, err error) error {
	Merge(Listing{Source: "a", Papers: papers}, Listing{Source: "b", Papers: papers})
	if err == nil {
		_, err = Sound(context.Background(), slog.Default(), "a", papers)
	}
	return err
}

func rep(s string, n int) string { return strings.Repeat(s, 1+n/len(s)) }

// worst are answers that cost the reader most, by their number of bytes or so.
var worst = []struct {
	name, of string
	answer   func(n int) string
}{
	{"hits of one key", "dblp search", func(n int) string {
		return `{"result":{"hits":{"@total":"9","hit":[` + rep(`{"info":{"key":"a"}},`, n) + `{}]}}}`
	}},
	{"authors, one or many", "dblp search", func(n int) string {
		return `{"result":{"hits":{"@total":"1","hit":{"info":{"key":"a","authors":{"author":[` + rep(`"b",{"text":"c"},`, n) + `"d"]}}}}}}`
	}},
	{"nesting", "dblp search", func(n int) string { return `{"result":` + rep("[", n) + rep("]", n) + `}` }},
	{"nesting within a hit", "dblp search", func(n int) string {
		return `{"result":{"hits":{"@total":"1","hit":{"info":` + strings.Repeat("[", min(n, 9000)) + strings.Repeat("]", min(n, 9000)) + rep(" ", n) + `}}}}`
	}},
	{"no count", "dblp search", func(n int) string { return `{"result":{"text":"` + rep("x", n) + `"}}` }},
	{"venues", "dblp venues", func(n int) string {
		return `{"result":{"hits":{"@total":"9","hit":[` + rep(`{"info":{"venue":["&amp;&amp;"],"url":"https://dblp.org/db/conf/a/"}},`, n) + `{"info":{}}]}}}`
	}},
	{"records", "dblp volume", func(n int) string {
		return `<bht><dblpcites><r>` + rep(`<article key="a"><title>b</title></article>`, n) + `</r></dblpcites></bht>`
	}},
	{"a title of markup", "dblp volume", func(n int) string {
		return `<bht><r><article key="a"><title>` + rep("<i>", n) + `</title></article></r></bht>`
	}},
	{"a title of ends of markup", "dblp volume", func(n int) string {
		return `<bht><r><article key="a"><title>` + rep("&lt;i &amp;amp;", n) + `</title></article></r></bht>`
	}},
	{"a title of accents", "dblp volume", func(n int) string {
		return `<bht><r><article key="a"><title>a` + rep("\u0301\u0323", n) + `</title></article></r></bht>`
	}},
	{"open elements", "dblp volume", func(n int) string { return rep("<a>", n) }},
	{"closed elements", "dblp volume", func(n int) string { return "<bht><r>" + rep("<a></b>", n) }},
	{"attributes", "dblp volume", func(n int) string { return "<bht><r><article " + rep(`a="b" `, n) + "/></r></bht>" }},
	{"entities", "dblp volume", func(n int) string { return "<bht><r><article><title>" + rep("&eacute;&x", n) }},
	{"links", "dblp volume", func(n int) string {
		return `<bht><r><article key="a"><title>b</title>` + rep("<ee>https://doi.org/10.1234/%28a</ee>", n) + `</article></r></bht>`
	}},
	{"a long heading over many references", "dblp index", func(n int) string {
		return `<bht><h2>` + rep("x 1", n) + `</h2>` + rep(`<ref href="db/conf/x/y"/>`, n) + `</bht>`
	}},
	{"a long heading over many items", "dblp index", func(n int) string {
		return `<bht><h2>` + rep("x 1", n) + `</h2>` + rep(`<li><ref href="db/conf/x/y"/></li>`, n) + `</bht>`
	}},
	{"years in an item", "dblp index", func(n int) string {
		return `<bht><li>` + rep("1999/00 ", n) + rep(`<ref href="db/conf/x/y"/>`, n) + `</li></bht>`
	}},
	{"other venues", "dblp index", func(n int) string { return `<bht>` + rep(`<ref href="db/conf/y/y">2003</ref>`, n) + `</bht>` }},
	{"names of a person", "dblp person", func(n int) string {
		return `<dblpperson name="A" pid="1/2"><person key="homepages/1/2">` + numbered(n, "<author>B ", "</author>") + `</person></dblpperson>`
	}},
	{"addresses of a person", "dblp person", func(n int) string {
		return `<dblpperson name="A" pid="1/2"><person key="homepages/1/2">` + numbered(n, "<url>http://a.example/", "</url>") + `</person></dblpperson>`
	}},
	{"affiliations of a person", "dblp person", func(n int) string {
		return `<dblpperson name="A" pid="1/2"><person key="homepages/1/2">` + numbered(n, `<note type="affiliation">`, "</note>") + `</person></dblpperson>`
	}},
	{"works", "crossref", func(n int) string {
		return `{"message":{"total-results":1,"items":[` + numbered(n, `{"type":"journal-article","issued":{"date-parts":[[2003]]},"DOI":"10.1/a","title":["On the growth of `, `"]},`) + `{}]}}`
	}},
	{"authors", "crossref", func(n int) string {
		return `{"message":{"total-results":1,"items":[{"type":"journal-article","DOI":"10.1/a","title":["a"],"issued":{"date-parts":[[2003]]},"author":[` + rep(`{"given":" ","family":"&amp;"},`, n) + `{}]}]}}`
	}},
	{"a subtitle", "crossref", func(n int) string {
		return `{"message":{"total-results":1,"items":[{"type":"journal-article","DOI":"10.1/a","title":["` + rep("ab", n) + `"],"subtitle":["` + rep("ab", n/2) + `c"]}]}}`
	}},
	{"links", "crossref copies", func(n int) string {
		return `{"message":{"license":[{"URL":"https://creativecommons.org/licenses/by/4.0"}],"link":[` + numbered(n, `{"content-type":"application/pdf","URL":"https://a.example/`, `"},`) + `{}]}}`
	}},
	{"works", "openalex", func(n int) string {
		return `{"meta":{"count":1},"results":[` + numbered(n, `{"publication_year":2003,"id":"W1","title":"On the growth of `, `"},`) + `{}]}`
	}},
	{"authors", "openalex", func(n int) string {
		return `{"meta":{"count":1},"results":[{"id":"W1","title":"a","publication_year":2003,"authorships":[` + rep(`{"author":{"display_name":"B C"}},`, n) + `{}]}]}`
	}},
	{"locations", "openalex copies", func(n int) string {
		return `{"meta":{"count":1},"results":[{"id":"W1","doi":"10.1/a","locations":[` + numbered(n, `{"is_oa":true,"pdf_url":"https://a.example/`, `"},`) + `{}]}]}`
	}},
	{"locations", "unpaywall", func(n int) string {
		return `{"oa_locations":[` + numbered(n, `{"url":"https://a.example/`, `"},`) + `{}]}`
	}},
	{"one location", "unpaywall", func(n int) string { return `{"oa_locations":[` + rep(`{"url":"https://a.example/"},`, n) + `{}]}` }},
	{"identifiers", "semantic scholar", func(n int) string { return `[{"externalIds":{` + numbered(n, `"`, `":"a",`) + `"ArXiv":"1"}}]` }},
	{"affiliations", "semantic scholar people", func(n int) string { return `[{"authorId":"1","name":"A","affiliations":[` + rep(`"a",`, n) + `"b"]}]` }},
	{"people", "semantic scholar people", func(n int) string { return `[` + numbered(n, `{"authorId":"`, `"},`) + `{}]` }},
	{"other names", "orcid", func(n int) string {
		return `{"other-names":{"other-name":[` + numbered(n, `{"content":"A `, `"},`) + `{}]}}`
	}},
	{"addresses", "orcid", func(n int) string {
		return `{"researcher-urls":{"researcher-url":[` + numbered(n, `{"url":{"value":"https://a.example/`, `"}},`) + `{}]}}`
	}},
	{"entries", "arxiv", func(n int) string {
		return `<feed>` + rep(`<entry><id>http://arxiv.org/abs/1234.5678v1</id><title>On the growth of things</title></entry>`, n) + `</feed>`
	}},
	{"a title", "arxiv", func(n int) string {
		return `<feed><entry><id>http://arxiv.org/abs/1234.5678v1</id><title>` + rep("On the growth ", n) + `</title></entry></feed>`
	}},
	{"papers", "acl", func(n int) string {
		return `<collection id="P03"><volume id="1">` + rep(`<paper id="1"><title>a</title></paper>`, n) + `</volume></collection>`
	}},
	{"pages", "acl", func(n int) string {
		return `<collection id="P03"><volume id="1"><paper id="1"><title>a</title><pages>` + rep("–", n) + `</pages></paper></volume></collection>`
	}},
	{"records", "oai", func(n int) string {
		return `<OAI-PMH><ListRecords>` + numbered(n, `<record><header><identifier>a</identifier></header><metadata><dc><date>2003</date><title>On the growth of `, `</title></dc></metadata></record>`) + `</ListRecords></OAI-PMH>`
	}},
	{"creators", "oai", func(n int) string {
		return `<OAI-PMH><ListRecords><record><metadata><dc><title>a</title><date>2003</date>` + rep(`<creator>,,a, b</creator>`, n) + `</dc></metadata></record></ListRecords></OAI-PMH>`
	}},
	{"dates", "oai", func(n int) string {
		return `<OAI-PMH><ListRecords><record><metadata><dc><title>a</title><date>` + rep("1999-2003 ", n) + `</date></dc></metadata></record></ListRecords></OAI-PMH>`
	}},
	{"a page instead of data", "oai", func(n int) string { return "<!doctype html>" + rep("just a moment", n) }},
}

// numbered repeats something with another word in it each time.
func numbered(n int, before, after string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(before)
		for k := i; ; k /= 26 {
			b.WriteByte(byte('a' + k%26))
			if k < 26 {
				break
			}
		}
		b.WriteString(after)
	}
	return b.String()
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
			growthtest.Linear(t, 4<<10, func(n int) []byte { return []byte(w.answer(n)) }, func(in []byte) { _ = askedFor(t, w.of, in) })
		})
	}
}

// Whatever a service answers, its client comes back, with papers that the record
// can hold or an error.
func FuzzAnswers(f *testing.F) {
	for _, w := range worst {
		f.Add(w.of, []byte(w.answer(200)))
	}
	f.Fuzz(func(t *testing.T, client string, answer []byte) {
		if foreign[client] == nil {
			return
		}
		_ = askedFor(t, client, answer)
	})
}

// worstDumps are dumps that cost the scanner most.
var worstDumps = map[string]func(n int) string{
	"records": func(n int) string {
		return "<dblp>" + rep(`<article key="a"><author>b</author></article>`, n) + "</dblp>"
	},
	"one long record":      func(n int) string { return "<dblp><article>" + rep("<author>b</author>", n) + "</article></dblp>" },
	"tags of no record":    func(n int) string { return "<dblp>" + rep("<articl", n) + "</dblp>" },
	"a record without end": func(n int) string { return "<dblp><article>" + rep("</articl", n) },
	"authors without end":  func(n int) string { return "<dblp><article>" + rep("<author", n) + "</article></dblp>" },
}

// No dump costs more than its length, also where it comes in small pieces.
func TestScanningADumpGrowsWithIt(t *testing.T) {
	for name, of := range worstDumps {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 256<<10, func(n int) []byte { return []byte(of(n)) }, func(in []byte) {
				_ = scanRecords(t.Context(), pieces{bytes.NewReader(in)}, func(raw []byte) error { rawAuthors(raw); return nil })
			})
		})
	}
}

// pieces gives no more than a decompressor does at once.
type pieces struct{ r io.Reader }

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), 4<<10)]) }

func FuzzDump(f *testing.F) {
	for _, of := range worstDumps {
		f.Add([]byte(of(200)))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var whole, cutUp []string
		errWhole := scanRecords(t.Context(), bytes.NewReader(in), func(raw []byte) error { whole = append(whole, string(raw)); return nil })
		errCut := scanRecords(t.Context(), pieces{bytes.NewReader(in)}, func(raw []byte) error { cutUp = append(cutUp, string(raw)); return nil })
		require.Equal(t, strings.Join(cutUp, "\x00"), strings.Join(whole, "\x00"))
		assert.Equal(t, (errCut == nil), (errWhole == nil))
	})
}
