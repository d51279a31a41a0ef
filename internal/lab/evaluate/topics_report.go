package evaluate

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"gleaner/internal/each"
)

// Spread is the median and the least of a figure over webs.
type Spread struct {
	Median float64 `json:"median"`
	Worst  float64 `json:"worst"`
}

// topicSummary is what a policy came to over several webs.
type topicSummary struct {
	Policy    string `json:"policy"`
	Precision Spread `json:"precision"`
	Gain      Spread `json:"precision_gain"`
	Found     Spread `json:"found"`
	Recall    Spread `json:"target_recall"`
}

// summariseTopics sums webs up by policy.
func summariseTopics(webs []topicWeb) (out []topicSummary) {
	for i, run := range webs[0].Runs {
		over := func(of func(TopicRun) float64) Spread {
			xs := slices.Sorted(slices.Values(each.Of(webs, func(w topicWeb) float64 { return of(w.Runs[i]) })))
			return Spread{xs[(len(xs)-1)/2], xs[0]}
		}
		out = append(out, topicSummary{
			Policy:    run.Policy,
			Precision: over(func(r TopicRun) float64 { return r.Precision }),
			Gain:      over(func(r TopicRun) float64 { return r.Gain }),
			Found:     over(func(r TopicRun) float64 { return r.Found }),
			Recall:    over(func(r TopicRun) float64 { return r.Recall }),
		})
	}
	return out
}

// name of a web in a table.
func (t topicWeb) name() string {
	s := fmt.Sprintf("%d-%d-%g", t.Web.Seed, t.Web.Gap, t.Web.Noise)
	if t.Web.Wide {
		s += fmt.Sprintf("-%g", t.Web.Mixed)
	}
	return s
}

// writeTopics writes a table of webs and what they come to.
func writeTopics(w io.Writer, webs []topicWeb, all []topicSummary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "web\tpolicy\tpages\tprecision\tgain\tfound\ttargets in half\tin all\t")
	for _, web := range webs {
		for _, r := range web.Runs {
			fmt.Fprintf(t, "%s\t%s\t%d\t%.3f\t%.2f\t%.3f\t%.3f\t%.3f\t\n", web.name(), r.Policy, r.Pages, r.Precision, r.Gain, r.Found, r.Recall, r.All)
		}
		fmt.Fprintf(t, "%s\tat most\t\t%.3f\t%.2f\t\t\t\t\n", web.name(), web.Most, web.Most/web.Runs[0].Precision)
	}
	fmt.Fprintln(t, "\t\t\t\t\t\t\t\t")
	for _, s := range all {
		fmt.Fprintf(t, "median\t%s\t\t%.3f\t%.2f\t%.3f\t%.3f\t\t\n", s.Policy, s.Precision.Median, s.Gain.Median, s.Found.Median, s.Recall.Median)
		fmt.Fprintf(t, "worst\t%s\t\t%.3f\t%.2f\t%.3f\t%.3f\t\t\n", s.Policy, s.Precision.Worst, s.Gain.Worst, s.Found.Worst, s.Recall.Worst)
	}
	return t.Flush()
}
