package evaluate

import (
	"encoding/csv"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/page"
	"gleaner/internal/rank"
	"gleaner/internal/weburl"
)

// sharedDir finds the folder of measuring data beside the project, or skips.
func sharedDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("GLEANER_SHARED")
	if dir == "" {
		wd, err := os.Getwd()
		require.NoError(t, err)
		for d := wd; d != filepath.Dir(d) && dir == ""; d = filepath.Dir(d) {
			if _, err := os.Stat(filepath.Join(d, "shared", "farm")); err == nil {
				dir = filepath.Join(d, "shared")
			}
		}
	}
	if dir == "" {
		t.Skip("no folder of measuring data: set GLEANER_SHARED")
	}
	return dir
}

func readTSV(t testing.TB, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	var head []string
	var out []map[string]string
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return out
		}
		require.NoError(t, err)
		if head == nil {
			head = rec
			continue
		}
		row := map[string]string{}
		for i, v := range rec {
			row[head[i]] = v
		}
		out = append(out, row)
	}
}

func unescapedKey(raw string) string {
	k := weburl.Key(raw)
	if u, err := url.PathUnescape(k); err == nil {
		return u
	}
	return k
}

type farmSite struct {
	host  string
	setup Setup
	goals int
}

// farm loads every host of the folder. A document is accepted when pdfs.tsv
// says that it looks like a paper and can be reached, which is the goal of the
// yardstick; its kind otherwise comes from labels.tsv.
func farm(t testing.TB) []farmSite {
	t.Helper()
	shared := sharedDir(t)
	kinds := map[string]Kind{}
	for _, r := range readTSV(t, filepath.Join(shared, "truth", "labels.tsv")) {
		kinds[unescapedKey(r["url"])] = Kind(r["label"])
	}
	goals := map[string]map[string]bool{}
	for _, r := range readTSV(t, filepath.Join(shared, "truth", "pdfs.tsv")) {
		k := unescapedKey(r["url"])
		if r["looks"] == "paper" && r["depth"] != "" {
			h := weburl.Host(r["url"])
			if goals[h] == nil {
				goals[h] = map[string]bool{}
			}
			goals[h][k] = true
		} else if kinds[k] == Paper {
			kinds[k] = "other"
		}
	}
	hosts, err := os.ReadDir(filepath.Join(shared, "farm"))
	require.NoError(t, err)
	var out []farmSite
	for _, h := range hosts {
		if h.Name() == "dblp.org" {
			continue
		}
		dir, err := filepath.EvalSymlinks(filepath.Join(shared, "farm", h.Name()))
		require.NoError(t, err)
		mine := goals[h.Name()]
		out = append(out, farmSite{host: h.Name(), goals: len(mine), setup: Setup{
			Site: NewFolder(os.DirFS(dir), h.Name(), page.Parse),
			Judge: func(u string) Kind {
				k := unescapedKey(u)
				if mine[k] {
					return Paper
				}
				if kinds[k] == Paper || kinds[k] == "" {
					return "other"
				}
				return kinds[k]
			},
			Follow: followFarm,
		}})
	}
	return out
}

func followFarm(_ string, l page.Link, document bool) bool {
	return document || !weburl.IsIgnoredType(l.URL)
}

func median(v []float64) float64 {
	v = append([]float64(nil), v...)
	sort.Float64s(v)
	if len(v) == 0 {
		return math.NaN()
	}
	return v[len(v)/2]
}

// priorsByHost trains one prior for each host on all the others.
func priorsByHost(t testing.TB, sites []farmSite) map[string]*rank.Prior {
	t.Helper()
	lists, err := rank.DefaultLists()
	require.NoError(t, err)
	examples := map[string][]rank.Example{}
	for _, site := range sites {
		examples[site.host] = Examples(site.host, simulate(t, site.setup, rank.BreadthFirst, nil))
	}
	out := map[string]*rank.Prior{}
	for _, left := range sites {
		var train []rank.Example
		for _, site := range sites {
			if site.host != left.host {
				train = append(train, examples[site.host]...)
			}
		}
		p, err := rank.TrainPrior(lists, train, ridge, siteWeight)
		require.NoError(t, err)
		out[left.host] = &p
	}
	return out
}

// simulate runs a strategy over a site.
func simulate(t testing.TB, setup Setup, name string, prior *rank.Prior) Run {
	t.Helper()
	s, err := rank.New(name, rank.Options{Prior: prior})
	require.NoError(t, err)
	run, err := Simulate(setup, s)
	require.NoError(t, err)
	return run
}

var ridge, siteWeight = 2.0, 60.0

// TestFarm prints, host by host, the requests to 50, 85 and 95 % of the papers
// and the share of the possible saving. The prior of gleaner is trained on the
// other hosts.
func TestFarm(t *testing.T) {
	only := os.Getenv("GLEANER_HOST")
	strategies := []string{rank.BreadthFirst, rank.Zhuang, rank.Gleaner}
	shares := []float64{.5, .85, .95}
	all := map[string]map[float64][]float64{}
	sites := farm(t)
	priors := priorsByHost(t, sites)
	for _, site := range sites {
		if site.goals < 5 || only != "" && !strings.Contains(site.host, only) {
			continue
		}
		base := simulate(t, site.setup, rank.BreadthFirst, nil)
		goals, order := base.Goals(), base.Order()
		best := Oracle(order[0], base.Graph(), goals)
		t.Logf("%-32s goals %d, requests %d", site.host, len(goals), len(order))
		for _, name := range strategies {
			run := simulate(t, site.setup, name, priors[site.host])
			require.Equal(t, len(goals), len(run.Goals()), "%s on %s loses papers", name, site.host)
			line := ""
			for _, share := range shares {
				x, y, z := RequestsTo(run.Order(), goals, share), RequestsTo(order, goals, share), RequestsTo(best, goals, share)
				v := Saving(x, y, z)
				line += format("  %4d/%4d/%4d (%+.2f)", x, y, z, v)
				if all[name] == nil {
					all[name] = map[float64][]float64{}
				}
				all[name][share] = append(all[name][share], v)
			}
			t.Logf("    %-10s%s", name, line)
			if only != "" && name == rank.Gleaner {
				for i, st := range run.Answered() {
					t.Logf("%4d %-6s %s  | %s", i+1, st.Kind, st.URL, st.Reason)
				}
			}
		}
	}
	for _, name := range strategies {
		line := ""
		for _, share := range shares {
			v := all[name][share]
			sort.Float64s(v)
			if len(v) > 0 {
				line += format("   to %.0f %%: median %+.3f worst %+.3f", share*100, median(v), v[0])
			}
		}
		t.Logf("%-10s%s", name, line)
	}
}
