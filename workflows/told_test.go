package workflows

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/activities"
	"gleaner/internal/gleaner"
)

// What a workflow tells of itself fits Temporal's limits (400 bytes of a summary, 2 KiB
// of an attribute), whatever the goals are called.
func TestWhatIsToldFits(t *testing.T) {
	t.Parallel()
	long := gleaner.Goal{Site: "https://www.example.edu/?" + strings.Repeat("é&", 250)}
	h := activities.NewHarvest(long, gleaner.Years{}, activities.HarvestOptions{})
	for _, told := range []Told{TellHarvest(h), TellHomepages(h), TellSchedule(ScheduledParams{Harvest: &HarvestParams{Harvest: h}})} {
		require.LessOrEqual(t, len(told.Summary), 398)
		require.LessOrEqual(t, len(told.Details), 20_000)
	}
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("site:https://www%d.example.edu/?%s", i, strings.Repeat("&", 60)))
	}
	for _, odd := range []string{"", "conf/a", "<&>\"\\\x00\x1f\n", "é\u2028\u2029\u202e", strings.Repeat("\u2028", 85)} {
		b, err := json.Marshal(odd)
		require.NoError(t, err)
		require.LessOrEqual(t, len(b)+1, spelt(odd), "%q", odd)
	}
	for _, list := range [][]string{names, {long.String()}} {
		some := venuesOf(list...)
		require.NotEmpty(t, some)
		b, err := json.Marshal(some)
		require.NoError(t, err)
		require.LessOrEqual(t, len(b), 2048)
	}
	require.Equal(t, []string{"conf/a", "conf/b"}, venuesOf("conf/a", "", "conf/b"))
}
