package console

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFewReportsAtATime: one more waits for its turn, and pages do without meanwhile,
// or show what was kept.
func TestFewReportsAtATime(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	d.sample()
	for range reportsATime {
		d.reports.hands <- struct{}{}
	}
	id := url.PathEscape(sampleHarvest)
	require.Contains(t, d.page("/reports/"+id), "is being worked out")
	require.Contains(t, d.page("/papers?harvest="+id), "is being worked out")
	<-d.reports.hands
	r, err := d.reports.whole(t.Context(), sampleHarvest)
	require.NoError(t, err)
	require.Equal(t, sampleHarvest, r.Harvest.ID)
	require.Len(t, r.Missing, 2)

	d.reports.hands <- struct{}{}
	d.exec(`UPDATE harvest_reports SET made_at = now() - interval '1 day', took = '1 minute'`)
	var p papersPage
	d.read(&p, "/papers?harvest="+id+"&state=missing")
	require.False(t, p.Unknown)
	require.Less(t, *p.Why, time.Now().Add(-time.Hour), "what was kept, since a better one takes a minute")
	require.Equal(t, "ambiguous", p.Papers[0].Reason)
	require.Contains(t, d.page("/reports/"+id), "Recall by year")
}

// TestReasonsAreOfPapersThatAreMissing now, whatever they were when the reasons were
// worked out.
func TestReasonsAreOfPapersThatAreMissing(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	d.sample()
	d.explained(sampleHarvest)
	d.exec(`UPDATE harvest_reports SET took = '1 minute'`)
	d.exec(`UPDATE matches SET settled='yes' WHERE verdict='ambiguous'`)
	var p papersPage
	d.read(&p, "/papers?harvest="+url.QueryEscape(sampleHarvest))
	require.Equal(t, "found", p.Papers[2].State)
	require.Empty(t, p.Papers[2].Reason)
	d.read(&p, "/papers?reason=ambiguous&harvest="+url.QueryEscape(sampleHarvest))
	require.Empty(t, p.Papers)
}
