package console

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"gleaner/internal/service/program"
)

// clock notes what is asked of schedules, and has some.
type clock struct {
	*told
	all   []Scheduled
	later func() // what was done shows once all were listed
	away  error  // what steering fails with
}

func (h *clock) ListSchedules(context.Context) ([]Scheduled, error) {
	all := slices.Clone(h.all)
	if h.later != nil {
		h.later()
	}
	h.later = nil
	return all, nil
}

func (h *clock) Schedule(_ context.Context, name string) (*Scheduled, error) {
	for i := range h.all {
		if h.all[i].Schedule == name {
			return &h.all[i], nil
		}
	}
	return nil, nil
}

func (h *clock) CreateSchedule(_ context.Context, w HarvestRequest, every time.Duration, _ bool) (string, error) {
	if w.Goal == "conf/none" {
		return "", program.Unknown{Reason: fmt.Errorf("no venue is called conf/none")}
	}
	_, err := h.note("every %s %s %s", every, w.Goal, w.Years)
	h.all = append(h.all, Scheduled{Schedule: w.Goal, Next: []time.Time{time.Now().Add(every)}})
	return w.Goal, err
}

func (h *clock) SteerSchedule(_ context.Context, name, do, note string) error {
	h.later = func() {
		for i := range h.all {
			if h.all[i].Schedule == name {
				h.all[i].Paused, h.all[i].Note = do == doPause, note
			}
		}
	}
	_, _ = h.note("%s %s %s", do, name, note)
	return h.away
}

// TestSchedulesAreSetUp, paused, resumed and removed, and what is wrong with a new one is
// said over what was written.
func TestSchedulesAreSetUp(t *testing.T) {
	t.Parallel()
	h := &clock{told: &told{}}
	d := sampled(t, func(o *Options) { o.Schedules = h })
	require.Contains(t, d.page("/schedules"), "No schedule yet")
	for _, form := range []string{
		"do=create&goal=conf/webdb&years=1998-2004&every=30d", "do=create&kind=site&goal=www.example.edu/&every=1h",
		"do=create&kind=due&every=30d&otherwise=+7d",
		"do=resume&schedule=due", "do=pause&schedule=due", "do=remove&schedule=conf/webdb/1998-2004",
	} {
		d.leads("/schedules", "POST", "/schedules", form)
		if form == "do=pause&schedule=due" {
			require.Contains(t, d.page("/schedules"), "paused</span>", "at once")
		}
	}
	require.Equal(t, []string{
		"every 720h0m0s conf/webdb 1998-2004", "every 1h0m0s site:https://www.example.edu/ ", "every 168h0m0s due ",
		"resume due in the console", "pause due in the console", "remove conf/webdb/1998-2004 in the console",
	}, h.heard)
	page := d.page("/schedules")
	due := `(?s)every site whose rest is over</td>.*paused</span> <span class="quiet">in the console.*value="resume"`
	require.Regexp(t, due, page)
	require.Equal(t, []string{"weekly", "every 45 days", "every 12h"}, []string{intervalWords("7d"), intervalWords("45d"), intervalWords("12h")})
	require.Regexp(t, `(?s)<option value="30d" selected>monthly</option>.*every three months.*name="otherwise"`, page)
	require.Contains(t, page, "<td>conf/webdb</td>")
	h.all[0].Cron = "0 3 1 * * (UTC)"
	require.Contains(t, d.page("/schedules"), ">cron 0 3 1 * * (UTC)</td>")
	for form, want := range map[string]int{
		"do=create&goal=conf/x": 400, "do=create&goal=conf/x&every=59m": 400, "do=create&goal=conf/x&every=soon": 400,
		"do=create&every=1d": 400, "do=create&goal=conf/none&every=1d": 404, "do=pause": 400,
		"do=stop&schedule=due": 400, "do=create&kind=odd&goal=x&every=1d": 400,
	} {
		d.gives(want, "POST", "/schedules", form)
	}
	_, body := d.do("POST", "/schedules", "do=create&every=90d")
	require.Contains(t, body, "a field is empty: Key, name or address")
	_, body = d.do("POST", "/schedules", "do=create&goal=conf/none&every=90d")
	require.Regexp(t, `(?s)no venue is called conf/none.*value="conf/none".*value="90d" selected>every three months`, body)
	require.Len(t, h.heard, 6)
}

// TestSchedulesInABrowser: a person sets one up on a phone and pauses it.
func TestSchedulesInABrowser(t *testing.T) {
	t.Parallel()
	h := &clock{told: &told{}}
	h.all = []Scheduled{{Schedule: hostile, Paused: true, Note: hostile, Last: new(time.Now())}}
	d := sampled(t, func(o *Options) { o.Schedules = h })
	w := d.window()
	w.size(360, "dark")
	w.open("/schedules")
	w.write("#goal", "conf/webdb"+kb.Enter)
	w.until(`document.querySelectorAll("tbody tr").length == 2`)
	require.Empty(t, see[string](w, looks))
	w.picture("schedules")
	w.do(chromedp.Click(`tbody tr:nth-child(2) button[value=pause]`))
	w.until(`document.querySelectorAll("button[value=resume]").length == 2`)
	require.Empty(t, w.complaints())
}
