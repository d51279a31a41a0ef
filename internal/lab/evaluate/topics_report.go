package evaluate

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"

	"gleaner/internal/each"
	"gleaner/internal/service/program"
)

// Spread is the median and the least of a figure over webs.
type Spread struct {
	Median float64 `json:"median"`
	Worst  float64 `json:"worst"`
}

// TopicSummary is what a policy came to over several webs.
type TopicSummary struct {
	Policy    string `json:"policy"`
	Precision Spread `json:"precision"`
	Gain      Spread `json:"precision_gain"`
	Found     Spread `json:"found"`
	Recall    Spread `json:"target_recall"`

	Ranks    []float64 `json:"ranks"` // precision at each of Ranks, the mean of the webs
	Accepted *float64  `json:"accepted_of_fetched,omitempty"`
	Of       *float64  `json:"accepted_of_documents,omitempty"`
}

// SummariseTopics sums webs up by policy.
func SummariseTopics(webs []TopicWeb) (out []TopicSummary) {
	if len(webs) == 0 {
		return nil
	}
	for i, way := range webs[0].Runs {
		over := func(of func(TopicRun) float64) Spread {
			xs := each.Of(webs, func(w TopicWeb) float64 { return of(w.Runs[i]) })
			slices.Sort(xs)
			return Spread{xs[(len(xs)-1)/2], xs[0]}
		}
		one := TopicSummary{Policy: way.Policy, Precision: over(func(r TopicRun) float64 { return r.Precision }), Gain: over(func(r TopicRun) float64 { return r.Gain }),
			Found: over(func(r TopicRun) float64 { return r.Found }), Recall: over(func(r TopicRun) float64 { return r.Recall })}
		one.Ranks = make([]float64, len(Ranks()))
		accepted, documents, pages := 0, 0, 0
		for _, w := range webs {
			r := w.Runs[i]
			for k, p := range r.Ranks {
				one.Ranks[k] += p / float64(len(webs))
			}
			accepted, documents, pages = accepted+r.Accepted, documents+r.Documents, pages+r.Early
		}
		if documents > 0 {
			of, fetched := float64(accepted)/float64(documents), float64(accepted)/float64(documents+pages)
			one.Of, one.Accepted = &of, &fetched
		}
		out = append(out, one)
	}
	return out
}

// name of a web in a table.
func (t TopicWeb) name() string {
	if t.Name != "" {
		return t.Name
	}
	s := fmt.Sprintf("%d-%d-%g", t.Web.Seed, t.Web.Gap, t.Web.Noise)
	if t.Web.Wide {
		s += fmt.Sprintf("-%g", t.Web.Mixed)
	}
	return s
}

// WriteTopics writes a table of webs and what they come to.
func WriteTopics(w io.Writer, webs []TopicWeb, all []TopicSummary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "web\tpolicy\tpages\tprecision\tgain\tfound\tcorrelation\ttargets in half\tin all\t")
	for _, web := range webs {
		for _, r := range web.Runs {
			if r.Policy == SearchAlone {
				fmt.Fprintf(t, "%s\t%s\t%d\t\t\t\t\t\t%.3f\t\n", web.name(), r.Policy, r.Pages, r.All)
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%d\t%.3f\t%.2f\t%.3f\t%.3f\t%.3f\t%.3f\t\n", web.name(), r.Policy, r.Pages, r.Precision, r.Gain, r.Found, r.Like, r.Recall, r.All)
		}
		fmt.Fprintf(t, "%s\tat most\t\t%.3f\t%.2f\t\t\t\t\t\n", web.name(), web.Most, web.Most/web.Runs[0].Precision)
	}
	fmt.Fprintln(t, "\t\t\t\t\t\t\t\t\t")
	for _, s := range all {
		if s.Policy != SearchAlone {
			fmt.Fprintf(t, "median\t%s\t\t%.3f\t%.2f\t%.3f\t\t%.3f\t\t\n", s.Policy, s.Precision.Median, s.Gain.Median, s.Found.Median, s.Recall.Median)
			fmt.Fprintf(t, "worst\t%s\t\t%.3f\t%.2f\t%.3f\t\t%.3f\t\t\n", s.Policy, s.Precision.Worst, s.Gain.Worst, s.Found.Worst, s.Recall.Worst)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return writeRanks(w, all)
}

// writeRanks writes how precise the first pages of each topic are, and which share of
// documents was accepted.
func writeRanks(w io.Writer, all []TopicSummary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\nprecision at rank\t")
	for _, rank := range Ranks() {
		fmt.Fprintf(t, "%d\t", rank)
	}
	fmt.Fprintln(t, "accepted of fetched\tof documents\t")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t", s.Policy)
		for _, p := range s.Ranks {
			fmt.Fprintf(t, "%.3f\t", p)
		}
		if s.Of != nil {
			fmt.Fprintf(t, "%.3f\t%.3f\t\n", *s.Accepted, *s.Of)
		} else {
			fmt.Fprintln(t, "\t\t")
		}
	}
	return t.Flush()
}

// series is one line of a figure.
type series struct {
	name   string
	points []Point
}

// WritePoints writes the figures of a web into a folder, the points of each as CSV: in percent
// against pages or ranks.
func (t TopicWeb) WritePoints(dir string) error {
	for name, of := range map[string]func(TopicRun) []Point{
		"precision":   func(r TopicRun) []Point { return r.OverCrawl },
		"targets":     func(r TopicRun) []Point { return r.Target },
		"correlation": func(r TopicRun) []Point { return r.Correlation },
		"rank":        func(r TopicRun) []Point { return r.ByRank },
	} {
		lines := each.Of(t.Runs, func(r TopicRun) series { return series{r.Policy, of(r)} })
		if err := writePoints(filepath.Join(dir, name+"-"+t.name()+".csv"), lines); err != nil {
			return err
		}
	}
	return nil
}

// WritePoints writes figures of sites into a folder, the points of each as CSV: papers against
// pages, documents not counted among these (Zhuang et al., JCDL 2005, figures 10 to 12), and
// papers among documents, in percent, against requests.
func WritePoints(dir string, sites []Comparison) error {
	for _, c := range sites {
		for name, of := range map[string]func(Result) []Point{
			"papers":    func(r Result) []Point { return r.Curve },
			"precision": func(r Result) []Point { return r.Precision },
		} {
			lines := each.Of(c.Results, func(r Result) series { return series{r.Strategy, of(r)} })
			if err := writePoints(filepath.Join(dir, name+"-"+filepath.Base(c.Site)+".csv"), lines); err != nil {
				return err
			}
		}
	}
	return nil
}

func writePoints(file string, lines []series) error {
	return program.WriteFile(file, func(w io.Writer) error {
		c := csv.NewWriter(w)
		_ = c.Write([]string{"policy", "at", "value"})
		for _, l := range lines {
			for _, p := range thin(l.points, 600) {
				_ = c.Write([]string{l.name, strconv.Itoa(p.Requests), strconv.FormatFloat(p.Value, 'f', 3, 64)})
			}
		}
		c.Flush()
		return c.Error()
	})
}

// thin keeps at most n points, the last among them.
func thin(p []Point, n int) []Point {
	if len(p) <= n {
		return p
	}
	out := make([]Point, 0, n+1)
	for i := range n {
		out = append(out, p[i*len(p)/n])
	}
	return append(out, p[len(p)-1])
}
