// Package each goes through slices, element by element.
package each

// Of returns what do makes of each of all, in their order.
func Of[T, U any](all []T, do func(T) U) []U {
	out := make([]U, len(all))
	for i, one := range all {
		out[i] = do(one)
	}
	return out
}

// Where returns those of all for which is holds, in their order; nil where there are none.
func Where[T any](all []T, is func(T) bool) (out []T) {
	for _, one := range all {
		if is(one) {
			out = append(out, one)
		}
	}
	return out
}

// Count returns for how many of all is holds.
func Count[T any](all []T, is func(T) bool) (n int) {
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

// By returns all by what of makes of each, in their order.
func By[T any, K comparable](all []T, of func(T) K) map[K][]T {
	out := map[K][]T{}
	for _, one := range all {
		out[of(one)] = append(out[of(one)], one)
	}
	return out
}

// Set returns what of makes of each of all.
func Set[T any, K comparable](all []T, of func(T) K) map[K]bool {
	out := make(map[K]bool, len(all))
	for _, one := range all {
		out[of(one)] = true
	}
	return out
}

// Distinct returns the first n distinct elements of some lists, in their order.
func Distinct[K comparable](n int, lists ...[]K) (out []K) {
	met := map[K]bool{}
	for _, all := range lists {
		for _, one := range all {
			if !met[one] && len(out) < n {
				met[one] = true
				out = append(out, one)
			}
		}
	}
	return out
}

// Members returns the set of all.
func Members[K comparable](all []K) map[K]bool {
	return Set(all, func(one K) K { return one })
}

// List returns all as a list that is never nil: nil is no list in JSON.
func List[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// Page cuts rows of which one more was asked for than a page has, and returns behind which place
// the next page begins; "" where there are no more.
func Page[T any](rows []T, size int, place func(T) string) (page []T, next string) {
	if len(rows) > size {
		rows, next = rows[:size], place(rows[size-1])
	}
	return List(rows), next
}

// Text returns words of a type of their own as plain strings.
func Text[S ~string](all []S) []string {
	return Of(all, func(one S) string { return string(one) })
}
