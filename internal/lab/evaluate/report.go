package evaluate

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"gleaner/internal/each"
)

// WriteText prints comparisons as tables: requests to each share of the papers,
// with the share of the possible saving in brackets, then the medians.
func WriteText(w io.Writer, comparisons []Comparison) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, c := range comparisons {
		fmt.Fprintf(tw, "%s\t%d papers", c.Site, c.Papers)
		for _, s := range Shares {
			fmt.Fprintf(tw, "\tto %.0f %%", 100*s)
		}
		fmt.Fprintln(tw, "\trequests\tfailed")
		for _, r := range c.Results {
			fmt.Fprintf(tw, "  %s\t%d", r.Strategy, r.Papers)
			for _, reach := range r.Reach {
				fmt.Fprintf(tw, "\t%s", reach)
			}
			fmt.Fprintf(tw, "\t%d\t%d\n", r.Requests, r.Failed)
		}
	}
	for _, m := range Medians(comparisons) {
		fmt.Fprintf(tw, "%s\t%d sites", m.Strategy, m.Sites)
		for i := range Shares {
			fmt.Fprintf(tw, "\tmedian %+.3f worst %+.3f behind %d", m.Median[i], m.Worst[i], m.Behind[i])
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

// String is "184 (+0.96)", or "never".
func (r Reach) String() string {
	switch {
	case r.Requests == 0:
		return "never"
	case r.Saving == nil:
		return fmt.Sprint(r.Requests)
	}
	return fmt.Sprintf("%d (%+.2f)", r.Requests, *r.Saving)
}

// MedianSaving is a strategy over many sites.
type MedianSaving struct {
	Strategy string    `json:"strategy"`
	Sites    int       `json:"sites"`  // on which something can be saved
	Median   []float64 `json:"median"` // one for each of Shares
	Worst    []float64 `json:"worst"`
	Behind   []int     `json:"behind"` // sites on which it was behind breadth-first
}

// late is the share of the possible saving under which a crawl is behind
// breadth-first.
const late = -0.02

// MinPapers is how many papers a site must have to count in Medians.
const MinPapers = 5

// Medians summarises the share of the possible saving over the sites with at
// least MinPapers papers. A share never reached counts −9.
func Medians(comparisons []Comparison) []MedianSaving {
	var out []MedianSaving
	if len(comparisons) == 0 {
		return nil
	}
	for k, named := range comparisons[0].Results {
		if named.Strategy == OracleName {
			continue
		}
		m := MedianSaving{Strategy: named.Strategy}
		for i := range Shares {
			var v []float64
			for _, c := range comparisons {
				switch reach := c.Results[k].Reach[i]; {
				case c.Papers < MinPapers:
				case reach.Saving != nil:
					v = append(v, *reach.Saving)
				case reach.Requests == 0:
					v = append(v, -9)
				}
			}
			slices.Sort(v)
			m.Sites = max(m.Sites, len(v))
			if len(v) == 0 {
				v = []float64{0}
			}
			m.Median, m.Worst = append(m.Median, v[len(v)/2]), append(m.Worst, v[0])
			m.Behind = append(m.Behind, each.Count(v, func(saved float64) bool { return saved < late }))
		}
		out = append(out, m)
	}
	return out
}
