package collection

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// list makes papers those of the harvest, as another process does: this
// collection is not told.
func (s *shop) list(papers ...int) {
	s.t.Helper()
	other := openShop(s.t, s.dsn, s.dir)
	other.want(papers...)
}

// TestPapersListedMeanwhile: a document that is judged, or matched again, while
// a harvest lists its papers is compared with these.
func TestPapersListedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, at := range []point{recorded, read, written, sketched} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			s := newShop(t, 1)
			listed := false
			s.reached = func(p point) {
				if p == at && !listed {
					listed = true
					s.list(2) // as many as before: one is no longer wanted, another is
				}
			}
			js := s.take("http://a.example/2.pdf", s.pile.File(2, sampleweb.AsPDF))
			require.True(t, listed)
			require.Equal(t, []string{s.pile.Paper(2).Key}, js[0].Papers())
		})
	}
}

// TestFoundElsewhereMeanwhile: a document that was judged long ago is found at
// another place just after a harvest listed its papers.
func TestFoundElsewhereMeanwhile(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	s.take("http://a.example/2.pdf", s.pile.File(2, sampleweb.AsPDF))
	s.list(2)
	js := s.take("http://b.example/2.pdf", s.pile.File(2, sampleweb.AsPDF))
	require.Equal(t, []string{s.pile.Paper(2).Key}, js[0].Papers())
}

// TestACancelledHarvestWantsNothing until it begins again: nothing is compared with its papers
// then. What was found for it stays, and papers that another harvest wants are found.
func TestACancelledHarvestWantsNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1, 2, 3)
	take := func(url string, n int) { s.take(url, s.pile.File(n, sampleweb.AsPDF)) }
	take("http://a.example/1.pdf", 1)
	other := store.Harvest{ID: "other", Venue: "other", Options: []byte("{}"), Stage: "crawl"}
	require.NoError(t, s.db.SaveHarvest(t.Context(), other))
	require.NoError(t, s.db.SetHarvestPapers(t.Context(), "other", []gleaner.Paper{s.pile.Paper(2)}, nil))
	require.NoError(t, s.db.SetStage(t.Context(), "conf/pile/all", gleaner.StageCancelled, ""))
	s.wanted.forget()
	take("http://b.example/1.pdf", 1) // at another place: it is compared again
	take("http://a.example/2.pdf", 2)
	take("http://a.example/3.pdf", 3)
	found := func() []string {
		s.rematched()
		return storetest.Column[string](t, s.db.Pool, `SELECT paper_key FROM matches ORDER BY 1`)
	}
	require.Equal(t, []string{s.pile.Paper(1).Key, s.pile.Paper(2).Key}, found())
	s.want(1, 2, 3)
	require.Equal(t, []string{s.pile.Paper(1).Key, s.pile.Paper(2).Key, s.pile.Paper(3).Key}, found())
}

// TestMatchesOfOldPapersAreNotWritten: whoever still has the list of before does
// not undo what was found since.
func TestMatchesOfOldPapersAreNotWritten(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	ctx := t.Context()
	shas, _ := s.takeFile(fileAt("http://a.example/2.pdf", s.pile.File(2, sampleweb.AsPDF)))
	_, version, err := s.wanted.get(ctx)
	require.NoError(t, err)
	s.list(1, 2)
	require.ErrorIs(t, s.db.SaveMatches(ctx, shas[0], nil, false, version), store.ErrStale)
	_, err = s.Rematch(ctx, Position{}, func(Position) {})
	require.NoError(t, err)
	require.NoError(t, s.db.SetHarvestPapers(ctx, "conf/pile/all", []gleaner.Paper{s.pile.Paper(1), s.pile.Paper(2)}, nil))
	now := devtest.Must(s.db.WantedVersion(ctx))(t)
	_, had, err := s.wanted.get(ctx)
	require.NoError(t, err)
	require.Equal(t, had, now, "listing the same again changes nothing")
	require.Len(t, devtest.Must(s.db.Matches(ctx, shas[0]))(t), 1)
}
