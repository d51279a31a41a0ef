package harvest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/lab/catalogues"
	"gleaner/internal/record/store"
)

// listOfDOIs enters a list of two DOIs that are registered and one that is not.
func listOfDOIs(t *testing.T, s *harvest.Stages) string {
	const key = "papers:mine"
	list := []gleaner.Paper{{Key: key + "/1", DOI: "10.5555/exa.1"}, {Key: key + "/2", DOI: "10.5555/exa.2"}, {Key: key + "/3", DOI: "10.5555/none"}}
	require.NoError(t, s.Enter(t.Context(), harvest.SourceFile, key, "list", list))
	require.NoError(t, s.DB.DescribeVenue(t.Context(), key, nil, harvest.SourceFile))
	return key
}

// TestListOfDOIs gets its titles and authors from Crossref, once; a DOI that is not
// known there is named, and wanted no more than a paper without a title can be.
func TestListOfDOIs(t *testing.T) {
	t.Parallel()
	o := smallVenue()
	a := o.open(t, "", nil)
	key := listOfDOIs(t, a.Stages)
	require.NoError(t, a.DB.SaveHarvest(t.Context(), store.Harvest{ID: key, Venue: key, Options: []byte("{}"), Stage: "papers"}))
	l, err := a.Stages.ListPapers(t.Context(), key, key, gleaner.Years{}, nothing)
	require.NoError(t, err)
	assert.Equal(t, harvest.Listing{Published: 2, Wanted: 2, Missing: []string{"file: Crossref knows no paper by the DOI 10.5555/none"}}, l)
	missing, err := a.DB.Missing(t.Context(), key)
	require.NoError(t, err)
	require.Len(t, missing, 2)
	assert.Equal(t, "Sorting Measured Examples by Weight", missing[0].Title)
	assert.Equal(t, []string{"Roe", "Poe"}, missing[0].Surnames())
	assert.Equal(t, 2003, missing[0].Year)

	_, err = a.Stages.ListPapers(t.Context(), key, key, gleaner.Years{}, nothing)
	require.NoError(t, err)
	asked := o.Log() // robots.txt first
	require.Len(t, asked, 3)
	assert.Contains(t, asked[1].URL, "exa.1")
	assert.NotContains(t, asked[2].URL, "exa.1", "what is known is not asked for again")
}

// TestAuthorsOfAListAreThoseOfItsPapers where a venue on record has these, and the one known
// person of their name where it has not.
func TestAuthorsOfAListAreThoseOfItsPapers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a := smallVenue().open(t, "", nil)
	known := gleaner.Paper{
		Key: "conf/x/1", Venue: "conf/x", Year: 2001, Title: "Analytical Engines for Everyone",
		Authors: []gleaner.Author{{PID: "1/1", Name: "Ada Lovelace"}},
	}
	require.NoError(t, a.DB.SavePapers(ctx, []gleaner.Paper{known}, nil))
	const key = "papers:mine"
	named := []gleaner.Author{{Name: "Ada Lovelace"}}
	list := []gleaner.Paper{
		{Key: key + "/1", Year: 2001, Title: "Analytical engines, for everyone", Authors: named},
		{Key: key + "/2", Year: 2002, Title: "Notes on Machines That Weave", Authors: named},
	}
	require.NoError(t, a.Stages.Enter(ctx, harvest.SourceFile, key, "list", list))
	require.NoError(t, a.DB.DescribeVenue(ctx, key, nil, harvest.SourceFile))
	require.NoError(t, a.DB.SaveHarvest(ctx, store.Harvest{ID: key, Venue: key, Options: []byte("{}"), Stage: "papers"}))
	l, err := a.Stages.ListPapers(ctx, key, key, gleaner.Years{}, nothing)
	require.NoError(t, err)
	require.Equal(t, 2, l.Wanted)
	missing, err := a.DB.Missing(ctx, key)
	require.NoError(t, err)
	require.Equal(t, "1/1", missing[0].Authors[0].ID())
	require.Equal(t, "name:ada lovelace", missing[1].Authors[0].ID())
	found, err := a.DB.AuthorsByName(ctx, "ada lovelace")
	require.NoError(t, err)
	require.Equal(t, known.Authors, found)
}

// TestALongListOfDOIsGoesOn behind what had come before it was cut off.
func TestALongListOfDOIsGoesOn(t *testing.T) {
	t.Parallel()
	o := smallVenue()
	a := o.open(t, "", nil)
	key := listOfDOIs(t, a.Stages)
	var more []gleaner.Paper
	for i := range 400 {
		doi := fmt.Sprintf("10.5555/none.%d", i)
		more = append(more, gleaner.Paper{Key: key + "/" + doi, DOI: doi})
	}
	require.NoError(t, a.Stages.Enter(t.Context(), harvest.SourceFile, key, "more", more))
	require.NoError(t, a.DB.SaveHarvest(t.Context(), store.Harvest{ID: key, Venue: key, Options: []byte("{}"), Stage: "papers"}))
	ctx, cut := context.WithCancel(t.Context())
	reports := 0
	_, err := a.Stages.ListPapers(ctx, key, key, gleaner.Years{}, func(string) {
		if reports++; reports == 2 {
			cut()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	had, err := a.DB.Listing(t.Context(), "crossref", key, gleaner.Years{})
	require.NoError(t, err)
	require.Len(t, had, 2)
}

// TestListOfDOIsWhileCrossrefIsOut goes on with what has a title.
func TestListOfDOIsWhileCrossrefIsOut(t *testing.T) {
	t.Parallel()
	o := smallVenue()
	o.Fail(catalogues.Fault{Host: "api.crossref.org", Status: 400})
	a := o.open(t, "", nil)
	key := listOfDOIs(t, a.Stages)
	require.NoError(t, a.Stages.Enter(t.Context(), harvest.SourceFile, key, "more", []gleaner.Paper{{Key: key + "/4", Title: "A Paper That Has Its Title Here", Year: 2001}}))
	require.NoError(t, a.DB.SaveHarvest(t.Context(), store.Harvest{ID: key, Venue: key, Options: []byte("{}"), Stage: "papers"}))
	l, err := a.Stages.ListPapers(t.Context(), key, key, gleaner.Years{}, nothing)
	require.NoError(t, err)
	require.Equal(t, 1, l.Wanted)
	require.Len(t, l.Missing, 4)
	require.Contains(t, l.Missing[0], "crossref: Crossref refuses the request (status 400)")
	require.Equal(t, "file: no title is known yet for the DOI 10.5555/exa.1", l.Missing[1])
}

// TestPapersOfAPersonLeaveThoseOfTheirVenuesAsTheyAre: the venue's harvest knew more.
func TestPapersOfAPersonLeaveThoseOfTheirVenuesAsTheyAre(t *testing.T) {
	t.Parallel()
	a := smallVenue().open(t, "", map[string]string{"sources": "dblp,crossref"})
	ctx := t.Context()
	require.NoError(t, a.DB.DescribeVenue(ctx, "journals/exa", map[string]string{"issn": "1234-5678"}, ""))
	_, _, err := a.Stages.Known(ctx, "journals/exa", gleaner.Years{From: 2004, To: 2004}, nothing)
	require.NoError(t, err)
	before, err := a.DB.Papers(ctx, "journals/exa", gleaner.Years{From: 2004, To: 2004})
	require.NoError(t, err)
	require.Len(t, before, 1)
	require.NoError(t, a.DB.SaveHarvest(ctx, store.Harvest{ID: "author:1/2", Venue: "author:1/2", Options: []byte("{}"), Stage: "papers"}))
	l, err := a.Stages.ListPapers(ctx, "author:1/2", "author:1/2", gleaner.Years{}, nothing)
	require.NoError(t, err)
	require.Equal(t, 2, l.Wanted, "%+v", l)
	after, err := a.DB.Papers(ctx, "journals/exa", gleaner.Years{From: 2003, To: 2004})
	require.NoError(t, err)
	require.Len(t, after, 2, "the other is of its venue, too")
	require.Equal(t, before[0], after[1])
}
