package store

import (
	"testing"
	"time"

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

// TestRowsOfImports have all that is kept of a resource, under the heads of its columns.
func TestRowsOfImports(t *testing.T) {
	t.Parallel()
	depth, at := 2, time.Date(2005, 1, 2, 3, 4, 5, 0, time.UTC)
	row := ImportRecord{N: 1, Parent: "http://a.example/", Depth: &depth, Seed: true, Crawled: &at}.Row()
	require.Len(t, row, len(RecordHeads()))
	require.Equal(t, []string{"http://a.example/", "2", "yes", "2005-01-02T03:04:05Z"}, row[10:])
	require.Equal(t, []string{"", "", "", ""}, ImportRecord{}.Row()[10:])
}
