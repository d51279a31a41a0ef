package activities_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/web/rules"
)

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	require.NoError(t, activities.HarvestOptions{}.Check())
	require.NoError(t, activities.HarvestOptions{Scope: "host", Strategy: "bfs", Leads: "none", Again: "all", Delay: time.Second, MaxPages: 1, Budget: 1, Window: 1}.Check())
	for name, o := range map[string]activities.HarvestOptions{"scope": {Scope: "planet"}, "strategy": {Strategy: "dfs"}, "leads": {Leads: "some"}, "again": {Again: "maybe"},
		"delay": {Delay: -1}, "max-pages": {MaxPages: -1}, "budget": {Budget: -1}, "ignore": {Links: &rules.Lists{Ignore: []string{"*"}}}, "sites": {Window: activities.MaxWindow + 1}, "waves": {MaxWaves: -1}} {
		require.ErrorContains(t, o.Check(), name+": ")
	}
}

// TestHarvestOfARow is the harvest that was started, whatever it is after.
func TestHarvestOfARow(t *testing.T) {
	t.Parallel()
	years := gleaner.Years{From: 1998, To: 2004}
	for name, goal := range map[string]gleaner.Goal{"conf/webdb": {}, "site:https://a.org/~ada/": {Site: "https://a.org/~ada/"}, "author:65/2885": {Author: "65/2885"}, "papers:mine": {List: "mine"}} {
		for _, y := range []gleaner.Years{years, {}} {
			row := store.Harvest{ID: gleaner.ParseGoal(name).Harvest(y), Venue: name, Years: y, Options: []byte(`{"scope":"host","window":3}`)}
			h, err := activities.HarvestOf(row)
			require.NoError(t, err)
			o := activities.HarvestOptions{Scope: "host", Window: 3}
			if goal.Site != "" {
				o.Leads = "all" // of a site that wants no papers by name
			}
			require.Equal(t, activities.Harvest{ID: row.ID, Venue: name, Goal: goal, Years: y, Options: o}, h)
			require.NoError(t, h.Options.Check())
			require.Equal(t, h, activities.NewHarvest(gleaner.ParseGoal(name), y, h.Options))
		}
	}
}

// TestWrongOptionsAreNeverStored: they would fail every later crawl of the site.
func TestWrongOptionsAreNeverStored(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(map[string]string{"database-url": devtest.Postgres(t), "data-dir": t.TempDir(), "contact": "test@example.org"}, os.DevNull, nil)
	require.NoError(t, err)
	a, err := app.Open(t.Context(), cfg, app.Options{})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	stages := activities.New(a).Stages
	env.RegisterActivity(stages)
	_, err = env.ExecuteActivity(stages.Begin, activities.Harvest{ID: "conf/x/2001", Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001},
		Options: activities.HarvestOptions{Strategy: "dfs"}})
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.Equal(t, activities.ErrTypeInput, app.Type())
	require.True(t, app.NonRetryable())
	all, err := a.DB.Harvests(t.Context())
	require.NoError(t, err)
	require.Empty(t, all)
}
