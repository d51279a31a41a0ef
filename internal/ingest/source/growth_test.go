package source

import (
	"bufio"
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/growthtest"
)

// TestListingsGrow: what a listing of archives on a server costs grows no faster than it
// does, be it a page or a list.
func TestListingsGrow(t *testing.T) { //nolint:paralleltest // it measures
	base, err := url.Parse("http://a.test/crawl/list.txt")
	require.NoError(t, err)
	growthtest.Each(t, 1<<10, map[string]func(n int) string{
		"names":    func(n int) string { return strings.Repeat("a.warc.gz\n", n) },
		"comments": func(n int) string { return strings.Repeat("#\n", n) },
		"folders":  func(n int) string { return strings.Repeat("a/../", n) + "a.warc.gz\n" },
		"escapes":  func(n int) string { return strings.Repeat("%41", n) + ".warc.gz\n" },
		"links":    func(n int) string { return strings.Repeat(`<a href="a.warc.gz">a</a>`, n) },
	}, func(_ *testing.T, in []byte) {
		_, _ = listed(base, bufio.NewReader(bytes.NewReader(in)))
		_, _ = linked(base.String(), bytes.NewReader(in))
	})
}
