package metadata

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	lee, chen := gleaner.Author{PID: "1/2", Name: "Ann Lee"}, gleaner.Author{PID: "3/4", Name: "Bo Chen"}
	dblp := []gleaner.Paper{
		{Key: "conf/exa/A", Venue: "conf/exa", Year: 2003, Title: "Measured Examples of Sorting in Networks", Authors: []gleaner.Author{lee, chen}, DOI: "10.5555/a", Links: []string{"https://doi.org/10.5555/a"}},
		{Key: "conf/exa/B", Venue: "conf/exa", Year: 2003, Title: "Off-diagonal Example Numbers of Several Graphs", Authors: []gleaner.Author{{Name: "Wei Wang"}}},
		{Key: "conf/exa/C", Venue: "conf/exa", Year: 2003, Title: "A Twin Title that Occurs Twice in One Volume", Authors: []gleaner.Author{lee}},
		{Key: "conf/exa/D", Venue: "conf/exa", Year: 2003, Title: "A Twin Title that Occurs Twice in One Volume", Authors: []gleaner.Author{lee}},
		{Key: "conf/exa/E", Venue: "conf/exa", Year: 2003, Title: "A Conference Paper with a Journal Version of its Own", Authors: []gleaner.Author{lee, chen}, DOI: "10.5555/e"},
	}
	crossref := []gleaner.Paper{
		{Key: "doi:10.5555/a", Year: 2003, Title: "MEASURED EXAMPLES OF SORTING IN NETWORKS", Authors: []gleaner.Author{{Name: "A. Lee"}, {Name: "B. Chen"}}, DOI: "10.5555/a", Pages: "1-9"},
		{Key: "doi:10.5555/b", Year: 2004, Title: "Off-Diagonal Example Numbers of Several Graphs.", Authors: []gleaner.Author{{PID: "orcid:0000-0002-1825-0097", Name: "Wei Wang"}}, DOI: "10.5555/b"},
		{Key: "doi:10.5555/b2", Year: 2003, Title: "Off-diagonal Book Example Numbers of Several Graphs", Authors: []gleaner.Author{{Name: "Wei Wang"}}, DOI: "10.5555/b2"},
		{Key: "doi:10.7777/e", Year: 2004, Title: "A Conference Paper with a Journal Version of its Own", Authors: []gleaner.Author{lee, chen}, DOI: "10.7777/e"},
	}
	arxiv := []gleaner.Paper{{Key: "arxiv:0301.00001", Year: 2002, Title: "Measured Examples of Sorting in Networks", Authors: []gleaner.Author{{Name: "Ann Lee"}, {Name: "Bo Chen"}}, ArXiv: "0301.00001", DOI: "10.48550/arxiv.0301.00001"}}
	got := Merge(Listing{Source: "dblp", Papers: dblp}, Listing{Source: "crossref", Papers: crossref}, Listing{Source: "arxiv", Papers: arxiv})
	byKey := map[string]Record{}
	for _, r := range got {
		byKey[r.Paper.Key] = r
	}
	require.Len(t, got, 7)
	require.Len(t, byKey, 7)
	a := byKey["conf/exa/A"]
	assert.Equal(t, map[string]string{"dblp": "conf/exa/A", "doi": "10.5555/a", "arxiv": "0301.00001"}, a.IDs)
	want := dblp[0]
	want.Pages, want.ArXiv = "1-9", "0301.00001"
	assert.Equal(t, want, a.Paper)
	wantFrom := map[string][]string{"title": {"dblp", "crossref", "arxiv"}, "year": {"dblp", "crossref"}, "authors": {"dblp", "crossref", "arxiv"}, "doi": {"dblp", "crossref"}, "arxiv": {"arxiv"}, "pages": {"crossref"}, "links": {"dblp"}}
	assert.Equal(t, wantFrom, a.From)
	assert.Equal(t, []string{"dblp", "crossref", "arxiv"}, a.Sources)
	assert.Len(t, a.Why, 2)
	assert.Equal(t, []string{"arxiv: 2002"}, a.Differ["year"])
	b := byKey["conf/exa/B"]
	require.Equal(t, "10.5555/b", b.Paper.DOI, "matched by title")
	assert.Equal(t, "orcid:0000-0002-1825-0097", b.Paper.Authors[0].PID, "matched by title")
	assert.Contains(t, byKey, "doi:10.5555/b2", "another paper of nearly the same title")
	assert.Contains(t, byKey, "doi:10.7777/e", "a journal version with its own DOI")
	assert.Empty(t, dblp[1].Authors[0].PID, "Merge wrote into its input")
}

func TestMergeIsDeterministicAndWhole(t *testing.T) {
	t.Parallel()
	assert.Empty(t, Merge(), "nothing")
	p := gleaner.Paper{Key: "conf/exa/A", Year: 2003, Title: "One", DOI: "10.1000/a"}
	got := Merge(Listing{Source: "dblp", Papers: []gleaner.Paper{p, p}})
	require.Len(t, got, 1, "the same record twice")
	assert.Len(t, got[0].Sources, 1, "the same record twice")
	other := gleaner.Paper{Key: "openalex:W1", Year: 2003, Title: "Another"}
	same := gleaner.Paper{Key: "openalex:W2", DOI: "10.1000/a", Title: "One", Pages: "7"}
	more := Merge(Listing{Source: "dblp", Papers: []gleaner.Paper{p}}, Listing{Source: "openalex", Papers: []gleaner.Paper{other, same}, Enrich: true})
	require.Len(t, more, 1, "a source that only enriches")
	assert.Equal(t, []string{"7", "W2"}, []string{more[0].Paper.Pages, more[0].IDs["openalex"]})
	assert.Equal(t, []gleaner.Paper{p}, Papers(got))
}
