// Package realdata finds the real websites, their truth and the other data sets
// that tests and benchmarks measure on, where a machine has them: a folder named
// shared beside the checkout, or the one that the variable GLEANER_SHARED names.
// Where there is none, a run of all tests skips the measurement; one that was asked for
// by name fails.
//
// Only tests import it.
package realdata
