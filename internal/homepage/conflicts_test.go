package homepage

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
)

// TestAHostIsItsOwners: a person's host that was taken for the site of a project by
// others, since it shows their titles, goes to the person whose name it bears.
func TestAHostIsItsOwners(t *testing.T) {
	t.Parallel()
	given := func(name, url string, f map[string]float64, score float64) evidence.Decision {
		c := evidence.Candidate{URL: url, Kept: true, Score: score, Features: f}
		return evidence.Decision{Author: gleaner.Author{Name: name}, Candidates: []evidence.Candidate{c}, Homepages: []evidence.Candidate{c}}
	}
	const home, inner = "http://ada-lovelace.example/", "http://ada-lovelace.example/HomePage/index.html"
	project := map[string]float64{fProjectSite: 0.6, fTitles: 0.9, fUser: 1}
	owner := map[string]float64{fIdentity: 1, fUser: 1}
	for _, at := range []string{home, inner} {
		ds := []evidence.Decision{given("Charles Babbage", home, project, 0.97), given("Ada Lovelace", at, owner, 0.3)}
		resolveConflicts(ds)
		require.Empty(t, ds[0].Homepages, at)
		require.Equal(t, evidence.GivenToAnother, ds[0].NotFound)
		require.Len(t, ds[1].Homepages, 1, at)
	}
	// A directory at a university is one person's, and not the host with it.
	const group = "http://www.cs.example.edu/webdb/"
	shared := []evidence.Decision{given("Charles Babbage", group, map[string]float64{fProjectSite: 0.6, fTitles: 0.9}, 0.97), given("Ada Lovelace", "http://www.cs.example.edu/~ada/", owner, 0.3),
		given("Mary Somerville", "http://www.cs.example.edu/~ada/engine/", project, 0.97)}
	resolveConflicts(shared)
	require.Len(t, shared[0].Homepages, 1)
	require.Empty(t, shared[2].Homepages)
	// Nor does she give up her own other page.
	own := given("Ada Lovelace", home, owner, 0.9)
	own.Homepages = append(own.Homepages, evidence.Candidate{URL: home + "engine/", Kept: true, Features: project})
	both := []evidence.Decision{own}
	resolveConflicts(both)
	require.Len(t, both[0].Homepages, 2)
	alone := []evidence.Decision{given("Charles Babbage", home, project, 0.97), given("Ada Lovelace", "http://ada.example/", owner, 0.3)}
	resolveConflicts(alone)
	require.Len(t, alone[0].Homepages, 1, "nobody else's")
}

// TestAnOwnerIsCertain by name alone on the root of a personal address.
func TestAnOwnerIsCertain(t *testing.T) {
	t.Parallel()
	with := func(more map[string]float64) map[string]float64 {
		f := map[string]float64{fRoot: 1, fUser: 1, fNameTitle: 1, fIdentity: 1}
		maps.Copy(f, more)
		return f
	}
	require.True(t, certain(with(map[string]float64{fListed: 1})))
	require.True(t, certain(with(map[string]float64{fNameURL: 1, fResearch: 0.6, fDocuments: 0.1})))
	require.False(t, certain(with(nil)))
	require.False(t, certain(with(map[string]float64{fNameURL: 1, fResearch: 0.6})), "no document")
	require.False(t, certain(with(map[string]float64{fListed: 1, fRoot: 0})))
	require.False(t, certain(with(map[string]float64{fListed: 1, fRival: 0.5})), "another shows the papers")
	require.False(t, certain(with(map[string]float64{fListed: 1, fOther: 1})))
}

// meanwhile is a book in which somebody else decides on an author who is about to give a
// page up.
type meanwhile struct {
	*notes
	decides evidence.Decision
}

func (m meanwhile) Heed(ctx context.Context, d evidence.Decision) (evidence.Decision, error) {
	return d, m.notes.Save(ctx, m.decides)
}

// TestSettlingLosesNobodysWord: who was given another page since the decisions were read
// keeps it.
func TestSettlingLosesNobodysWord(t *testing.T) {
	t.Parallel()
	given := func(name, url string, score float64) evidence.Decision {
		c := evidence.Candidate{URL: url, Kept: true, Score: score, Features: map[string]float64{fIdentity: score}}
		return evidence.Decision{Author: gleaner.Author{Name: name}, Candidates: []evidence.Candidate{c}, Homepages: []evidence.Candidate{c}}
	}
	const shared, own = "http://www.cs.example.edu/lace/", "http://babbage.example/"
	for want, decides := range map[string]evidence.Decision{own: given("Charles Babbage", own, 1), "": given("Mary Somerville", own, 1)} {
		m := meanwhile{&notes{of: map[string]note{}}, decides}
		for _, d := range []evidence.Decision{given("Charles Babbage", shared, 0.5), given("Ada Lovelace", shared, 1)} {
			require.NoError(t, m.Save(t.Context(), d))
		}
		require.NoError(t, Search{Book: m}.Settle(t.Context()))
		left, err := m.Decisions(t.Context(), []string{gleaner.Author{Name: "Charles Babbage"}.ID()}, time.Time{})
		require.NoError(t, err)
		require.Equal(t, want, left[0].Best())
	}
}

// TestNamesakesOfOnePage: who gives it up has none, in memory as in the record, and is
// looked for again.
func TestNamesakesOfOnePage(t *testing.T) {
	t.Parallel()
	other := Subject{Author: gleaner.Author{PID: "e", Name: "Jane Doe"}, Venue: doe.Venue, Papers: []gleaner.Paper{{Title: "Flowers of the Southern Valleys"}}}
	web := pagesAt{doesHome: strings.ReplaceAll(doesPage, "</body>", strings.Repeat("<p>Jane Doe: research at the university</p>", 20)+"</body>")}
	ds, err := New(Config{Getter: web, Searcher: listing{"a", []string{doesHome}, nil}}).FindAll(t.Context(), []Subject{listedAt(doe, doesHome), listedAt(other, doesHome)}, 2)
	require.NoError(t, err)
	require.Equal(t, doesHome, ds[0].Best())
	require.Empty(t, ds[1].Homepages)
	require.Equal(t, evidence.GivenToAnother, ds[1].NotFound)
}
