package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/lab/catalogues"
	"gleaner/internal/metadata"
	"gleaner/internal/service/app"
)

// listOfDOIs enters a list of two DOIs that are registered and one that is not.
func listOfDOIs(t *testing.T, s *harvest.PaperSources) string {
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
	key := listOfDOIs(t, a.Stages.Papers)
	id := begin(t, a, key, gleaner.Years{})
	l := lists(t, a, id, key, gleaner.Years{})
	assert.Equal(t, harvest.Listing{Published: 2, Wanted: 2, Missing: []string{"file: Crossref knows no paper by the DOI 10.5555/none"}}, l)
	missing, err := a.DB.Missing(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, missing, 2)
	assert.Equal(t, "Sorting Measured Examples by Weight", missing[0].Title)
	assert.Equal(t, []string{"Roe", "Poe"}, missing[0].Surnames())
	assert.Equal(t, 2003, missing[0].Year)
	said := reported(t, a, id).NotListed()
	assert.Equal(t, "1 entry is not listed, since no title is known for its DOI: 10.5555/none", said)

	lists(t, a, id, key, gleaner.Years{})
	asked := o.Log() // robots.txt first
	require.Len(t, asked, 3)
	assert.Contains(t, asked[1].Path, "exa.1")
	assert.NotContains(t, asked[2].Path, "exa.1", "what is known is not asked for again")
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
	require.NoError(t, a.Stages.Papers.Enter(ctx, harvest.SourceFile, key, "list", list))
	require.NoError(t, a.DB.DescribeVenue(ctx, key, nil, harvest.SourceFile))
	id := begin(t, a, key, gleaner.Years{})
	require.Equal(t, 2, lists(t, a, id, key, gleaner.Years{}).Wanted)
	missing, err := a.DB.Missing(ctx, id)
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
	key := listOfDOIs(t, a.Stages.Papers)
	var more []gleaner.Paper
	for i := range 400 {
		doi := fmt.Sprintf("10.5555/none.%d", i)
		more = append(more, gleaner.Paper{Key: key + "/" + doi, DOI: doi})
	}
	require.NoError(t, a.Stages.Papers.Enter(t.Context(), harvest.SourceFile, key, "more", more))
	id := begin(t, a, key, gleaner.Years{})
	ctx, cut := context.WithCancel(t.Context())
	reports := 0
	_, err := a.Stages.ListPapers(ctx, id, key, gleaner.Years{}, func(string) {
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
	key := listOfDOIs(t, a.Stages.Papers)
	require.NoError(t, a.Stages.Papers.Enter(t.Context(), harvest.SourceFile, key, "more", []gleaner.Paper{{Key: key + "/4", Title: "A Paper That Has Its Title Here", Year: 2001}}))
	id := begin(t, a, key, gleaner.Years{})
	l := lists(t, a, id, key, gleaner.Years{})
	require.Equal(t, 1, l.Wanted)
	require.Contains(t, reported(t, a, id).NotListed(),
		"3 entries are not listed, since no title is known for its DOI: 10.5555/exa.1; 10.5555/exa.2; 10.5555/none")
	require.Len(t, l.Missing, 4)
	require.Contains(t, l.Missing[0], "crossref: Crossref refuses the request (status 400)")
	require.Equal(t, "file: no title is known yet for the DOI 10.5555/exa.1", l.Missing[1])
}

// TestPapersOfAPersonLeaveThoseOfTheirVenuesAsTheyAre: the venue's harvest knew more.
func TestPapersOfAPersonLeaveThoseOfTheirVenuesAsTheyAre(t *testing.T) {
	t.Parallel()
	a := smallVenue().open(t, "", map[string]string{"sources": "dblp,crossref"})
	ctx := t.Context()
	describe(t, a)
	_, _, err := a.Stages.Papers.Known(ctx, "journals/exa", gleaner.Years{From: 2004, To: 2004}, nothing)
	require.NoError(t, err)
	before, err := a.DB.Papers(ctx, "journals/exa", gleaner.Years{From: 2004, To: 2004})
	require.NoError(t, err)
	require.Len(t, before, 1)
	id := begin(t, a, "author:1/2", gleaner.Years{})
	require.Equal(t, 2, lists(t, a, id, "author:1/2", gleaner.Years{}).Wanted)
	after, err := a.DB.Papers(ctx, "journals/exa", gleaner.Years{From: 2003, To: 2004})
	require.NoError(t, err)
	require.Len(t, after, 2, "the other is of its venue, too")
	require.Equal(t, before[0], after[1])
}

// smallVenue is a journal of two years; the second paper's DOI is known to
// Crossref alone.
func smallVenue() *outside {
	p1 := gleaner.Paper{Key: "journals/exa/RoeP03", Venue: "journals/exa", Year: 2003, Title: "Sorting Measured Examples by Weight", DOI: "10.5555/exa.1",
		Authors: []gleaner.Author{{PID: "1/1", Name: "Jane Roe"}, {PID: "1/2", Name: "Ada Poe"}}}
	p2 := gleaner.Paper{Key: "journals/exa/Poe04", Venue: "journals/exa", Year: 2004, Title: "A Second Look at the Growth of Samples", DOI: "10.5555/exa.2",
		Authors: []gleaner.Author{{PID: "1/2", Name: "Ada Poe"}}}
	return newOutside(catalogues.Catalogue{Venue: "journals/exa", Name: "EXA", Title: "Journal of Examples", ISSN: "1234-5678", Homepages: map[string][]string{},
		Volumes: []catalogues.Volume{{TOC: "db/journals/exa/exa1", Year: 2003, Papers: []gleaner.Paper{p1}}, {TOC: "db/journals/exa/exa2", Year: 2004, Papers: []gleaner.Paper{p2}}}})
}

// describe records the number by which Crossref knows the small venue.
func describe(t *testing.T, a *app.App) {
	require.NoError(t, a.DB.DescribeVenue(t.Context(), "journals/exa", map[string]string{"issn": "1234-5678"}, ""))
}

func TestKnownSaysWhereFieldsComeFrom(t *testing.T) {
	t.Parallel()
	o := smallVenue()
	a := o.open(t, "", map[string]string{"sources": "crossref,dblp"})
	years := gleaner.Years{From: 2003, To: 2004}
	describe(t, a)
	records, missing, err := a.Stages.Papers.Known(t.Context(), "journals/exa", years, nothing)
	require.NoError(t, err)
	assert.Empty(t, missing)
	require.Len(t, records, 2)
	for _, r := range records {
		assert.Equal(t, []string{"dblp", "crossref"}, r.Sources, "DBLP decides, wherever it is named")
		assert.Equal(t, []string{"dblp", "crossref"}, r.From["title"])
		assert.Contains(t, r.Paper.Key, "journals/exa/")
		assert.Equal(t, r.Paper.DOI, r.IDs["doi"])
	}
	asked := len(o.Log())
	again, _, err := a.Stages.Papers.Known(t.Context(), "journals/exa", years, nothing)
	require.NoError(t, err)
	assert.Equal(t, records, again)
	for _, r := range o.Log()[asked:] {
		assert.NotContains(t, r.Path, "/search/publ/", "a listed volume is not asked for again")
		assert.NotContains(t, r.Host, "crossref")
	}
}

// TestKnownOfAllYears: without years it is all that a venue published: what DBLP lists,
// which others complete year by year, or what the one source has that is asked.
func TestKnownOfAllYears(t *testing.T) {
	t.Parallel()
	for sources, keys := range map[string][]string{"dblp,crossref": {"journals/exa/Poe04", "journals/exa/RoeP03"}, "crossref": {"doi:10.5555/exa.1", "doi:10.5555/exa.2"}} {
		o := smallVenue()
		a := o.open(t, "", map[string]string{"sources": sources})
		describe(t, a)
		var asked []int
		for range 2 {
			records, missing, err := a.Stages.Papers.Known(t.Context(), "journals/exa", gleaner.Years{}, nothing)
			require.NoError(t, err)
			require.Empty(t, missing, sources)
			var got []string
			for _, r := range records {
				got = append(got, r.Paper.Key)
				require.Contains(t, r.Sources, "crossref")
			}
			require.ElementsMatch(t, keys, got, sources)
			asked = append(asked, len(o.Requests("api.crossref.org")))
		}
		require.Positive(t, asked[0])
		require.Equal(t, asked[0], asked[1], "a list is not asked for again")
		records, _, err := a.Stages.Papers.Known(t.Context(), "journals/exa", gleaner.YearsOf(2002, 2004), nothing)
		require.NoError(t, err)
		require.Len(t, records, 1)
		require.Equal(t, 2004, records[0].Paper.Year)
	}
}

func TestKnownGoesOnWithoutASourceThatOnlyAdds(t *testing.T) {
	t.Parallel()
	o := smallVenue()
	o.Fail(catalogues.Fault{Host: "api.crossref.org", Status: 400})
	a := o.open(t, "", map[string]string{"sources": "dblp,crossref,acl"})
	describe(t, a)
	records, missing, err := a.Stages.Papers.Known(t.Context(), "journals/exa", gleaner.Years{From: 2003, To: 2003},
		nothing)
	require.NoError(t, err)
	assert.Len(t, records, 1)
	require.Len(t, missing, 2)
	assert.Contains(t, missing[0], "crossref")
	assert.Contains(t, missing[1], "acl", "which does not know the venue")
}

func TestKnownOfAYearWithoutAVolume(t *testing.T) {
	t.Parallel()
	a := smallVenue().open(t, "", nil)
	_, _, err := a.Stages.Papers.Known(t.Context(), "journals/exa", gleaner.Years{From: 1950, To: 1950}, nothing)
	var none metadata.ErrNoVolume
	require.ErrorAs(t, err, &none)
	assert.Contains(t, err.Error(), "1950")
	_, _, err = a.Stages.Papers.Known(t.Context(), "conf/nowhere", gleaner.Years{From: 2003, To: 2003}, nothing)
	var unknown metadata.ErrUnknownVenue
	require.ErrorAs(t, err, &unknown)
}

// refusing is a source that answers what it would answer again, but for one year.
type refusing struct {
	metadata.Source
	err   error
	asked *int
}

func (r refusing) Papers(_ context.Context, _ gleaner.Venue, years gleaner.Years) ([]gleaner.Paper, error) {
	if *r.asked++; years.From == 2004 {
		return []gleaner.Paper{{Key: "oai:one", Title: "The Only One", Year: 2004}}, nil
	}
	return nil, r.err
}

// TestARefusedListIsAGap: what a source would answer again is asked for once, also where no
// other source lists the venue, and its other years are entered.
func TestARefusedListIsAGap(t *testing.T) {
	t.Parallel()
	for _, refusal := range []error{metadata.ErrOAI{}, metadata.ErrBadAnswer{URL: "oai", Err: errors.New("is no XML")}} {
		a := smallVenue().open(t, "", map[string]string{"sources": "crossref"})
		asked := 0
		a.Stages.Papers.Sources["crossref"] = refusing{a.Stages.Papers.Sources["crossref"], refusal, &asked}
		records, missing, err := a.Stages.Papers.Known(t.Context(), "journals/exa", gleaner.Years{From: 2003, To: 2005},
			nothing)
		require.NoError(t, err)
		require.Len(t, records, 1)
		require.Len(t, missing, 2)
		require.Equal(t, 3, asked)
		_, _, err = a.Stages.Papers.Known(t.Context(), "journals/exa", gleaner.YearsOf(2003), nothing)
		var none metadata.ErrNoVolume
		require.ErrorAs(t, err, &none, "it has an end that is named")
	}
}

// TestNoListIsAboveTheBounds: what no catalogue can mean stays out of the record,
// whoever lists it: a person's file, or a source that completes the others.
func TestNoListIsAboveTheBounds(t *testing.T) {
	t.Parallel()
	a := smallVenue().open(t, "", nil)
	ctx, years := t.Context(), gleaner.Years{From: 2003, To: 2003}
	var bad metadata.ErrBadAnswer
	huge := gleaner.Paper{Key: "file:one", Year: 2003, Title: strings.Repeat("a", 20_000)}
	require.ErrorAs(t, a.Stages.Papers.Enter(ctx, "file", "list/local", "2003", []gleaner.Paper{huge}), &bad)
	crowd := slices.Repeat([]gleaner.Author{{Name: "A"}}, 20_000)
	crowded := slices.Repeat([]gleaner.Paper{{Key: "file:many", Year: 2003, Title: "A paper", Authors: crowd}}, 51)
	require.ErrorContains(t, a.Stages.Papers.Enter(ctx, "file", "list/local", "2003", crowded),
		"more than 1000000 authors of a volume")
	listed, err := a.DB.Listing(ctx, "file", "list/local", years)
	require.NoError(t, err)
	require.Empty(t, listed)

	a.Stages.Papers.Completers = map[string]metadata.CopySource{"arxiv": endless{}}
	a.Stages.Papers.Names = []string{"dblp", "arxiv"}
	records, missing, err := a.Stages.Papers.Known(ctx, "journals/exa", years, nothing)
	require.NoError(t, err)
	require.NotEmpty(t, records)
	require.Contains(t, strings.Join(missing, " "), "links of a paper")
	listed, err = a.DB.Listing(ctx, "arxiv", "journals/exa", years)
	require.NoError(t, err)
	require.Empty(t, listed)
}

// endless knows more copies of every paper than there can be.
type endless struct{}

func (endless) Name() string { return "arxiv" }

func (endless) Copies(context.Context, gleaner.Paper) ([]metadata.Copy, error) {
	var all []metadata.Copy
	for i := range 1500 {
		all = append(all, metadata.Copy{URL: fmt.Sprintf("https://a.example/%d.pdf", i)})
	}
	return all, nil
}

func TestAListOfOnesOwn(t *testing.T) {
	t.Parallel()
	o := smallVenue()
	a := o.open(t, "", nil)
	ctx, years := t.Context(), gleaner.Years{From: 2003, To: 2003}
	own := gleaner.Paper{Key: "file:one", Year: 2003, Title: "A Paper that No Catalogue Lists", Authors: []gleaner.Author{{Name: "Jane Roe"}}}
	require.NoError(t, a.DB.SaveListing(ctx, "file", "list/local", "2003", []gleaner.Paper{own}))
	require.NoError(t, a.DB.DescribeVenue(ctx, "list/local", nil, "file"))
	id := begin(t, a, "list/local", years)
	assert.Equal(t, 1, lists(t, a, id, "list/local", years).Wanted)
	assert.Empty(t, o.Log(), "no catalogue is asked of a venue that it lacks")
	names, err := a.Stages.Papers.VenueNames(ctx, "list/local")
	require.NoError(t, err)
	assert.NotEmpty(t, names)
}
