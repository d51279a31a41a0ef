package ingest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/growthtest"
)

// TestListsGrow: what a line of a manifest or of a crawler's log costs grows no faster than
// it does, and neither does a list of many.
func TestListsGrow(t *testing.T) { //nolint:paralleltest // it measures
	table := func() *manifest {
		m := &manifest{folder: "/mirror"}
		require.NoError(t, m.begin("url,path,parent\n"))
		return m
	}
	const heritrix = "2004-01-01T00:00:00Z 200 5 http://a.test/"
	for name, c := range map[string]struct {
		of     func(n int) string
		parser parser
	}{
		"manifest of many columns": {func(n int) string { return strings.Repeat("a,", n) }, table()},
		"manifest of quotes":       {func(n int) string { return `"` + strings.Repeat(`""`, n) + `",b,c` }, table()},
		"manifest of lines":        {func(n int) string { return strings.Repeat("http://a.test/,a.pdf,http://a.test/b\n", n) }, table()},
		"manifest of folders":      {func(n int) string { return "http://a.test/," + strings.Repeat("../a/", n) + ",c" }, table()},
		"crawl log of fields":      {func(n int) string { return heritrix + strings.Repeat(" a", n) }, heritrixLog{}},
		"crawl log of directories": {func(n int) string { return heritrix + strings.Repeat("a/../%41", n) + " L http://a.test/ text/html" }, heritrixLog{}},
		"crawl log of a path":      {func(n int) string { return heritrix + " " + strings.Repeat("L", n) + " http://a.test/ text/html" }, heritrixLog{}},
		"crawl log of lines":       {func(n int) string { return strings.Repeat(heritrix+" L http://a.test/ text/html\n", n) }, heritrixLog{}},
		"mirror of fields":         {func(n int) string { return strings.Repeat("200\t", n) }, httrack{"/mirror"}},
		"mirror of folders": {func(n int) string {
			return "1\t2\t3\t200\ta\ttext/html\tb\ta.test/\t/home" + strings.Repeat("/mirror/..", n) + "\t(from a)"
		}, httrack{"/mirror"}},
	} {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 2<<10, func(n int) []byte { return []byte(c.of(n)) }, func(in []byte) {
				for line := range bytes.Lines(in) {
					if c.parser.whole(line) {
						_, _, _ = c.parser.parse(line)
					}
				}
			})
		})
	}
}
