// Package each makes a slice of another, element by element.
package each

// Of returns what do makes of each of all, in their order.
func Of[T, U any](all []T, do func(T) U) []U {
	out := make([]U, len(all))
	for i, one := range all {
		out[i] = do(one)
	}
	return out
}
