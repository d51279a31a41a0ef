package learn

import (
	"fmt"
	"slices"
	"strings"
)

// labels returns the distinct labels, sorted.
func labels(examples []Example) []string {
	var out []string
	for _, e := range examples {
		if !slices.Contains(out, e.Label) {
			out = append(out, e.Label)
		}
	}
	slices.Sort(out)
	return out
}

func indexOf(list []string, s string) int { return slices.Index(list, s) }

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
	i, j := indexOf(c.Classes, is), indexOf(c.Classes, said)
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

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Scores of one class: precision, recall, F1, each 0 where undefined.
func (c *Confusion) Scores(class string) (precision, recall, f1 float64) {
	k := indexOf(c.Classes, class)
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
	if n == 0 {
		return 0
	}
	return sum / float64(n)
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

// Fold is one split: indices into the examples.
type Fold struct {
	Train, Test []int
}

// KFolds deals the examples of each class in turn to k folds: stratified, and
// the same at every call.
func KFolds(examples []Example, k int) []Fold {
	at := make([]int, len(examples))
	seen := map[string]int{}
	for i, e := range examples {
		at[i] = seen[e.Label] % k
		seen[e.Label]++
	}
	out := make([]Fold, k)
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

// Pick returns what stands at the given indices.
func Pick[T any](all []T, at []int) []T {
	out := make([]T, len(at))
	for i, j := range at {
		out[i] = all[j]
	}
	return out
}

// CrossLogistic trains on each fold and returns for every example the
// probabilities that the model which had not seen it gave to classes; nil where
// a fold could not be trained.
func CrossLogistic(examples []Example, folds []Fold, classes []string, opt LogisticOptions) [][]float64 {
	out := make([][]float64, len(examples))
	for _, f := range folds {
		m, err := TrainLogistic(Pick(examples, f.Train), opt)
		if err != nil {
			continue
		}
		for _, i := range f.Test {
			p := make([]float64, len(classes))
			for k, v := range m.Probabilities(examples[i].X) {
				if at := indexOf(classes, m.Classes[k]); at >= 0 {
					p[at] = v
				}
			}
			out[i] = p
		}
	}
	return out
}

// Best returns the index of the largest value; -1 for none.
func Best(p []float64) int {
	best := -1
	for k := range p {
		if best < 0 || p[k] > p[best] {
			best = k
		}
	}
	return best
}
