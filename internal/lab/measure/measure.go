// Package measure counts what learners are right and wrong about.
package measure

import (
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/learn"
)

// Confusion counts what was said of what is.
type Confusion struct {
	Classes []string `json:"classes"`
	Counts  [][]int  `json:"counts"` // [is][said]
}

// NewConfusion makes an empty matrix.
func NewConfusion(classes []string) *Confusion {
	c := &Confusion{Classes: slices.Clone(classes)}
	for range classes {
		c.Counts = append(c.Counts, make([]int, len(classes)))
	}
	return c
}

// Add counts one decision; unknown classes are ignored.
func (c *Confusion) Add(is, said string) {
	i, j := slices.Index(c.Classes, is), slices.Index(c.Classes, said)
	if i >= 0 && j >= 0 {
		c.Counts[i][j]++
	}
}

// total is the number of decisions.
func (c *Confusion) total() int {
	n := 0
	for _, row := range c.Counts {
		for _, v := range row {
			n += v
		}
	}
	return n
}

// Accuracy is the share of right decisions, 0 without any.
func (c *Confusion) Accuracy() float64 {
	right := 0
	for i := range c.Counts {
		right += c.Counts[i][i]
	}
	return ratio(right, c.total())
}

func ratio(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

// Scores of one class: precision, recall, F1, each 0 where undefined.
func (c *Confusion) Scores(class string) (precision, recall, f1 float64) {
	k := slices.Index(c.Classes, class)
	if k < 0 {
		return 0, 0, 0
	}
	said, is := 0, 0
	for i := range c.Counts {
		said += c.Counts[i][k]
		is += c.Counts[k][i]
	}
	precision, recall = ratio(c.Counts[k][k], said), ratio(c.Counts[k][k], is)
	if precision+recall > 0 {
		f1 = 2 * precision * recall / (precision + recall)
	}
	return precision, recall, f1
}

// MacroF1 is the mean F1 over the classes that occur.
func (c *Confusion) MacroF1() float64 {
	sum, n := 0.0, 0
	for i, class := range c.Classes {
		occurs := 0
		for _, v := range c.Counts[i] {
			occurs += v
		}
		if occurs == 0 {
			continue
		}
		_, _, f1 := c.Scores(class)
		sum += f1
		n++
	}
	return sum / float64(max(n, 1))
}

// String prints the matrix with precision, recall and F1, a row for each class.
func (c *Confusion) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s", "is \\ said")
	for _, s := range c.Classes {
		fmt.Fprintf(&b, " %8.8s", s)
	}
	fmt.Fprintf(&b, " | %9s %9s %9s\n", "precision", "recall", "F1")
	for i, s := range c.Classes {
		fmt.Fprintf(&b, "%-12s", s)
		for _, v := range c.Counts[i] {
			fmt.Fprintf(&b, " %8d", v)
		}
		p, r, f := c.Scores(s)
		fmt.Fprintf(&b, " | %9.3f %9.3f %9.3f\n", p, r, f)
	}
	fmt.Fprintf(&b, "accuracy %.4f, macro F1 %.4f, n %d\n", c.Accuracy(), c.MacroF1(), c.total())
	return b.String()
}

// KFolds deals the examples of each class in turn to k folds: stratified, and
// the same at every call.
func KFolds(examples []learn.Example, k int) []learn.Fold {
	at := make([]int, len(examples))
	seen := map[string]int{}
	for i, e := range examples {
		at[i] = seen[e.Label] % k
		seen[e.Label]++
	}
	out := make([]learn.Fold, k)
	for f := range out {
		for i := range examples {
			if at[i] == f {
				out[f].Test = append(out[f].Test, i)
			} else {
				out[f].Train = append(out[f].Train, i)
			}
		}
	}
	return out
}
