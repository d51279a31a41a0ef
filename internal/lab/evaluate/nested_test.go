package evaluate

import (
	"flag"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
)

var nested = flag.Bool("nested", false, "choose the constants of the ranking by nested leaving-out (some minutes)")

// folds is how many parts the sites fall into, by their names.
const folds = 6

func foldOf(host string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(host))
	return int(h.Sum32()>>3) % folds
}

// choice is one setting of the constants.
type choice struct {
	fit  rank.Fit
	tune rank.Tuning
}

// choices are those around the defaults that are chosen from.
func choices() []choice {
	var out []choice
	for _, pageRidge := range []float64{8, 16} {
		for _, siteVariance := range []float64{0.3, 0.6, 1} {
			for _, learning := range [][2]float64{{0.02, 0.6}, {0.04, 0.8}, {0.08, 1}} {
				for _, grain := range []float64{1, 1.5} {
					c := choice{rank.DefaultFit(), rank.DefaultTuning()}
					c.fit.PageRidge, c.tune.SiteVariance, c.tune.Grain = pageRidge, siteVariance, grain
					c.tune.PriorVariance, c.tune.Optimism = learning[0], learning[1]
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// verdicts are the defaults with each weight of the verdicts on a page's documents,
// none among them: what that one constant brings, chosen without the site.
func verdicts() []choice {
	var out []choice
	for _, weight := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c := choice{rank.DefaultFit(), rank.DefaultTuning()}
		c.tune.Verdict = weight
		out = append(out, c)
	}
	return out
}

// nesting measures choices on sites that neither prior nor choice has seen.
type nesting struct {
	t        *testing.T
	sites    []recordedSite
	lists    rank.Lists
	examples map[string][]rank.Example
	runs     map[string][2]Run // breadth-first and oracle, by host
	priors   map[string]*rank.Prior
}

// edges are the runs between which a ranking lies on each site.
func edges(t *testing.T, sites []recordedSite) map[string][2]Run {
	out := map[string][2]Run{}
	for _, s := range sites {
		b, err := rank.New(rank.BreadthFirst, rank.Options{})
		require.NoError(t, err)
		run, err := Simulate(s.setup, b)
		require.NoError(t, err)
		out[s.host] = [2]Run{run, oracleRun(run)}
	}
	return out
}

// prior is trained without the sites of some folds.
func (n *nesting) prior(fit rank.Fit, without ...int) *rank.Prior {
	key := fmt.Sprint(fit, without)
	if n.priors[key] == nil {
		var all []rank.Example
		for _, s := range n.sites {
			if !slices.Contains(without, foldOf(s.host)) {
				all = append(all, n.examples[s.host]...)
			}
		}
		p, err := rank.TrainPrior(n.lists, all, fit)
		require.NoError(n.t, err)
		n.priors[key] = &p
	}
	return n.priors[key]
}

// measure crawls the sites of a fold with a prior that has not seen the folds without.
func (n *nesting) measure(into savings, c choice, fold int, without ...int) {
	for _, s := range n.sites {
		if foldOf(s.host) != fold || n.runs[s.host][0].Goals().Papers() < MinPapers {
			continue
		}
		g, err := rank.New(rank.Gleaner, rank.Options{Prior: n.prior(c.fit, without...), Tuning: &c.tune, Lists: &n.lists})
		require.NoError(n.t, err)
		run, err := Simulate(s.setup, g)
		require.NoError(n.t, err)
		into.add(Summarise(s.host, []Run{n.runs[s.host][0], run, n.runs[s.host][1]}))
	}
}

// best is the one of the choices that saves most on the sites outside the fold outer.
func (n *nesting) best(choices []choice, outer int) choice {
	var best choice
	top := 0.0
	for _, c := range choices {
		sums := savings{}
		for fold := range folds {
			if fold != outer {
				n.measure(sums, c, fold, fold, outer)
			}
		}
		if v := sums[rank.Gleaner].score(); v > top {
			best, top = c, v
		}
	}
	n.t.Logf("without fold %d: %+v: %.3f", outer, best, top)
	return best
}

// siteGoal is what the sites are crawled for, those of them that have any of it.
type siteGoal struct {
	of    string
	sites []recordedSite
}

// recordedGoals are both goals on the recorded sites, with what priors are trained on.
func recordedGoals(t *testing.T) (lists rank.Lists, examples map[string][]rank.Example, goals []siteGoal) {
	lists, err := rank.DefaultLists()
	require.NoError(t, err)
	sites := recordedSites(t, recordings...)
	examples, err = trainingExamples(named(sites))
	require.NoError(t, err)
	return lists, examples, []siteGoal{{"all academic documents", sites}, {"the papers of a venue", wanted(t, sites)}}
}

// TestNested chooses the constants on five folds of the sites, with priors of four, and
// measures on the sixth, which is seen once: what can be expected of a site that
// nobody here has seen. The constants that ship were chosen on all.
func TestNested(t *testing.T) {
	if !*nested {
		t.Skip("some minutes: give -args -nested")
	}
	lists, examples, goals := recordedGoals(t)
	for _, goal := range goals {
		n := nesting{t, goal.sites, lists, examples, edges(t, goal.sites), map[string]*rank.Prior{}}
		for of, among := range map[string][]choice{"the weight of verdicts": verdicts(), "the constants": choices()} {
			sums := savings{}
			for outer := range folds {
				n.measure(sums, n.best(among, outer), outer, outer)
			}
			g := sums[rank.Gleaner]
			t.Logf("%s, %s chosen: %s", goal.of, of, g)
			for i := range measured {
				t.Logf("the five worst: %s", strings.Join(g.worst(i, 5), "; "))
			}
		}
	}
}
