package crawl

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// Of landing pages with a list above them only those are asked for whose papers
// the list does not bring; of what it lists only what is wanted.
func TestListingSparesLandingPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Strategy, w.cfg.Leads = rank.Gleaner, "wanted"
	w.filters(document.NewFilter(document.Balanced))
	pile := sampleweb.NewPile(1)
	pdf := func(i int) func(http.ResponseWriter, *http.Request) {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/pdf")
			_, _ = rw.Write(pile.File(i, sampleweb.AsPDF))
		}
	}
	pages, list := map[string]any{}, "<h1>Volume 1</h1>"
	for i := range 7 {
		p := pile.Paper(i)
		pages[fmt.Sprintf("/v1/%d.html", i)] = fmt.Sprintf(`<h1>%s</h1><a href="%d.pdf">PDF</a>`, p.Title, i)
		pages[fmt.Sprintf("/v1/%d.pdf", i)] = pdf(i)
		if i != 5 { // the list lacks one
			list += fmt.Sprintf(`<div><p>%s</p><p>[<a href="%d.html">abs</a>] [<a href="%d.pdf">PDF</a>]</p></div>`, p.Title, i, i)
		}
	}
	pages["/v1/"] = list
	s := serve(t, pages)

	var wanted []gleaner.Paper
	entries := []frontier.Entry{{Role: frontier.Landing, Candidate: page.Candidate{Link: page.Link{URL: "http://" + s.host + "/v1/", Source: page.SourceListing}, Queue: 3, Priority: 2}}}
	for i := range 6 { // and the seventh paper is not wanted
		wanted = append(wanted, pile.Paper(i))
		entries = append(entries, frontier.Entry{Role: frontier.Landing, Candidate: page.Candidate{Queue: 3, Priority: 1, Wanted: 1,
			Link: page.Link{URL: fmt.Sprintf("http://%s/v1/%d.html", s.host, i), Anchor: pile.Paper(i).Title, Source: page.SourceSeed}}})
	}
	ctx := t.Context()
	require.NoError(t, w.db.SavePapers(ctx, wanted, map[string]string{"source": "test"}))
	require.NoError(t, w.db.SaveHarvest(ctx, store.Harvest{ID: "h", Venue: "conf/pile", Options: []byte("{}"), Stage: "papers"}))
	require.NoError(t, w.db.SetHarvestPapers(ctx, "h", wanted, nil))
	require.NoError(t, pgx.BeginFunc(ctx, w.db.Pool, func(tx pgx.Tx) error {
		id, err := store.EnsureSite(ctx, tx, s.host)
		if err != nil {
			return err
		}
		_, err = frontier.Add(ctx, tx, id, entries)
		return err
	}))

	r := w.finish(t, w.crawler(w.client), s.host)
	require.Equal(t, Exhausted, r.Ending, r.Reason)
	want := map[string]string{"/v1/": "page success", "/v1/5.html": "page success"}
	for i := range 6 {
		want[fmt.Sprintf("/v1/%d.pdf", i)] = "document success"
		if i != 5 {
			want[fmt.Sprintf("/v1/%d.html", i)] = "skipped paper-found"
		}
	}
	require.Equal(t, want, w.record(t, s.host))
	missing, err := w.db.Missing(ctx, "h")
	require.NoError(t, err)
	require.Empty(t, missing)
}
