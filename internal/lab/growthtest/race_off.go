//go:build !race

package growthtest

// UnderRace says that the race detector is at work, whose own bookkeeping is
// counted with all time and memory, and which needs an address space without limit.
const UnderRace = false
