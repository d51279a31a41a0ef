package evaluate

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
)

// TestReport prints a comparison, whose curves count the pages to each paper.
func TestReport(t *testing.T) {
	t.Parallel()
	site := newShape("mixed", 1)
	c, runs, err := Compare("conf", Setup{Site: site, Judge: site.Judge}, []string{rank.Gleaner}, rank.Options{})
	require.NoError(t, err)
	require.Len(t, runs, 3)
	pages, papers := 0, 0
	for _, s := range runs[1].Answered() {
		if !s.Document {
			pages++
		} else if s.Goal != "" {
			papers++
			require.Equal(t, Point{pages, papers}, c.Results[1].Curve[papers-1], "documents are no pages of figures 10 to 12")
		}
	}
	var text strings.Builder
	require.NoError(t, WriteText(&text, []Comparison{c}))
	require.Contains(t, text.String(), "to 85 %")
	_, err = json.Marshal(c)
	require.NoError(t, err, "no NaN may reach JSON")
}

func TestMeasures(t *testing.T) {
	t.Parallel()
	order := []string{"/", "a", "1", "b", "2", "3", "4"}
	goals := Goals{"1": "1", "2": "2", "3": "3", "4": "4"}
	for share, want := range map[float64]int{0.25: 3, 0.5: 5, 0.85: 7, 1: 7} {
		require.Equal(t, want, RequestsTo(order, goals, share))
	}
	require.Zero(t, RequestsTo(order[:3], goals, 1), "never")
	require.InDelta(t, 0.5, Saving(15, 20, 10), 1e-9)
	require.InDelta(t, -0.5, Saving(25, 20, 10), 1e-9)
	require.True(t, math.IsNaN(Saving(10, 10, 10)), "nothing to save")

	graph := map[string][]string{"/": {"a", "b"}, "a": {"x"}, "b": {"1", "c"}, "c": {"2"}, "x": nil, "1": nil, "2": nil}
	require.Equal(t, []string{"/", "b", "1", "c", "2"}, Oracle("/", graph, Goals{"1": "1", "2": "2", "none": "none"}))
}

// TestLeaveOneOut: the prior for a site must not have seen it.
func TestLeaveOneOut(t *testing.T) {
	t.Parallel()
	lists, err := rank.DefaultLists()
	require.NoError(t, err)
	var sites []Named
	for _, name := range []string{"a", "b", "c"} {
		s := newShape("mixed", len(sites))
		sites = append(sites, Named{name, Setup{Site: s, Judge: s.Judge}})
	}
	priors, err := LeaveOneOut(lists, sites)
	require.NoError(t, err)
	require.Len(t, priors, 3)
	others, err := TrainPrior(lists, sites[1:])
	require.NoError(t, err)
	require.Equal(t, others.Document, priors["a"].Document)
	_, err = LeaveOneOut(lists, sites[:1])
	require.Error(t, err)
}

// TestMedians are over the sites on which something can be saved.
func TestMedians(t *testing.T) {
	t.Parallel()
	site := func(papers, requests int, saving ...float64) Comparison {
		reach := Reach{Requests: requests}
		if len(saving) > 0 {
			reach.Saving = &saving[0]
		}
		return Comparison{Papers: papers, Results: []Result{{Strategy: rank.Gleaner, Reach: []Reach{reach, reach, reach, reach}}, {Strategy: OracleName}}}
	}
	got := Medians([]Comparison{site(9, 7, 0.5), site(9, 7, 0.25), site(9, 7, 1), site(9, 7), site(MinPapers-1, 2, -1)})
	require.Len(t, got, 1)
	require.Equal(t, MedianSaving{rank.Gleaner, 3, []float64{0.5, 0.5, 0.5, 0.5}, []float64{0.25, 0.25, 0.25, 0.25}, []int{0, 0, 0, 0}}, got[0])
	never := Medians([]Comparison{site(9, 0), site(9, 7, -0.01)})[0]
	require.Equal(t, []any{-9.0, 1}, []any{never.Worst[0], never.Behind[0]})
}
