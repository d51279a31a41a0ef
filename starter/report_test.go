package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// TestReportSinceTellsWhatIsNew: found first, lost, and changed where it was.
func TestReportSinceTellsWhatIsNew(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	ctx := t.Context()
	exec := func(sql string, args ...any) {
		_, err := c.Pool.Exec(ctx, sql, args...)
		require.NoError(t, err, sql)
	}
	var papers []gleaner.Paper
	for _, title := range []string{"old", "new", "lost", "changed", "gone-before", "elsewhere"} {
		papers = append(papers, gleaner.Paper{Key: "conf/x/" + title, Venue: "conf/x", Year: 2001, Title: "The " + title, Authors: []gleaner.Author{{PID: "1/1", Name: "Jane Roe"}}})
		c.accepted("ada.example", title+".pdf")
	}
	require.NoError(t, c.SavePapers(ctx, papers, nil))
	for _, goal := range []string{"conf/x", "site:http://ada.example/"} {
		require.NoError(t, c.SaveHarvest(ctx, store.Harvest{ID: goal, Venue: goal, Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte(`{}`), Stage: "papers"}))
		exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites`, goal)
	}
	require.NoError(t, c.SetHarvestPapers(ctx, "conf/x", papers, nil))
	exec(`INSERT INTO matches (paper_key, sha256, verdict, score, matched_at) SELECT 'conf/x/' || replace(replace(sha256, 'ada.example', ''), '.pdf', ''), sha256, 'exact', 1, now() - interval '30 days' FROM documents`)
	exec(`UPDATE locations SET found_at=now() - interval '30 days', seen_at=now() - interval '30 days'`)
	exec(`UPDATE harvests SET started_at=now() - interval '2 days'`)
	require.Contains(t, c.ok("report", "conf/x", "--since", "LAST"), "found 0, lost 0, changed 0")

	exec(`UPDATE matches SET matched_at=now() WHERE paper_key='conf/x/new'`)
	exec(`UPDATE locations SET found_at=now() WHERE sha256='ada.examplenew.pdf'`)
	exec(`UPDATE locations SET current=false, gone_at=now() WHERE sha256='ada.examplelost.pdf'`)
	exec(`UPDATE locations SET current=false, gone_at=now() - interval '20 days' WHERE sha256='ada.examplegone-before.pdf'`)
	// A new version where the old one was, which is the paper, too.
	require.NoError(t, c.SaveFetched(ctx, store.Document{SHA256: "v2", SHA1: "v2", MD5: "v2", Kind: "pdf"}, c.place("ada.example", "changed.pdf"), nil))
	exec(`UPDATE documents SET state='accepted' WHERE sha256='v2'`)
	exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/x/changed', 'v2', 'exact', 1)`)
	// Lost at one place, and still at another.
	require.NoError(t, c.SaveFetched(ctx, store.Document{SHA256: "ada.exampleelsewhere.pdf", SHA1: "e", MD5: "e", Kind: "pdf"}, c.place("ada.example", "copy.pdf"), nil))
	exec(`UPDATE locations SET current=false, gone_at=now() WHERE url LIKE '%/elsewhere.pdf'`)

	is := func(want map[string]string, args ...string) {
		t.Helper()
		var got news
		c.read(&got, append([]string{"report"}, args...)...)
		had := map[string]string{}
		for _, ch := range got.Changes {
			had[ch.URL] = ch.What
		}
		require.Equal(t, want, had)
	}
	const at = "http://ada.example/"
	want := map[string]string{at + "new.pdf": "found", at + "lost.pdf": "lost", at + "changed.pdf": "changed"}
	is(want, "conf/x", "--since", "LAST")
	is(want, "conf/x", "--since", time.Now().Add(-48*time.Hour).Format(time.DateOnly))
	is(map[string]string{}, "conf/x", "--since", time.Now().Add(time.Hour).Format(time.RFC3339))
	out := c.ok("report", "conf/x", "--since", "last")
	require.Contains(t, out, "found 1, lost 1, changed 1")
	require.Regexp(t, `lost +The lost\n +Jane Roe, 2001\n +http://ada.example/lost.pdf\n`, out)

	// Of a site its documents, by their addresses.
	want[at+"elsewhere.pdf"], want[at+"copy.pdf"] = "lost", "found"
	is(want, "site:http://ada.example/", "--since", "LAST")
	c.wrong(program.ExitUsage, "report", "conf/x", "--since", "yesterday")
	c.wrong(program.ExitUsage, "report", "conf/x", "--since", "LAST", "--html", "x.html")
}
