package evaluate

import (
	"fmt"
	"math"

	"gleaner/internal/rank"
)

// Comparison sets strategies beside each other on one snapshot.
type Comparison struct {
	Site    string   `json:"site"`
	Papers  int      `json:"papers"`  // that breadth-first reaches, which is all
	Results []Result `json:"results"` // breadth-first first, the oracle last
}

// Result is one strategy on one snapshot.
type Result struct {
	Strategy string  `json:"strategy"`
	Requests int     `json:"requests"` // answered
	Failed   int     `json:"failed"`   // asked without an answer
	Papers   int     `json:"papers"`   // reached
	Reach    []Reach `json:"reach"`    // one for each of Shares
	Curve    []Point `json:"curve"`    // papers against pages; documents are no pages
}

// Reach is what it took to reach a share of the papers.
type Reach struct {
	Share    float64  `json:"share"`
	Requests int      `json:"requests"`         // 0: never
	Saving   *float64 `json:"saving,omitempty"` // between breadth-first (0) and oracle (1); absent where nothing can be saved
}

// Point is a point of a curve.
type Point struct {
	Pages  int `json:"pages"`
	Papers int `json:"papers"`
}

// Compare runs each of the named strategies, breadth-first and the oracle
// included, over one snapshot.
func Compare(name string, setup Setup, strategies []string, opts rank.Options) (Comparison, []Run, error) {
	var runs []Run
	for _, s := range append([]string{rank.BreadthFirst}, strategies...) {
		if s == rank.BreadthFirst && len(runs) > 0 {
			continue
		}
		strategy, err := rank.New(s, opts)
		if err != nil {
			return Comparison{}, nil, err
		}
		run, err := Simulate(setup, strategy)
		if err != nil {
			return Comparison{}, nil, fmt.Errorf("%s: %w", name, err)
		}
		runs = append(runs, run)
	}
	runs = append(runs, oracleRun(runs[0]))
	return Summarise(name, runs), runs, nil
}

// OracleName is the strategy that knows the site; it can only be computed
// afterwards.
const OracleName = "oracle"

// oracleRun orders the steps of a whole crawl as the oracle would have.
func oracleRun(base Run) Run {
	at := map[string]Step{}
	order := base.Order()
	for i, s := range base.Answered() {
		at[order[i]] = s
	}
	out := Run{Strategy: OracleName}
	if len(order) == 0 {
		return out
	}
	for _, u := range Oracle(order[0], base.Graph(), base.Goals()) {
		out.Steps = append(out.Steps, at[u])
	}
	return out
}

// Summarise measures runs over one snapshot; the first is breadth-first and the
// last the oracle.
func Summarise(name string, runs []Run) Comparison {
	base, best := runs[0], runs[len(runs)-1]
	goals := base.Goals()
	bfsOrder, bestOrder := base.Order(), best.Order()
	out := Comparison{Site: name, Papers: goals.Papers()}
	for _, run := range runs {
		order := run.Order()
		r := Result{Strategy: run.Strategy, Requests: len(order), Failed: len(run.Steps) - len(order), Papers: run.Goals().Papers()}
		for _, share := range Shares {
			reach := Reach{Share: share}
			if len(goals) > 0 {
				reach.Requests = RequestsTo(order, goals, share)
				v := Saving(reach.Requests, RequestsTo(bfsOrder, goals, share), RequestsTo(bestOrder, goals, share))
				if !math.IsNaN(v) {
					reach.Saving = &v
				}
			}
			r.Reach = append(r.Reach, reach)
		}
		r.Curve = curve(run.Answered())
		out.Results = append(out.Results, r)
	}
	return out
}

// curve has a point for each paper.
func curve(steps []Step) (points []Point) {
	papers, pages := map[string]bool{}, 0
	for _, s := range steps {
		switch {
		case !s.Document:
			pages++
		case s.Goal != "" && !papers[s.Goal]:
			papers[s.Goal] = true
			points = append(points, Point{pages, len(papers)})
		}
	}
	return points
}
