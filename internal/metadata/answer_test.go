package metadata

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// crowded are answers whose elements take much more memory than their bytes.
var crowded = []struct{ of, before, element, after string }{
	{"crossref", `{"message":{"items":[`, `0,`, `{}]}}`},
	{"crossref", `{"message":{"items":[`, `{},`, `{}]}}`},
	{"crossref", `{"message":{"items":[`, `{"author":[` + strings.Repeat(`{},`, 10_000) + `{}]},`, `{}]}}`},
	{"crossref copies", `{"message":{"link":[`, `{},`, `{}]}}`},
	{"crossref", strings.Repeat(`{"message":`, 9_999) + `{` + strings.Repeat(`}`, 9_999) +
		`,"message":{"items":[`, `{},`, `{}]}}`},
	{"openalex", `{"results":[`, `{},`, `{}]}`},
	{"openalex", `{"results":[`, `{"authorships":[` + strings.Repeat(`{},`, 10_000) + `{}]},`, `{}]}`},
	{"unpaywall", `{"oa_locations":[`, `{},`, `{}]}`},
	{"semantic scholar", `[`, `{},`, `{}]`},
	{"semantic scholar", `[{"externalIds":{`, `"a":{"":[]},`, `"b":0}}]`},
	{"orcid", `{"researcher-urls":{"researcher-url":[`, `{},`, `{}]}}`},
	{"dblp search", `{"result":{"hits":{"@total":"1","hit":[`, `{},`, `{}]}}}`},
	{"dblp volume", `<bht><r>`, `<article/>`, `</r></bht>`},
	{"dblp volume", `<bht><r>`, `<article key="a"/>`, `</r></bht>`},
	{"dblp volume", `<bht><r><article `, `a `, `/></r></bht>`},
	{"dblp volume", ``, `<a xmlns:a="">`, ``},
	{"oai", `<OAI-PMH><ListRecords>`, `<record/>`, `</ListRecords></OAI-PMH>`},
	{"arxiv", `<feed>`, `<entry/>`, `</feed>`},
	{"acl", `<collection id="P03"><volume id="1">`, `<paper/>`, `</volume></collection>`},
}

// TestCrowdedAnswersTakeLittleMemory: none takes much more than the largest body is counted with,
// also where it stays below the limits.
func TestCrowdedAnswersTakeLittleMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	for _, c := range crowded {
		for _, n := range []int{1_400_000, 3_500_000} {
			in := []byte(c.before + rep(c.element, n) + c.after)
			took := peak(func() { _ = askedFor(t, c.of, in) })
			require.LessOrEqual(t, took, uint64(4*maxBody), "%s: %d bytes of %.20q", c.of, len(in), c.element)
		}
	}
}

// peak is by how many bytes the heap grew at most.
func peak(work func()) (most uint64) {
	runtime.GC()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	before, done := heap[0].Value.Uint64(), make(chan struct{})
	go func() { defer close(done); work() }()
	for {
		select {
		case <-done:
			return most - min(most, before)
		case <-time.After(time.Millisecond):
			metrics.Read(heap)
			most = max(most, heap[0].Value.Uint64())
		}
	}
}

// TestLargeAnswersAreTaken: a volume of 18,000 papers, and a thousand works of a hundred authors.
func TestLargeAnswersAreTaken(t *testing.T) {
	t.Parallel()
	article := `<r><article key="journals/access/Carberry" mdate="2024-01-29">` +
		rep(`<author orcid="0000-0002-1825-0097" pid="276/4719">Josiah S. Carberry</author>`, 400) +
		`<title>On the Growth of Things.</title><pages>1-12</pages><year>2020</year><volume>8</volume>` +
		`<journal>IEEE Access</journal><ee type="oa">https://doi.org/10.1/A</ee><url>a#b</url></article></r>`
	author := `{"given":"Ann","family":"Lee","sequence":"additional","affiliation":[{"name":"Brown"}]},`
	work := `{"DOI":"10.1/a","issued":{"date-parts":[[2003,6,12]]},"author":[` + rep(author, 8000) + `{}]},`
	for of, answer := range map[string]string{
		"dblp volume": `<bht>` + strings.Repeat(article, 18_000) + `</bht>`,
		"crossref":    `{"message":{"total-results":1,"items":[` + strings.Repeat(work, 1000) + `{}]}}`,
	} {
		require.NoError(t, askedFor(t, of, []byte(answer)), "%v %v", of, len(answer))
	}
}
