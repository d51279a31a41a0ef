package crawl

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// TestSourcesOfWantedPapers: a paper that is there as LaTeX alone is taken where its
// link says so; other sources are not asked for.
func TestSourcesOfWantedPapers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.filters(document.NewFilter(document.Balanced))
	p := sampleweb.NewPile(7).Paper(1)
	names := each.Of(p.Authors, func(a gleaner.Author) string { return a.Name })
	source := fmt.Sprintf("\\documentclass{article}\n\\title{%s}\n\\author{%s}\n\\begin{document}\n\\maketitle\n\\section{Introduction}\n%s\\end{document}\n",
		p.Title, strings.Join(names, ` \and `), strings.Repeat("In this paper we show that it runs, and that it runs well.\n", 40))
	tex := func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/x-tex")
		_, _ = rw.Write([]byte(source))
	}
	s := serve(t, map[string]any{
		"/~ada/":         fmt.Sprintf(`<a href="a.tex">%s</a> <a href="b.tex">My macros for TeX</a> <a href="feed.xml">News</a>`, p.Title),
		"/~ada/a.tex":    tex,
		"/~ada/b.tex":    tex,
		"/~ada/feed.xml": "<?xml version='1.0'?><rss/>",
	})
	ctx := t.Context()
	require.NoError(t, w.db.SavePapers(ctx, []gleaner.Paper{p}, map[string]string{"source": "test"}))
	require.NoError(t, w.db.SaveHarvest(ctx, store.Harvest{ID: "h", Venue: "conf/pile", Options: []byte("{}"), Stage: "papers"}))
	require.NoError(t, w.db.SetHarvestPapers(ctx, "h", []gleaner.Paper{p}, nil))
	w.seed(t, s.host, "/~ada/", "/~ada/")
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	record := w.record(t, s.host)
	require.Equal(t, "document success", record["/~ada/a.tex"])
	require.NotContains(t, record, "/~ada/b.tex")
	require.NotContains(t, record, "/~ada/feed.xml")
	missing, err := w.db.Missing(ctx, "h")
	require.NoError(t, err)
	require.Empty(t, missing)
}
