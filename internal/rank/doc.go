// Package rank decides which link is asked for next. A Strategy is a pure
// function of what it has been told: the same sequence of Enter, Next and
// Observe gives the same order, so a run can be repeated and explained.
package rank
