package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCellsOfImportsAreNoFormulas where a spreadsheet opens the record of an import.
func TestCellsOfImportsAreNoFormulas(t *testing.T) {
	t.Parallel()
	for _, sign := range []string{"=", "+", "-", "@", "\t", "\r"} {
		row := ImportRecord{URL: sign + "1", Detail: sign + "cmd", Source: sign + "x"}.Row()
		for _, cell := range []string{row[1], row[4], row[8]} {
			require.Equal(t, "'"+sign, cell[:2])
		}
	}
}
