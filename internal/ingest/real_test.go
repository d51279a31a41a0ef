package ingest

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/realdata"
)

// realOutcomes are what the records of each archive come to.
var realOutcomes = map[string]string{
	"aut/badexample.arc.gz":                        "damaged 3, dns 1, failed_FileNotFound 3, filtered_MTF 1",
	"aut/example.arc.gz":                           "dns 38, filtered_MTF 214, status 301 2, status 302 5, status 404 40",
	"aut/example.docs.warc.gz":                     "failed_TextExtract 5, filtered_MTF 4",
	"aut/example.pdf.warc.gz":                      "filtered_DCF 1, filtered_MTF 30, not on record 2, saved_New 1, status 302 2, status 404 1",
	"aut/issue-493.warc":                           "filtered_MTF 9, not on record 5, status 301 1",
	"aut/issue-514.warc":                           "filtered_MTF 1, no web address 2, status 307 1",
	"gowarc/corrupted-mid-record.warc.gz.open":     "damaged 1, filtered_MTF 12",
	"gowarc/corrupted-trailing-bytes.warc.gz.open": "damaged 1, filtered_MTF 30",
	"gowarc/empty.warc.gz.open":                    "no resource 1",
	"gowarc/good.warc.gz.open":                     "filtered_MTF 50",
	"gowarc/single-record.warc.gz.open":            "filtered_MTF 1",
	"gowarc/skip-non-open.warc.gz":                 "filtered_MTF 10",
	"gowarc/test.warc.gz":                          "filtered_MTF 1",
	"jwarc/cc.warc.gz":                             "filtered_MTF 1",
	"jwarc/gzip_extra_sl.warc.gz":                  "no resource 1",
	"warcio/bad.arc":                               "damaged 2, filtered_MTF 1",
	"warcio/example-bad-non-chunked.warc.gz":       "filtered_MTF 1, not on record 1",
	"warcio/example-bad.warc.gz.bad":               "filtered_MTF 1, not on record 1, status 302 1",
	"warcio/example-digest.warc":                   "no resource 1",
	"warcio/example-iana.org-chunked.warc":         "filtered_MTF 1",
	"warcio/example-resource.warc.gz":              "filtered_MTF 1",
	"warcio/example-space-in-target-uri.warc.gz":   "no web address 1",
	"warcio/example-space-in-url.arc":              "damaged 1, failed_FileNotFound 1",
	"warcio/example-trunc.warc":                    "failed_FileNotFound 1",
	"warcio/example-wget-bad-target-uri.warc.gz":   "filtered_MTF 1, no web address 2",
	"warcio/example-wrong-chunks.warc.gz":          "failed_FileNotFound 1",
	"warcio/example.arc":                           "filtered_MTF 1",
	"warcio/example.arc.gz":                        "filtered_MTF 1",
	"warcio/example.warc":                          "filtered_MTF 1, not on record 1",
	"warcio/example.warc.gz":                       "filtered_MTF 1, not on record 1",
	"warcio/post-test.warc.gz":                     "filtered_MTF 3",
}

// TestRealArchives imports the archives that other projects test their readers with, the
// broken ones, too: everything in each comes to an outcome with a name, and to the same
// one as ever.
func TestRealArchives(t *testing.T) {
	t.Parallel()
	root := realdata.Path(t, "data", "archives")
	s := newShop(t)
	files, err := filepath.Glob(filepath.Join(root, "*", "*"))
	require.NoError(t, err)
	run := s.addImport(Options{Paths: files})
	c, _ := s.finish(run)
	all, err := s.DB.ImportRecords(context.WithoutCancel(t.Context()), run.Job, 0, false, 10_000)
	require.NoError(t, err)
	counted := map[string]map[string]int{}
	for _, f := range files {
		counted[f] = map[string]int{}
	}
	for _, r := range all {
		what := r.Outcome
		if what == Skipped {
			what, _, _ = strings.Cut(r.Detail, ":")
		}
		require.NotEmpty(t, what, "%+v", r)
		require.Contains(t, counted, r.Source)
		counted[r.Source][what]++
	}
	got := map[string]string{}
	for file, n := range counted {
		name, err := filepath.Rel(root, file)
		require.NoError(t, err)
		var said []string
		for _, what := range slices.Sorted(maps.Keys(n)) {
			said = append(said, fmt.Sprint(what, " ", n[what]))
		}
		got[filepath.ToSlash(name)] = strings.Join(said, ", ")
	}
	require.Equal(t, realOutcomes, got)
	require.Equal(t, c.All, c.SavedNew+c.SavedDuplicate+c.Filtered+c.FailedTextExtract+c.FailedFileNotFound+c.FailedPDFNotFound+c.Unexamined)
}
