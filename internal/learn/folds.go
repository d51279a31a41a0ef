package learn

import "slices"

// labels returns the distinct labels, sorted.
func labels(examples []Example) []string {
	var out []string
	for _, e := range examples {
		out = append(out, e.Label)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Fold is one split: indices into the examples.
type Fold struct {
	Train, Test []int
}

// Pick returns what stands at the given indices.
func Pick[T any](all []T, at []int) []T {
	out := make([]T, len(at))
	for i, j := range at {
		out[i] = all[j]
	}
	return out
}
