package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/gleaner"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

// onTemporal gives the console a server.
func (c *testConsole) onTemporal() client.Client {
	c.t.Helper()
	t, address, namespace := temporaltest.Client(c.t)
	c.temporalAddress = address
	c.args = append(c.args, "--temporal-address", address, "--temporal-namespace", namespace)
	return t
}

func TestScheduleCommands(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	server := c.onTemporal()
	s := answer[scheduled](c.read, "schedule", "create", "due", "--every", "5h")
	require.Equal(t, "due", s.Schedule)
	require.NotEmpty(t, s.Next)
	listed := func(say string) func() bool { // the server lists what it has indexed
		return func() bool { return strings.Contains(c.ok("schedule", "list"), say) }
	}
	for rule, says := range map[string]string{
		"every=2d": "every 2d", "cron=0 3 1 * *": "cron 0 3 1 * * (UTC)", "cron=@daily": "cron @daily (UTC)",
	} {
		made := c.ok("schedule", "create", "whitelist", "--"+rule, "--small", "10", "--jitter", "0s")
		require.Contains(t, made, "whitelist created\n  "+says+"\n  jitter 0s\n  next ")
		require.Eventually(t, listed("whitelist\n  "+says+"\n  jitter 0s\n"), 2*time.Minute, 100*time.Millisecond)
		c.ok("schedule", "delete", "whitelist")
	}
	web := c.onWeb()
	first, last := web.Years()
	years := gleaner.Years{From: first, To: last}.String()
	name := web.Venues()[0] + "/" + years
	c.ok("schedule", "create", web.Venues()[0], "--years", years, "--every", "30d")
	for id, jitter := range map[string]time.Duration{"gleaner/due": 30 * time.Minute, "gleaner/" + name: time.Hour} {
		d, err := server.ScheduleClient().GetHandle(t.Context(), id).Describe(t.Context())
		require.NoError(t, err)
		require.Equal(t, jitter, d.Schedule.Spec.Jitter, id)
		require.Equal(t, enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, d.Schedule.Policy.Overlap, id)
		require.Equal(t, time.Hour, d.Schedule.Policy.CatchupWindow, "else a year's missed turns would start at once")
	}
	require.Eventually(t, listed(name+"\n  every 30d\n  jitter 1h\n  next "), 2*time.Minute, 100*time.Millisecond)
	require.Contains(t, c.ok("schedule", "show", "due"), "\n  every 5h\n  jitter 30m\n  next ")

	c.ok("pause", "schedule/due")
	c.read(&s, "schedule", "show", "schedule/due")
	require.True(t, s.Paused)
	require.Contains(t, s.Note, "by a command")
	s = scheduled{}
	c.ok("resume", "due")
	c.read(&s, "schedule", "show", "due")
	require.False(t, s.Paused)
	c.ok("schedule", "trigger", "due")
	require.Eventually(t, func() bool {
		c.read(&s, "schedule", "show", "due")
		return s.Runs == 1 && s.Did == "under way"
	}, 2*time.Minute, 100*time.Millisecond)
	for _, called := range []string{web.Venues()[0], strings.ToUpper(strings.TrimPrefix(web.Venues()[0], "conf/"))} {
		c.read(&s, "schedule", "show", called)
		require.Equal(t, name, s.Schedule, "by its venue, as elsewhere")
	}
	require.Contains(t, c.wrong(program.ExitUnknown, "schedule", "delete", web.Venues()[0]), "to delete "+name+", give its whole name")
	c.ok("schedule", "create", web.Venues()[0], "--every", "30d")
	c.read(&s, "schedule", "show", web.Venues()[0])
	require.Equal(t, web.Venues()[0], s.Schedule, "of all years")
	c.ok("schedule", "delete", web.Venues()[0])
	require.Equal(t, name+" deleted\n", c.ok("schedule", "delete", name))
	c.read(&s, "schedule", "create", "site:www.example.edu/workshop/", "--scope", "host", "--every", "30d")
	require.Equal(t, "site:https://www.example.edu/workshop/", s.Schedule)
	d, err := server.ScheduleClient().GetHandle(t.Context(), "gleaner/"+s.Schedule).Describe(t.Context())
	require.NoError(t, err)
	var p workflows.ScheduledParams
	raw := d.Schedule.Action.(*client.ScheduleWorkflowAction).Args[0].(*commonpb.Payload)
	require.NoError(t, converter.GetDefaultDataConverter().FromPayload(raw, &p))
	require.Equal(t, activities.ScopeHost, p.Harvest.Harvest.Options.Scope)
	c.wrong(program.ExitUnknown, "schedule", "show", name)
	c.wrong(program.ExitUnknown, "schedule", "create", "conf/none", "--years", years)
	c.wrong(program.ExitUnknown, "schedule", "create", web.Venues()[0], "--years", "1901")

	require.Contains(t, c.wrong(program.ExitUsage, "schedule", "create", "due"), "there is a schedule due already")
	for _, args := range [][]string{{"conf/x", "--years", "soon"}, {"whitelist", "--every", "0s"}, {"whitelist", "--every", "59m"}, {"whitelist", "--every", "1s"}, {"whitelist", "--cron", "now and then"},
		{"whitelist", "--cron", "* * * * *"}, {"whitelist", "--cron", "*/5 * * * *"}, {"whitelist", "--cron", "0,30 * * * *"}, {"whitelist", "--cron", "@every 1s"}, {"whitelist", "--cron", "0 3 * * *", "--every", "1d"}, {}} {
		c.wrong(program.ExitUsage, append([]string{"schedule", "create"}, args...)...)
	}
}
