package homepage

import (
	"maps"
	"testing"

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
	require.True(t, certainByName(with(map[string]float64{fListed: 1})))
	require.True(t, certainByName(with(map[string]float64{fNameURL: 1, fResearch: 0.6, fDocuments: 0.1})))
	require.False(t, certainByName(with(nil)))
	require.False(t, certainByName(with(map[string]float64{fNameURL: 1, fResearch: 0.6})), "no document")
	require.False(t, certainByName(with(map[string]float64{fListed: 1, fRoot: 0})))
	require.False(t, certainByName(with(map[string]float64{fListed: 1, fRival: 0.5})), "another shows the papers")
	require.False(t, certainByName(with(map[string]float64{fListed: 1, fOther: 1})))
}
