package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// TestReportSaysWhereAHomepageLed: nowhere, while all that stands on its host is
// another's; and to papers once one is linked from it, wherever that lies.
func TestReportSaysWhereAHomepageLed(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	ctx := t.Context()
	const id, homepage = "conf/x/2001", "http://www.u.example/~ada/"
	ada := gleaner.Author{PID: "1/1", Name: "Ada Lovelace"}
	paper := gleaner.Paper{Key: "conf/x/L01", Venue: "conf/x", Year: 2001, Title: "Analytical Engines for Everyone", Authors: []gleaner.Author{ada}}
	require.NoError(t, c.SavePapers(ctx, []gleaner.Paper{paper}, nil))
	require.NoError(t, c.SaveHarvest(ctx, store.Harvest{ID: id, Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte("{}"), Stage: "complete"}))
	require.NoError(t, c.SetHarvestPapers(ctx, id, []gleaner.Paper{paper}, nil))
	require.NoError(t, c.SaveDecision(ctx, evidence.Decision{Author: ada}, []store.Homepage{{AuthorID: ada.ID(), URL: homepage, Host: "www.u.example"}}))
	c.visited("www.u.example", "/~ada/", "", frontier.Page, gleaner.OK)
	c.accepted("www.u.example", "bob.pdf") // whose page is the host's root
	storetest.Exec(t, c.Pool, `INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites`, id)

	missing := func() report.MissingPaper {
		var r report.Report
		c.read(&r, "report", "conf/x")
		require.Len(t, r.Missing, 1)
		require.Equal(t, map[report.Reason]int{r.Missing[0].Reason: 1}, r.Reasons)
		return r.Missing[0]
	}
	m := missing()
	require.Equal(t, report.LedNowhere, m.Reason)
	require.Equal(t, []string{"Ada Lovelace (http://www.u.example/~ada/): done, 2 pages of its host fetched, and no document on it or linked from it"}, m.Evidence)
	require.Contains(t, c.ok("report", "conf/x"), "missing: homepage led nowhere (1 paper)")

	storetest.Exec(t, c.Pool, `UPDATE locations SET parent=$1, url='http://lab.example/engines.pdf'`, homepage+"papers.html")
	require.Equal(t, report.NotLinked, missing().Reason)
	storetest.Exec(t, c.Pool, `UPDATE documents SET state='rejected'`)
	m = missing()
	require.Equal(t, report.LedNowhere, m.Reason)
	require.Contains(t, m.Evidence[0], "none of 1 document on it or linked from it is academic")
}
