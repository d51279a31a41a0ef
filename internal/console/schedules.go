package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/service/config"
)

// Schedules does to schedules what commands do. An error says what a command would.
type Schedules interface {
	ListSchedules(ctx context.Context) ([]Scheduled, error)
	// Schedule returns the schedule of a name; nil where there is none.
	Schedule(ctx context.Context, name string) (*Scheduled, error)
	// CreateSchedule has a harvest, or a recrawl of what is due ("due"), started every so often.
	// It may replace the schedule of the same, which stays paused or not.
	CreateSchedule(ctx context.Context, w HarvestRequest, every time.Duration, replace bool) (name string, err error)
	// SteerSchedule does one of pause, resume and remove to a schedule.
	SteerSchedule(ctx context.Context, name, do, note string) error
}

// goalDue is the goal of the schedule that asks every site again whose rest is over.
const goalDue = "due"

// Scheduled is a schedule.
type Scheduled struct {
	Schedule string      `json:"schedule"`
	Every    string      `json:"every,omitempty"` // such as 30d; "" for other rules
	Cron     string      `json:"cron,omitempty"`  // such as 0 3 1 * * (UTC)
	Jitter   string      `json:"jitter"`          // the most by which starts are spread
	Paused   bool        `json:"paused"`
	Note     string      `json:"note,omitempty"`
	Next     []time.Time `json:"next,omitempty"`
	Last     *time.Time  `json:"last,omitempty"`
	Did      string      `json:"did,omitempty"` // what came of the last run: what it started, or why it failed
	Runs     int         `json:"runs,omitempty"`
	Skipped  int         `json:"skipped,omitempty"` // for overlap
	Missed   int         `json:"missed,omitempty"`  // beyond the catch-up window
	Running  []string    `json:"running,omitempty"`
}

// scheduleOf says to a person of what a schedule is.
func scheduleOf(name string) string {
	if name == goalDue {
		return "every site whose rest is over"
	}
	return name
}

// interval is a time between two starts, in words.
type interval struct{ Every, Words string }

// intervals are those that a form offers.
func intervals() []interval {
	return []interval{
		{"24h", "daily"}, {"7d", "weekly"}, {"30d", "monthly"},
		{"90d", "every three months"}, {"182d", "every six months"}, {"365d", "yearly"},
	}
}

// intervalWords says a time between two starts to a person.
func intervalWords(every string) string {
	for _, i := range intervals() {
		if i.Every == every {
			return i.Words
		}
	}
	if n, of := strings.CutSuffix(every, "d"); of {
		return "every " + n + " days"
	}
	return "every " + every
}

// schedulesPage lists the schedules.
type schedulesPage struct {
	Schedules []Scheduled `json:"schedules"`
}

func schedules(ctx context.Context, c *Console, _ *asked) (any, error) {
	all, err := c.Schedules.ListSchedules(ctx)
	return schedulesPage{each.List(all)}, err
}

// doCreate makes a schedule.
const doCreate = "create"

func scheduleParams() []param {
	return []param{
		{name: "do", what: "what to do", one: []string{doCreate, doPause, doResume, doRemove}, required: true},
		{name: "schedule", what: "its name, unless it is made"},
		{name: "kind", what: "of what a new one is (default: a venue); due asks every site again whose rest is over",
			one: []string{"venue", "site", "author", "papers", goalDue}},
		{name: "goal", what: "of the harvest, as harvests have it"},
		{name: "years", what: "years of publication, such as 1998-2004"},
		{name: "every", what: "time between two starts, an hour or longer, such as 30d"},
		{name: "otherwise", what: "the same, in place of every"},
		{name: "replace", what: "the one that there is of the same", one: []string{"yes"}},
	}
}

// changeSchedule makes a schedule, or does something to one.
func changeSchedule(ctx context.Context, c *Console, a *asked) (any, error) {
	name, do := a.get("schedule"), a.get("do")
	if name == "" && do != doCreate {
		return nil, fmt.Errorf("%w: schedule is missing", errInput)
	}
	var err error
	if do == doCreate {
		name, err = newSchedule(ctx, c, a)
	} else {
		err = c.Schedules.SteerSchedule(ctx, name, do, strings.TrimPrefix("by "+user(ctx)+" in the console", "by  "))
	}
	if err == nil {
		shown(ctx, func() bool { return listsSchedule(ctx, c, name, do) })
	}
	says := map[string]string{
		doCreate: "is set up; its next run is in the list",
		doPause:  "is paused", doResume: "goes on", doRemove: "is removed",
	}
	said := "The schedule of " + scheduleOf(name) + " " + says[do] + "."
	return c.done(ctx, a, donePage{name, says[do], redirect{"/schedules", said}}, err)
}

// listsSchedule reports whether the list of schedules shows what was done to one.
func listsSchedule(ctx context.Context, c *Console, name, do string) bool {
	all, err := c.Schedules.ListSchedules(ctx)
	at := slices.IndexFunc(all, func(s Scheduled) bool { return s.Schedule == name })
	if err != nil || at < 0 {
		return err != nil || do == doRemove
	}
	return do == doCreate || do != doRemove && all[at].Paused == (do == doPause)
}

func newSchedule(ctx context.Context, c *Console, a *asked) (name string, err error) {
	w := HarvestRequest{Goal: goalDue}
	if a.get("kind") != goalDue {
		if w, err = a.harvestRequest(); err != nil {
			return "", err
		}
		if w.Goal == "" {
			return "", fmt.Errorf("%w: a field is empty: Key, name or address", errInput)
		}
	}
	every, err := config.ParseDuration(strings.TrimSpace(cmp.Or(a.get("otherwise"), a.get("every"))))
	if err != nil || every < time.Hour {
		return "", fmt.Errorf("%w: the time between two starts is an hour or longer, such as 12h or 45d", errInput)
	}
	err = within(ctx, c.startTime, func(ctx context.Context) error {
		name, err = c.Schedules.CreateSchedule(ctx, w, every, a.get("replace") != "")
		return err
	})
	return name, err
}
