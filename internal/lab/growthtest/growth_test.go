package growthtest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func filled(n int) []byte { return bytes.Repeat([]byte("a"), n) }

// linear looks at every byte once and keeps a copy.
func linear(b []byte) { kept = bytes.ToUpper(b) }

// rescan searches the rest anew from every byte, and allocates nothing.
func rescan(b []byte) {
	for i := range b {
		if bytes.IndexByte(b[i:], 'z') >= 0 {
			panic("there is none")
		}
	}
}

// reappend keeps a copy of all that was read for each 64 bytes read.
func reappend(b []byte) {
	for i := 0; i < len(b); i += 64 {
		kept = bytes.Clone(b[:i])
	}
}

// remap makes as many small maps as the square of its input's lines.
func remap(b []byte) {
	lines := len(b) / 64
	for range lines * lines {
		sets = map[int]bool{len(b): true}
	}
}

var (
	kept []byte
	sets map[int]bool
)

func TestLinearWorkPasses(t *testing.T) {
	Linear(t, 4<<10, filled, linear)
	Linear(t, 4<<10, filled, func(b []byte) { kept = []byte(strings.ToValidUTF8(string(b), "?")) })
}

func TestWorkThatIgnoresItsInputPasses(t *testing.T) {
	Linear(t, 4<<10, filled, func([]byte) {})
}

func TestQuadraticTimeIsFound(t *testing.T) {
	err := check(2<<10, filled, rescan)
	if err == nil || !strings.Contains(err.Error(), "the processor") || strings.Contains(err.Error(), "the memory") {
		t.Fatalf("a quadratic search: %v", err)
	}
}

func TestQuadraticMemoryIsFound(t *testing.T) {
	err := check(4<<10, filled, reappend)
	require.ErrorContains(t, err, "the memory", "quadratic copies")
	err = check(2<<10, filled, remap)
	require.ErrorContains(t, err, "the allocations", "quadratic allocations")
}

func TestInputThatDoesNotGrowIsFound(t *testing.T) {
	require.Error(t, check(64, func(int) []byte { return filled(64) }, linear), "nothing was compared")
}
