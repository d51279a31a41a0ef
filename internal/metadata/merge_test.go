package metadata

import (
	"reflect"
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
	if a.Paper.Title != dblp[0].Title || a.Paper.Year != 2003 || a.Paper.DOI != "10.5555/a" || a.Paper.Pages != "1-9" || a.Paper.ArXiv != "0301.00001" || !reflect.DeepEqual(a.Paper.Authors, dblp[0].Authors) {
		t.Errorf("paper %+v", a.Paper)
	}
	wantFrom := map[string][]string{"title": {"dblp", "crossref", "arxiv"}, "year": {"dblp", "crossref"}, "authors": {"dblp", "crossref", "arxiv"}, "doi": {"dblp", "crossref"}, "arxiv": {"arxiv"}, "pages": {"crossref"}, "links": {"dblp"}}
	assert.Equal(t, wantFrom, a.From)
	if !reflect.DeepEqual(a.Sources, []string{"dblp", "crossref", "arxiv"}) || len(a.Why) != 2 || !reflect.DeepEqual(a.Differ["year"], []string{"arxiv: 2002"}) {
		t.Errorf("sources %v, why %v, differ %v", a.Sources, a.Why, a.Differ)
	}
	b := byKey["conf/exa/B"]
	require.Equal(t, "10.5555/b", b.Paper.DOI, "matched by title")
	assert.Equal(t, "orcid:0000-0002-1825-0097", b.Paper.Authors[0].PID, "matched by title")
	if _, ok := byKey["doi:10.5555/b2"]; !ok {
		t.Error("another paper of nearly the same title was merged")
	}
	if _, ok := byKey["doi:10.7777/e"]; !ok {
		t.Error("a journal version with its own DOI was merged into the conference paper")
	}
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
	if more := Merge(Listing{Source: "dblp", Papers: []gleaner.Paper{p}}, Listing{Source: "openalex", Papers: []gleaner.Paper{other, {Key: "openalex:W2", DOI: "10.1000/a", Title: "One", Pages: "7"}}, Enrich: true}); len(more) != 1 || more[0].Paper.Pages != "7" || more[0].IDs["openalex"] != "W2" {
		t.Errorf("a source that only enriches: %+v", more)
	}
	assert.Equal(t, []gleaner.Paper{p}, Papers(got))
}
