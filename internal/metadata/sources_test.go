package metadata

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

func titles(papers []gleaner.Paper) []string {
	return each.Of(papers, func(p gleaner.Paper) string { return p.Title })
}

func TestCrossref(t *testing.T) {
	t.Parallel()
	item := func(doi, more string) string {
		return `{"DOI":"` + doi + `","type":"journal-article","title":["Paper ` + doi + `"],` + more + `}`
	}
	list := func(total, next string, items ...string) string {
		return `{"status":"ok","message-type":"work-list","message":{"total-results":` + total + `,"next-cursor":"` + next + `","items":[` + strings.Join(items, ",") + `]}}`
	}
	expired := reply{status: 404, body: `{"status":"failed","message-type":"validation-failure","message":[{"type":"cursor-invalid","value":"AoE=","message":"The cursor has expired"}]}`}
	pageOne := list("4", "AoE/=",
		item("10.1000/A", `"subtitle":["a subtitle"],"page":"1-9","author":[{"given":"Ann","family":"Lee","ORCID":"http://orcid.org/0000-0002-1825-0097"},{"name":"The Group"}],"issued":{"date-parts":[[2002,12]]},"published-print":{"date-parts":[[2003,1]]}`),
		item("10.1000/B", `"issued":{"date-parts":[[2002]]}`))
	pageTwo := list("4", "AoE2",
		item("10.1000/C", `"issued":{"date-parts":[[2003]]}`),
		`{"DOI":"10.1000/I","type":"journal","title":["The Journal"],"issued":{"date-parts":[[null]]}}`)
	cfg, s := stubConfig(t, map[string][]reply{
		"cursor=%2A":       {{body: pageOne, header: map[string]string{"X-Rate-Limit-Limit": "2", "X-Rate-Limit-Interval": "1s"}}, {body: pageOne}},
		"cursor=AoE%2F%3D": {expired, {body: pageTwo}},
	})
	cfg.Gate = freeGate{}
	c := NewCrossref(cfg)
	papers, err := c.Papers(t.Context(), gleaner.Venue{Key: "journals/jex", IDs: map[string]string{"issn": "1234-5678, 8765-4321"}}, single(2003))
	want := []gleaner.Paper{
		{Key: "doi:10.1000/a", Venue: "journals/jex", Year: 2003, Title: "Paper 10.1000/A: a subtitle", DOI: "10.1000/a", Pages: "1-9", Links: []string{"https://doi.org/10.1000/a"},
			Authors: []gleaner.Author{{PID: "orcid:0000-0002-1825-0097", Name: "Ann Lee"}, {Name: "The Group"}}},
		{Key: "doi:10.1000/c", Venue: "journals/jex", Year: 2003, Title: "Paper 10.1000/C", DOI: "10.1000/c", Links: []string{"https://doi.org/10.1000/c"}},
	}
	require.NoError(t, err)
	assert.Equal(t, want, papers)
	assert.Equal(t, []int{2, 4}, []int{s.count("cursor=%2A"), len(s.asked)}, "begins and requests of an expired cursor")
	require.Contains(t, s.asked[0], "issn%3A1234-5678%2Cissn%3A8765-4321")
	assert.Contains(t, s.asked[0], "mailto=librarian")
	assert.Equal(t, 500*time.Millisecond, time.Duration(c.svc.delay.Load()), "pace")
	_, err = c.Papers(t.Context(), gleaner.Venue{Key: "conf/exa"}, single(2003))
	assert.Equal(t, "issn", as[ErrNotCovered](t, err).Needs)
}

func TestCrossrefEndsEarly(t *testing.T) {
	t.Parallel()
	cfg, _ := stubConfig(t, map[string][]reply{"/works": one(`{"message":{"total-results":2,"next-cursor":"x","items":[]}}`)})
	_, err := NewCrossref(cfg).Papers(t.Context(), gleaner.Venue{IDs: map[string]string{"issn": "1"}}, single(2003))
	as[ErrBadAnswer](t, err)
}

func TestOpenAlex(t *testing.T) {
	t.Parallel()
	cfg, s := stubConfig(t, map[string][]reply{
		"cursor=%2A&": one(`{"meta":{"count":3,"next_cursor":"c1"},"results":[
			{"id":"https://openalex.org/W1","doi":"https://doi.org/10.5555/A","title":"One <i>Title</i>","publication_year":2003,"type":"article","biblio":{"first_page":"1","last_page":"9"},
			 "authorships":[{"author":{"id":"https://openalex.org/A5","display_name":"Ann Lee","orcid":"https://orcid.org/0000-0002-1825-0097"}},{"author":{"id":"https://openalex.org/A6","display_name":"Bo Chen","orcid":null}}],
			 "primary_location":{"landing_page_url":"https://doi.org/10.5555/a","pdf_url":null}},
			{"id":"https://openalex.org/W2","doi":null,"title":"Front Matter","publication_year":2003,"is_paratext":true}]}`),
		"cursor=c1": one(`{"meta":{"count":3,"next_cursor":null},"results":[{"id":"https://openalex.org/W3","doi":null,"title":"Two","publication_year":2003,"primary_location":null}]}`),
	})
	v := gleaner.Venue{Key: "journals/jex", IDs: map[string]string{"openalex": "S12"}}
	_, err := NewOpenAlex(cfg).Papers(t.Context(), v, single(2003))
	as[ErrRefused](t, err)
	assert.Empty(t, s.asked, "without a key")
	cfg.OpenAlexKey = "se+cret"
	papers, err := NewOpenAlex(cfg).Papers(t.Context(), v, single(2003))
	want := []gleaner.Paper{
		{Key: "openalex:W1", Venue: "journals/jex", Year: 2003, Title: "One Title", DOI: "10.5555/a", Pages: "1-9", Links: []string{"https://doi.org/10.5555/a"},
			Authors: []gleaner.Author{{PID: "orcid:0000-0002-1825-0097", Name: "Ann Lee"}, {PID: "openalex:A6", Name: "Bo Chen"}}},
		{Key: "openalex:W3", Venue: "journals/jex", Year: 2003, Title: "Two"},
	}
	require.NoError(t, err)
	assert.Equal(t, want, papers)
	assert.Contains(t, s.asked[0], "primary_location.source.id%3AS12%2Cpublication_year%3A2003-2003")
	bad, _ := stubConfig(t, map[string][]reply{"/works": {{status: 401, body: `{"error":"Invalid API key"}`}}})
	bad.OpenAlexKey = "se+cret"
	_, err = NewOpenAlex(bad).Papers(t.Context(), v, single(2003))
	assert.NotContains(t, err.Error()+as[ErrRefused](t, err).URL, "se%2Bcret", "a wrong key")
}

func TestACLPapers(t *testing.T) {
	t.Parallel()
	cfg, _ := stubConfig(t, map[string][]reply{
		"/P03.xml": one(`<?xml version='1.0' encoding='UTF-8'?><collection id="P03">
<volume id="1"><meta><booktitle>Proceedings of the 41st</booktitle><year>2003</year><venue>acl</venue></meta><frontmatter><url>P03-1000</url></frontmatter>
<paper id="1"><title>Offline <fixed-case>LM</fixed-case>s: A <i>Way</i></title><author><first>Ann</first><last>Lee</last></author><author><last>Mono</last></author><pages>1–9</pages><url hash="x">P03-1001</url><doi>10.3115/1075096.1075097</doi></paper></volume>
<volume id="2"><meta><year>2003</year><venue>ws</venue></meta><paper id="1"><title>Another venue</title><url>P03-2001</url></paper></volume></collection>`),
		"/2021.acl.xml": one(`<collection id="2021.acl"><volume id="long"><meta><year>2021</year><venue>acl</venue></meta><paper id="12"><title>New</title><author><first>Bo</first><last>Chen</last></author><url>2021.acl-long.12</url></paper></volume></collection>`),
	})
	a := NewACL(cfg)
	papers, err := a.Papers(t.Context(), gleaner.Venue{Key: "conf/acl"}, gleaner.Years{From: 2003, To: 2021})
	want := []gleaner.Paper{
		{Key: "acl:P03-1001", Venue: "conf/acl", Year: 2003, Title: "Offline LMs: A Way", Authors: []gleaner.Author{{Name: "Ann Lee"}, {Name: "Mono"}}, Pages: "1-9", DOI: "10.3115/1075096.1075097", Links: []string{"https://aclanthology.org/P03-1001.pdf"}},
		{Key: "acl:2021.acl-long.12", Venue: "conf/acl", Year: 2021, Title: "New", Authors: []gleaner.Author{{Name: "Bo Chen"}}, Links: []string{"https://aclanthology.org/2021.acl-long.12.pdf"}},
	}
	require.NoError(t, err)
	assert.Equal(t, want, papers)
	_, err = a.Papers(t.Context(), gleaner.Venue{Key: "conf/acl"}, single(1950))
	as[ErrNoVolume](t, err)
	_, err = a.Papers(t.Context(), gleaner.Venue{Key: "conf/exa"}, single(2003))
	as[ErrNotCovered](t, err)
}

func TestACLIDs(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"https://aclanthology.org/2020.acl-main.1/": "2020.acl-main.1", "https://www.aclweb.org/anthology/P03-1001.pdf": "P03-1001",
		"http://aclweb.org/anthology/W/W03/W03-0101.pdf": "W03-0101", "https://aclanthology.info/papers/D15-1001/d15-1001": "D15-1001",
		"10.18653/v1/p19-1001": "P19-1001", "https://doi.org/10.18653/v1/2020.acl-main.1": "2020.acl-main.1", "10.3115/1075096.1075097": "", "https://other.example/P03-1001.pdf": "",
	} {
		assert.Equal(t, want, aclID(s), "aclID %v", s)
	}
	for _, c := range []struct{ collection, volume, paper, want string }{
		{"P03", "1", "1", "P03-1001"}, {"W03", "1", "2", "W03-0102"}, {"D19", "50", "1", "D19-5001"}, {"D19", "1", "7", "D19-1007"}, {"2020.acl", "main", "3", "2020.acl-main.3"},
	} {
		assert.Equal(t, c.want, aclPaperID(c.collection, c.volume, c.paper))
	}
}

func TestOAI(t *testing.T) { synctest.Test(t, testOAI) }

func testOAI(t *testing.T) {
	page := func(records, token string) string {
		return `<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2026-01-01T00:00:00Z</responseDate><request verb="ListRecords">x</request><ListRecords>` + records + token + `</ListRecords></OAI-PMH>`
	}
	record := func(id, dc string) string {
		return `<record><header><identifier>` + id + `</identifier><datestamp>2020-01-01</datestamp></header><metadata><oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/">` + dc + `</oai_dc:dc></metadata></record>`
	}
	failure := func(code string) string {
		return `<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><error code="` + code + `">because</error></OAI-PMH>`
	}
	first := page(record("oai:x:1", `<dc:title>One.</dc:title><dc:creator>Lee, Ann</dc:creator><dc:creator>Bo Chen</dc:creator><dc:date>2015-06-01</dc:date><dc:date>2003</dc:date><dc:identifier>https://repo.example/1</dc:identifier><dc:relation>info:doi/10.5555/ONE</dc:relation>`)+
		`<record><header status="deleted"><identifier>oai:x:2</identifier></header></record>`, `<resumptionToken completeListSize="2" cursor="0">t|1</resumptionToken>`)
	second := page(record("oai:x:3", `<dc:title>Three</dc:title><dc:date>2004</dc:date>`), `<resumptionToken/>`)
	cfg, s := stubConfig(t, map[string][]reply{
		"metadataPrefix=oai_dc":           one(first),
		"resumptionToken=t%7C1":           {{status: 503, header: map[string]string{"Retry-After": "1"}}, {body: failure("badResumptionToken")}, {body: second}},
		"metadataPrefix=oai_dc&set=empty": one(failure("noRecordsMatch")),
		"metadataPrefix=oai_dc&set=wrong": one(failure("noSetHierarchy")),
		"metadataPrefix=oai_dc&set=loop":  one(page("", "<resumptionToken>l</resumptionToken>")),
		"resumptionToken=l":               one(page("", "<resumptionToken>l</resumptionToken>")),
	})
	cfg.Gate = freeGate{}
	o := NewOAI(cfg, "http://repo.example/oai")
	all := func(set string) (papers []gleaner.Paper, err error) {
		err = o.records(t.Context(), set, func(p gleaner.Paper) bool {
			if n := len(papers); n == 0 || papers[n-1].Key != p.Key { // a record may come again with the next token
				papers = append(papers, p)
			}
			return true
		})
		return papers, err
	}
	papers, err := all("")
	want := []gleaner.Paper{
		{Key: "oai:x:1", Year: 2003, Title: "One", DOI: "10.5555/one", Authors: []gleaner.Author{{Name: "Ann Lee"}, {Name: "Bo Chen"}}, Links: []string{"https://repo.example/1"}},
		{Key: "oai:x:3", Year: 2004, Title: "Three"},
	}
	require.NoError(t, err)
	assert.Equal(t, want, papers)
	for _, a := range s.asked {
		assert.False(t, strings.Contains(a, "resumptionToken") && strings.Contains(a, "metadataPrefix"), "a token goes alone: %s", a)
	}
	got, err := all("empty")
	require.NoError(t, err)
	assert.Empty(t, got)
	_, err = all("wrong")
	assert.Equal(t, "noSetHierarchy", as[ErrOAI](t, err).Code)
	_, err = all("loop")
	as[ErrBadAnswer](t, err)
	got, err = o.Papers(t.Context(), gleaner.Venue{Key: "conf/exa", IDs: map[string]string{"oai": "exa"}}, single(2003))
	require.NoError(t, err)
	require.Equal(t, []string{"One"}, titles(got), "by set and year")
	assert.Equal(t, "conf/exa", got[0].Venue)
}

// TestAnOAIIdentifierIsNoOtherSourcesKey: a repository must not overwrite papers of DBLP.
func TestAnOAIIdentifierIsNoOtherSourcesKey(t *testing.T) {
	t.Parallel()
	answer := `<OAI-PMH><ListRecords>`
	for _, id := range []string{"conf/sigmod/Codd70", " doi:10.1/a", "OAI:x:1", "oai:x:2", " "} {
		answer += `<record><header><identifier>` + id + `</identifier></header><metadata><dc><title>` + id + `</title></dc></metadata></record>`
	}
	cfg, _ := stubConfig(t, map[string][]reply{"verb": one(answer + `</ListRecords></OAI-PMH>`)})
	var keys []string
	err := NewOAI(cfg, "http://repo.example/oai").records(t.Context(), "", func(p gleaner.Paper) bool {
		keys = append(keys, p.Key)
		return true
	})
	want := []string{"oai:conf/sigmod/Codd70", "oai:doi:10.1/a", "OAI:x:1", "oai:x:2"}
	require.NoError(t, err)
	assert.Equal(t, want, keys)
}

// TestCrossrefsLastPaceHolds: one that was slow for a while does not stay so.
func TestCrossrefsLastPaceHolds(t *testing.T) {
	t.Parallel()
	pace := func(limit, interval string) reply {
		return reply{body: `{"message":{}}`, header: map[string]string{"x-rate-limit-limit": limit, "x-rate-limit-interval": interval}}
	}
	cfg, _ := stubConfig(t, map[string][]reply{"/works/": {pace("20", "1s"), pace("50", "1s"), {body: `{"message":{}}`}, pace("1000", "1s")}})
	cfg.Delays.Crossref = 10 * time.Millisecond
	c := NewCrossref(cfg)
	for i, want := range []time.Duration{50 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond, 10 * time.Millisecond} {
		_, err := c.Copies(t.Context(), gleaner.Paper{DOI: "10.1/a"})
		require.NoError(t, err)
		assert.Equal(t, want, time.Duration(c.svc.delay.Load()), "after answer %d", i)
	}
}

func TestORCID(t *testing.T) {
	t.Parallel()
	cfg, s := stubConfig(t, map[string][]reply{"/0000-0002-1825-0097/person": one(`{"name":{"given-names":{"value":"Josiah"},"family-name":{"value":"Carberry"},"credit-name":null},
		"other-names":{"other-name":[{"content":"J. S. Carberry"}]},
		"researcher-urls":{"researcher-url":[{"url-name":"Brown","url":{"value":"http://library.brown.example/~jc"}},{"url-name":"X","url":{"value":"https://www.linkedin.com/in/jc"}}]}}`)})
	p, err := NewORCID(cfg).Person(t.Context(), "https://orcid.org/0000-0002-1825-0097")
	want := gleaner.Person{Author: gleaner.Author{PID: "orcid:0000-0002-1825-0097", Name: "Josiah Carberry"}, URLs: []string{"http://library.brown.example/~jc"},
		Profiles: map[string]string{"orcid": "https://orcid.org/0000-0002-1825-0097", "linkedin": "https://www.linkedin.com/in/jc"}, Aliases: []string{"J. S. Carberry"}}
	require.NoError(t, err)
	assert.Equal(t, want, p)
	assert.Equal(t, "application/json", s.headers[0].Get("Accept"))
	_, err = NewORCID(cfg).Person(t.Context(), "Ann")
	assert.True(t, is[ErrRefused](err), "no iD")
}
