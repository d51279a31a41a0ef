package main

import (
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/internetarchive/gowarc/cmd/warc/verify"
	"github.com/stretchr/testify/require"

	"gleaner/activities"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
)

// documents are those on record, with what became of each.
func (c *testConsole) documents() (all []string) {
	c.t.Helper()
	docs, err := c.FindDocuments(c.t.Context(), store.DocumentQuery{})
	require.NoError(c.t, err)
	for _, d := range docs {
		all = append(all, d.SHA256+" "+string(d.State)+" "+d.Outcome+" "+d.Class+" "+d.URL)
	}
	slices.Sort(all)
	return all
}

// TestCollectWARC: what a crawl by topic exchanges with hosts is in WARC files that
// another program finds valid, and their import gives the documents of the crawl.
func TestCollectWARC(t *testing.T) {
	t.Parallel()
	web := topicweb.New(topicweb.Options{Seed: 5, Hosts: 24, Pages: 6, Topics: 1, Share: 2})
	c := newConsole(t)
	c.onTemporal()
	c.overWeb(web)
	c.work(activities.Queues(), io.Discard)
	var s shownCollection
	c.read(&s, "collect", c.file("math.yaml", "topics: [{name: "+web.Topics()[0].ID+"}]\n"), "--pages", "150", "--set", "warc=true", "--wait")
	require.Equal(t, collections.Ended, s.State)
	want := c.documents()
	require.NotEmpty(t, want)
	data := c.args[slices.Index(c.args, "--data-dir")+1]
	files, err := filepath.Glob(filepath.Join(data, "blobs", "warc", "collections-math", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		v, err := verify.ValidateWARCFile(f)
		require.NoError(t, err)
		require.True(t, v.Valid && v.AllRecordsRead, "%s: %+v", f, v)
	}

	empty := newConsole(t)
	empty.onTemporal()
	empty.work(activities.Queues(), io.Discard)
	end := answer[endOfImport](empty.read, "import", filepath.Join(data, "blobs", "warc"), "--wait")
	require.Zero(t, end.Differences)
	require.Equal(t, want, empty.documents())
	t.Logf("%d documents, %d requests", len(want), s.Requests)
}
