package metadata

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/realdata"
)

// TestRealVenues lists two venues and looks up their people, and holds both
// against what is known of them.
func TestRealVenues(t *testing.T) {
	t.Parallel()
	farm := realdata.StartFarm(t, "")
	d := NewDBLP(Config{
		DBLPURL: "http://dblp.org", DBLPMirrorURL: "-", Delays: Delays{DBLP: time.Millisecond},
		HTTPClient: farm.Client(),
	})
	truth := map[string]map[string]bool{} // keys, by venue
	for _, row := range realdata.Table(t, "truth", "wanted.tsv") {
		if truth[row["venue"]] == nil {
			truth[row["venue"]] = map[string]bool{}
		}
		truth[row["venue"]][row["key"]] = true
	}
	for _, c := range []struct {
		name  string
		venue string
		key   string
		years gleaner.Years
	}{
		{"conf/farm", "farm", "conf/farm", gleaner.Years{From: 1994, To: 2026}},
		{"COLT", "colt", "conf/colt", gleaner.Years{From: 2016, To: 2018}},
	} {
		v, err := d.ResolveVenue(t.Context(), c.name)
		require.NoError(t, err, "ResolveVenue %v", c.name)
		require.Equal(t, c.key, v.Key, "ResolveVenue %v", c.name)
		papers, err := d.List(t.Context(), v, c.years)
		require.NoError(t, err)
		listed := map[string]bool{}
		for _, p := range papers {
			if p.Title == "" || len(p.Authors) == 0 || !c.years.Contains(p.Year) {
				t.Errorf("incomplete: %+v", p)
			}
			listed[p.Key] = true
		}
		require.NotEmpty(t, listed, v.Key)
		assert.Len(t, listed, len(papers), v.Key)
		if !maps.Equal(listed, truth[c.venue]) {
			t.Errorf("%s: %d papers, want %d; listed and not wanted: %v, wanted and not listed: %v", v.Key, len(listed), len(truth[c.venue]),
				without(listed, truth[c.venue]), without(truth[c.venue], listed))
		}
	}
	for _, row := range realdata.Table(t, "truth", "homepages.tsv") {
		p, err := d.Person(t.Context(), row["pid"])
		if err != nil || len(p.Titles) == 0 || len(p.URLs) > 0 != (row["in_dblp"] != "none") {
			t.Errorf("%s, whose homepage is %s there: %+v, %v", row["author"], row["in_dblp"], p, err)
		}
		assert.False(t, row["in_dblp"] == "listed" && !slices.Contains(p.URLs, row["homepage"]), row["author"])
	}
}

// without lists what of a set is not in another.
func without(set, other map[string]bool) (out []string) {
	for k := range set {
		if !other[k] {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}
