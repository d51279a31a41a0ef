package activities_test

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/activities"
	"gleaner/internal/record/store"
)

// mutate changes twenty papers of the real sites, as their authors would: a file
// and the pages that link to it.
func (f *farm) mutate(t *testing.T) (out []mutation) {
	t.Helper()
	found, err := f.DB.Export(t.Context(), f.harvest.Venue, f.harvest.Years)
	require.NoError(t, err)
	var own []store.Exported
	met := map[string]bool{}
	for i, e := range found {
		if i%3 == 0 && strings.HasSuffix(e.URL, ".pdf") && e.ParentURL != "" && hostOf(t, e.URL) == hostOf(t, e.ParentURL) && !met[e.SHA256] {
			met[e.SHA256] = true
			own = append(own, e)
		}
	}
	require.GreaterOrEqual(t, len(own), 20, "too few papers to change")
	for i, e := range own[:20] {
		h := hidden{url: e.URL, files: map[string]string{}}
		body, err := os.ReadFile(f.file(t, e.URL))
		require.NoError(t, err)
		switch {
		case i < 8:
			revised := paperPDF(t, e.Title, names(e.Authors), i)
			f.take(t, h, f.file(t, e.URL), revised)
			out = append(out, mutation{what: "changed", url: e.URL, old: e.SHA256, new: sha(revised)})
		case i < 14:
			name := strings.TrimSuffix(path.Base(e.URL), ".pdf") + "-final.pdf"
			to := strings.TrimSuffix(e.URL, path.Base(e.URL)) + name
			require.NoError(t, os.WriteFile(f.file(t, to), body, 0o600))
			f.take(t, h, f.file(t, e.URL), nil)
			f.relink(t, h, e.URL, `href="${1}`+name+`"`)
			out = append(out, mutation{what: "moved", url: e.URL, to: to, old: e.SHA256})
		default:
			f.take(t, h, f.file(t, e.URL), nil)
			out = append(out, mutation{what: "removed", url: e.URL, old: e.SHA256})
		}
	}
	return out
}

// A second harvest of the real sites costs little, and finds each of thirty
// papers that were added, changed, moved or removed since the first.
func TestFarmSecondHarvestFindsWhatChanged(t *testing.T) {
	t.Parallel()
	f := newFarm(t, nil)
	late := f.hide(t, 17, func(int) bool { return true })
	require.GreaterOrEqual(t, len(late), 10)
	f.collect(t, "")
	first, bytes := f.asked(t)
	f.show(t, late)
	changed := f.mutate(t)
	for _, h := range late[:10] {
		changed = append(changed, mutation{what: "added", url: h.url, new: h.sha256})
	}
	require.Len(t, changed, 30)
	f.collect(t, activities.AgainAll)
	second, again := f.asked(t)
	t.Logf("first harvest %d bytes in %d requests, second %d bytes in %d requests: %.2f %%", bytes, len(first), again, len(second), 100*float64(again)/float64(bytes))
	f.requireFound(t, changed)
	// One of real files may be judged wrongly; that is the filter's measure.
	accepted := f.accepted(t, changed)
	t.Logf("all 30 found; of 10 added papers %d accepted", accepted)
	require.GreaterOrEqual(t, accepted, 9)
	require.Less(t, float64(again), 0.15*float64(bytes))
}
