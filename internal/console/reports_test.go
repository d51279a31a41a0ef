package console

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFewReportsAtATime: one more waits for its turn, and pages do without meanwhile.
func TestFewReportsAtATime(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	d.sample()
	var all harvestsPage
	d.read(&all, "/")
	id := all.Harvests[0].ID
	for range reportsATime {
		d.reports.hands <- struct{}{}
	}
	r, err := d.reports.get(t.Context(), id, time.Millisecond)
	require.NoError(t, err)
	require.Nil(t, r)
	<-d.reports.hands
	r, err = d.reports.get(t.Context(), id, answerTime)
	require.NoError(t, err)
	require.Equal(t, id, r.Harvest.ID)
}
