package metadata

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
)

func TestRank(t *testing.T) {
	t.Parallel()
	want := []Copy{
		{URL: "https://repo.example/pub-open.pdf", Version: Published, License: "cc-by", Host: AtRepository, Source: "openalex+unpaywall"},
		{URL: "https://publisher.example/pub-open.pdf", Version: Published, License: "cc-by-nc", Host: AtPublisher, Source: "crossref"},
		{URL: "https://repo.example/pub.pdf", Version: Published, Host: AtRepository, Source: "s2"},
		{URL: "https://publisher.example/pub.pdf", Version: Published, License: "publisher-specific", Host: AtPublisher, Source: "s2"},
		{URL: "https://repo.example/acc.pdf", Version: Accepted, Host: AtRepository, Source: "unpaywall"},
		{URL: "https://arxiv.org/pdf/1", Version: Submitted, Host: AtRepository, Source: "arxiv"},
		{URL: "https://who.example/x.pdf", Version: UnknownVersion, Host: AtUnknown, Source: "ee"},
		{URL: "https://doi.org/10.1000/x", Landing: true, Version: Published, Host: AtPublisher, Source: "doi"},
		{URL: "https://who.example/page", Landing: true, Version: UnknownVersion, Host: AtUnknown, Source: "ee"},
	}
	in := append(slices.Clone(want), Copy{URL: "not a url"}, Copy{URL: "ftp://x.example/y.pdf"})
	in[0].Source = "unpaywall"
	in = append(in, Copy{URL: "http://repo.example/pub-open.pdf", Landing: true, Version: Accepted, Host: AtUnknown, Source: "openalex"})
	for range 20 {
		rand.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
		require.Equal(t, want, rankOf(slices.Clone(in)))
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paper gleaner.Paper
		want  []Copy
	}{
		"nothing": {gleaner.Paper{}, []Copy{}},
		"doi and landing page": {gleaner.Paper{DOI: "10.1145/1.2", Links: []string{"https://doi.org/10.1145/1.2", "http://venue.example/v1/p.html"}}, []Copy{
			{URL: "http://venue.example/v1/p.html", Landing: true, Version: Published, Host: AtUnknown, Source: "ee"},
			{URL: "https://doi.org/10.1145/1.2", Landing: true, Version: Published, Host: AtPublisher, Source: "doi"},
		}},
		"document": {gleaner.Paper{Links: []string{"http://venue.example/p.ps.gz"}}, []Copy{{URL: "http://venue.example/p.ps.gz", Version: UnknownVersion, Host: AtUnknown, Source: "ee"}}},
		"arxiv":    {gleaner.Paper{DOI: "10.48550/arxiv.2101.00001", Links: []string{"https://arxiv.org/abs/2101.00001"}}, []Copy{{URL: "https://arxiv.org/pdf/2101.00001", Version: Submitted, Host: AtRepository, Source: "arxiv"}}},
		"acl": {gleaner.Paper{Year: 2019, DOI: "10.18653/v1/p19-1001"}, []Copy{
			{URL: "https://aclanthology.org/P19-1001.pdf", Version: Published, License: "cc-by", Host: AtRepository, Source: "acl"},
			{URL: "https://doi.org/10.18653/v1/p19-1001", Landing: true, Version: Published, Host: AtPublisher, Source: "doi"},
		}},
	} {
		got, err := NewLinks(Config{}).Copies(t.Context(), c.paper)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, rankOf(got), name)
	}
	var many gleaner.Paper
	for i := range 2 * mostEditions {
		many.Links = append(many.Links, fmt.Sprintf("http://venue.example/%d.pdf", i))
	}
	got, err := NewLinks(Config{}).Copies(t.Context(), many)
	require.NoError(t, err)
	assert.Len(t, got, mostEditions)
}

func TestUnpaywall(t *testing.T) {
	t.Parallel()
	cfg, s := stubConfig(t, map[string][]reply{
		"/v2/10.1000/a?": one(`{"doi":"10.1000/a","best_oa_location":{"url_for_pdf":"https://x/1.pdf"},"oa_locations":[
			{"url":"https://x/1.pdf","url_for_pdf":"https://x/1.pdf","url_for_landing_page":"https://x/1","version":"publishedVersion","license":"cc-by","host_type":"publisher"},
			{"url":"https://y/2","url_for_pdf":null,"url_for_landing_page":"https://y/2","version":"submittedVersion","license":null,"host_type":"repository"}]}`),
		"/v2/10.1000/mail?": {{status: 422, body: `{"HTTP_status_code":422,"error":true,"message":"Please use your own email address in API calls."}`}},
	})
	u := NewUnpaywall(cfg)
	got, err := u.Copies(t.Context(), gleaner.Paper{DOI: "10.1000/a"})
	want := []Copy{
		{URL: "https://x/1.pdf", Version: Published, License: "cc-by", Host: AtPublisher, Source: "unpaywall"},
		{URL: "https://y/2", Landing: true, Version: Submitted, Host: AtRepository, Source: "unpaywall"},
	}
	require.NoError(t, err)
	assert.Equal(t, want, got)
	noCopies(t, u, "10.1000/unknown")
	_, err = u.Copies(t.Context(), gleaner.Paper{DOI: "10.1000/mail"})
	assert.ErrorContains(t, as[ErrRefused](t, err), "own email")
	asked := len(s.asked)
	noCopies(t, u, "")
	cfg.Contact = ""
	_, err = NewUnpaywall(cfg).Copies(t.Context(), gleaner.Paper{DOI: "10.1000/a"})
	as[ErrRefused](t, err)
	assert.Len(t, s.asked, asked, "nothing was asked without a DOI or a contact")
}

// noCopies asks a source that knows no copy of a paper.
func noCopies(t *testing.T, source CopySource, doi string) {
	t.Helper()
	got, err := source.Copies(t.Context(), gleaner.Paper{DOI: doi})
	require.NoError(t, err, doi)
	assert.Nil(t, got, doi)
}

func TestSemanticScholar(t *testing.T) {
	t.Parallel()
	cfg, s := stubConfig(t, map[string][]reply{
		"/paper/batch": one(`[{"paperId":"x","externalIds":{"DOI":"10.1000/a","CorpusId":7,"ArXiv":"2101.00001"},"openAccessPdf":{"url":"https://p/1.pdf","status":"GOLD","license":"CCBY"},"authors":[{"authorId":"11","name":"Ann Lee"}]},
			null,{"paperId":"z","externalIds":{"ACL":"P19-1001"},"openAccessPdf":{"url":"","status":"CLOSED"},"authors":[]}]`),
		"/author/batch": one(`[{"authorId":"11","name":"Ann Lee","homepage":"http://ann.example/","affiliations":["Exa U"],"externalIds":{"ORCID":"0000-0002-1825-0097","DBLP":["Ann Lee"]},"url":"https://www.semanticscholar.org/author/11"}]`),
	})
	cfg.SemanticScholarKey = "k"
	papers := []gleaner.Paper{{DOI: "10.1000/a", Authors: []gleaner.Author{{Name: "Ann Lee"}}}, {Title: "no id"}, {ArXiv: "2102.00002"}, {Links: []string{"https://aclanthology.org/P19-1001/"}}}
	ss := NewSemanticScholar(cfg)
	got, err := ss.CopiesOf(t.Context(), papers)
	want := [][]Copy{
		{{URL: "https://p/1.pdf", Version: Published, License: "cc-by", Host: AtPublisher, Source: "s2"}, {URL: "https://arxiv.org/pdf/2101.00001", Version: Submitted, Host: AtRepository, Source: "s2"}},
		nil, nil,
		{{URL: "https://aclanthology.org/P19-1001.pdf", Version: Published, Host: AtRepository, Source: "s2"}},
	}
	require.NoError(t, err)
	assert.Equal(t, want, got)
	require.Equal(t, `{"ids":["DOI:10.1000/a","ARXIV:2102.00002","ACL:P19-1001"]}`, s.bodies[0])
	assert.Equal(t, "k", s.headers[0].Get("x-api-key"))
	ids, err := ss.AuthorIDs(t.Context(), papers)
	require.NoError(t, err, "authors")
	assert.Equal(t, [][]string{{"11"}, nil, nil, nil}, ids, "authors")
	ps, err := ss.Persons(t.Context(), []string{"11"})
	require.NoError(t, err, "person")
	assert.Equal(t, []string{"http://ann.example/"}, ps["11"].URLs)
	assert.Equal(t, "0000-0002-1825-0097", ps["11"].ORCID())
	none, _ := stubConfig(t, map[string][]reply{"/paper/batch": {{status: 400, body: `{"error":"No valid paper ids given"}`}}})
	noCopies(t, NewSemanticScholar(none), papers[0].DOI)
}

func TestCopiesOfOpenAlexAndCrossref(t *testing.T) {
	t.Parallel()
	cfg, s := stubConfig(t, map[string][]reply{
		"filter=doi%3A10.5555%2Fa%7C10.5555%2Fb": one(`{"meta":{"count":1,"next_cursor":null},"results":[{"id":"https://openalex.org/W1","doi":"https://doi.org/10.5555/A",
			"best_oa_location":{"is_oa":true,"landing_page_url":"https://r/1","pdf_url":"https://r/1.pdf","license":"cc-by","version":"acceptedVersion","source":{"type":"repository"}},
			"locations":[{"is_oa":false,"landing_page_url":"https://doi.org/10.5555/a","pdf_url":null,"version":"publishedVersion","source":{"type":"journal"}},
			{"is_oa":true,"landing_page_url":"https://h/2","pdf_url":null,"license":null,"version":null,"source":null}]}]}`),
		"/works/10.5555/a": one(`{"message":{"DOI":"10.5555/a","license":[{"URL":"https://creativecommons.org/licenses/by-nc-nd/4.0/"}],"link":[
			{"URL":"https://p/sim.pdf","content-type":"application/pdf","content-version":"vor","intended-application":"similarity-checking"},
			{"URL":"https://p/tdm.pdf","content-type":"application/pdf","content-version":"vor","intended-application":"text-mining"},
			{"URL":"https://p/tdm.xml","content-type":"text/xml","content-version":"vor","intended-application":"text-mining"}]}}`),
		"/works/10.5555/b": one(`{"message":{"DOI":"10.5555/b","license":[{"URL":"https://www.elsevier.com/tdm/"}],"link":[{"URL":"https://p/b.pdf","content-type":"application/pdf","content-version":"vor","intended-application":"text-mining"}]}}`),
	})
	cfg.OpenAlexKey = "k"
	got, err := NewOpenAlex(cfg).CopiesOf(t.Context(), []gleaner.Paper{{DOI: "10.5555/a"}, {}, {DOI: "10.5555/b"}})
	want := []Copy{{URL: "https://r/1.pdf", Version: Accepted, License: "cc-by", Host: AtRepository, Source: "openalex"}, {URL: "https://h/2", Landing: true, Version: UnknownVersion, Host: AtPublisher, Source: "openalex"}}
	require.NoError(t, err, "OpenAlex %v", s.asked)
	assert.Equal(t, [][]Copy{want, nil, nil}, got, "OpenAlex %v", s.asked)
	c := NewCrossref(cfg)
	list, err := c.Copies(t.Context(), gleaner.Paper{DOI: "10.5555/a"})
	require.NoError(t, err)
	assert.Equal(t, []Copy{{URL: "https://p/tdm.pdf", Version: Published, License: "cc-by-nc-nd", Host: AtPublisher, Source: "crossref"}}, list)
	noCopies(t, c, "10.5555/b") // a closed licence
}

func TestArXiv(t *testing.T) {
	t.Parallel()
	cfg, s := stubConfig(t, map[string][]reply{
		"/api/query": one(`<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom">
<title>arXiv Query</title><id>http://arxiv.org/api/x</id><opensearch:totalResults>2</opensearch:totalResults>
<entry><id>http://arxiv.org/abs/2101.00001v3</id><published>2021-01-01T00:00:00Z</published><title>Measured Examples
  of Sorting in Networks of Lists</title><author><name>Ann Lee</name></author><author><name>Bo Chen</name></author><arxiv:doi>10.1000/x</arxiv:doi><link href="http://arxiv.org/abs/2101.00001v3" rel="alternate" type="text/html"/><link title="pdf" href="http://arxiv.org/pdf/2101.00001v3" rel="related" type="application/pdf"/></entry>
<entry><id>http://arxiv.org/abs/2101.00002v1</id><published>2021-01-01T00:00:00Z</published><title>Measured Examples of Sorting in Networks of Lists</title><author><name>Some Body</name></author></entry></feed>`),
		"/api/query?max_results=5&search_query=ti%3A%22this+is+bad": one(`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/api/errors#x</id><title>Error</title><summary>incorrect id format</summary></entry></feed>`),
	})
	a := NewArXiv(cfg)
	authors := []gleaner.Author{{Name: "Ann Lee"}, {Name: "Bo Chen"}}
	got, err := a.CopiesOf(t.Context(), []gleaner.Paper{
		{ArXiv: "0301.00001"}, {Title: "Measured Examples of Sorting in Networks of Lists", Year: 2021, Authors: authors},
		{Title: "Too short", Year: 2021}, {Title: "A Title of the Time before ArXiv", Year: 1985},
	})
	require.NoError(t, err)
	assert.Equal(t, [][]Copy{{arxivCopy("0301.00001", "arxiv")}, {arxivCopy("2101.00001", "arxiv")}, nil, nil}, got)
	assert.Len(t, s.asked, 1)
	_, err = a.Copies(t.Context(), gleaner.Paper{Title: "this is bad", Year: 2021})
	assert.ErrorContains(t, as[ErrRefused](t, err), "incorrect id", "an error as an entry")
}

// failing is a source that refuses from the second paper on.
type failing struct{ asked *int }

func (failing) Name() string { return "failing" }

func (f failing) Copies(context.Context, gleaner.Paper) ([]Copy, error) {
	*f.asked++
	if *f.asked > 1 {
		return nil, ErrRefused{Service: "failing", Reason: "no"}
	}
	return []Copy{{URL: "https://x.example/1.pdf"}}, nil
}

// panicking is a source of whose answers nobody thought.
type panicking struct{}

func (panicking) Name() string { return "panicking" }

func (panicking) Copies(context.Context, gleaner.Paper) ([]Copy, error) { panic("an answer") }

func TestLocateCopiesGoesOn(t *testing.T) {
	t.Parallel()
	asked := 0
	papers := []gleaner.Paper{{DOI: "10.1000/a"}, {DOI: "10.1000/b"}, {DOI: "10.1000/c"}}
	got, err := LocateCopies(t.Context(), []CopySource{failing{&asked}, panicking{}, NewLinks(Config{})}, papers)
	require.NoError(t, err)
	require.Equal(t, 2, asked)
	assert.Len(t, got[0].Copies, 2)
	assert.Len(t, got[2].Copies, 1)
	as[ErrRefused](t, got[2].Failed["failing"])
	assert.NoError(t, got[0].Failed["failing"])
	assert.True(t, guard.Panicked(got[0].Failed["panicking"]))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = LocateCopies(ctx, []CopySource{NewUnpaywall(Config{Contact: "a@b.org"})}, papers)
	require.ErrorIs(t, err, context.Canceled, "canceled")
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "list.csv")
	require.NoError(t, os.WriteFile(path, []byte("title,authors,year\nOne Thing,Ann Lee,2003\nPreface,,2003\nOther,Bo Chen,1999\n"), 0o600))
	papers, _, err := ReadFile(path, "conf/exa", single(2003))
	require.NoError(t, err)
	require.Equal(t, []string{"One Thing"}, titles(papers))
	assert.Equal(t, "conf/exa", papers[0].Venue)
	assert.NotEmpty(t, papers[0].Key)
	_, _, err = ReadFile(path+"x", "", single(2003))
	require.ErrorIs(t, err, fs.ErrNotExist, "no file")
}
