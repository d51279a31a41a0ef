package evaluate

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/lab/realdata"
	"gleaner/internal/rank"
)

// recording is a folder of recorded sites and the one of what is true of them.
type recording struct{ sites, truth string }

var recordings = []recording{{"farm", "truth"}, {"atlas", "atlas-truth"}}

// recordedSite is one host of a recording.
type recordedSite struct {
	Named
	from recording
}

// recordedSites loads every host of the recordings. A document is accepted when it
// was labelled a paper or a thesis and can be reached.
func recordedSites(t testing.TB, recordings ...recording) []recordedSite {
	var out []recordedSite
	for _, c := range recordings {
		judge := labels(t, c)
		hosts, err := os.ReadDir(realdata.Path(t, c.sites))
		require.NoError(t, err)
		for _, h := range hosts {
			if h.Name() == "dblp.org" || !strings.Contains(h.Name(), ".") || strings.HasSuffix(h.Name(), ".tsv") {
				continue
			}
			dir, err := filepath.EvalSymlinks(realdata.Path(t, c.sites, h.Name()))
			require.NoError(t, err)
			out = append(out, recordedSite{Named{h.Name(), Setup{Site: NewFolder(os.DirFS(dir), h.Name()), Judge: judge}}, c})
		}
	}
	return out
}

// labels is the judge of a recording: labels.tsv where there is one, made by reading,
// and otherwise the class that the filter gave the document.
func labels(t testing.TB, c recording) Judge {
	kinds := map[string]Kind{}
	if c.truth == "truth" {
		for _, r := range realdata.Table(t, c.truth, "labels.tsv") {
			kinds[unescapedKey(r["url"])] = Kind(r["label"])
		}
	}
	for _, r := range realdata.Table(t, c.truth, "pdfs.tsv") {
		k := unescapedKey(r["url"])
		if class, ok := r["class"]; ok {
			kinds[k] = Kind(class)
		}
		switch {
		case (kinds[k] == Paper || kinds[k] == "thesis") && r["depth"] != "":
			kinds[k] = Paper
		case kinds[k] == Paper, kinds[k] == "":
			kinds[k] = "other"
		}
	}
	return func(u string) Kind {
		if k, ok := kinds[unescapedKey(u)]; ok {
			return k
		}
		return "other"
	}
}

// wanted makes of each site one that is crawled for the papers of its recording's
// venue, as a harvest does: their titles are looked out for, and they alone count.
func wanted(t testing.TB, sites []recordedSite) []recordedSite {
	t.Helper()
	out := slices.Clone(sites)
	for _, c := range recordings {
		papers := each.Of(realdata.Table(t, c.truth, "wanted.tsv"), func(r map[string]string) Wanted {
			return Wanted{r["title"], strings.Fields(r["urls"])}
		})
		of := Setup{}.For(papers)
		for i := range out {
			if out[i].from == c {
				out[i].Setup.Wanted, out[i].Setup.Goal = of.Wanted, of.Goal
			}
		}
	}
	return out
}

func named(sites []recordedSite) []Named {
	return each.Of(sites, func(s recordedSite) Named { return s.Named })
}

// leaveOut loads all recorded sites, with the lists that ship and a prior for each that
// was trained on the others.
func leaveOut(t testing.TB) ([]recordedSite, rank.Lists, map[string]*rank.Prior) {
	sites := recordedSites(t, recordings...)
	lists, err := rank.DefaultLists()
	require.NoError(t, err)
	priors, err := LeaveOneOut(lists, named(sites))
	require.NoError(t, err)
	return sites, lists, priors
}

// compared are what is set beside breadth-first.
var compared = []string{rank.Zhuang, rank.Gleaner}

// leftOut compares the strategies on each site, gleaner with a prior of all the others.
func leftOut(t testing.TB, sites []recordedSite, priors map[string]*rank.Prior) []Comparison {
	var all []Comparison
	for _, s := range sites {
		c, _, err := Compare(s.Name, s.Setup, compared, rank.Options{Prior: priors[s.Name]})
		require.NoError(t, err)
		for _, r := range c.Results {
			if r.Strategy != OracleName {
				require.Equal(t, c.Papers, r.Papers, "%s on %s loses papers", r.Strategy, s.Name)
			}
		}
		if c.Papers >= MinPapers {
			all = append(all, c)
		}
	}
	return all
}

var writePrior = flag.Bool("write-prior", false, "train the prior on all recorded sites and write it into internal/rank")

// TestSites prints, for a crawl of all academic documents and for one of the papers
// of a venue, the requests to 50, 85, 95 and 100 % of them and the share of the
// possible saving, site by site. The prior of gleaner is trained on the other sites
// alone.
func TestSites(t *testing.T) {
	t.Parallel()
	sites, lists, priors := leaveOut(t)
	var figures []string
	all := leftOut(t, sites, priors)
	for _, goal := range []struct {
		of    string
		found []Comparison
		least [2]float64
	}{{"all academic documents", all, [2]float64{0.80, 0.70}}, {"the papers of a venue", leftOut(t, wanted(t, sites), priors), [2]float64{0.90, 0.85}}} {
		var text strings.Builder
		require.NoError(t, WriteText(&text, goal.found))
		t.Logf("%s:\n%s", goal.of, text.String())
		g := Medians(goal.found)[len(compared)]
		figures = append(figures, fmt.Sprintf("%s: %+v", goal.of, g))
		for i, least := range goal.least { // to 85 and 95 %
			require.GreaterOrEqual(t, g.Median[1+i], least)
		}
	}
	if *writePrior {
		storePrior(t, lists, sites, figures)
	}
}

// storePrior trains on every site and notes what the method reached on sites that it
// had not seen.
func storePrior(t *testing.T, lists rank.Lists, sites []recordedSite, figures []string) {
	p, err := TrainPrior(lists, named(sites))
	require.NoError(t, err)
	p.Figure = "each site left out of the training, shares of the possible saving; " + strings.Join(figures, "; ") + "; the few constants of Tuning were chosen on left-out scores of the same sites"
	p.Origin = fmt.Sprintf("breadth-first crawls of %d academic sites (homepages, groups, conferences, proceedings) in ten languages", len(sites))
	p.Command = "go test ./internal/lab/evaluate -run TestSites -args -write-prior"
	data, err := json.MarshalIndent(p, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join("..", "..", "rank", "prior.json"), append(data, '\n'), 0o644))
}
