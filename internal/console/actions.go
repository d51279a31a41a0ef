package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/store"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
)

// Harvests does to harvests what commands do. An error says what a command would.
type Harvests interface {
	// Troubles says what fails of a harvest now and is tried again, a line each.
	Troubles(ctx context.Context, harvest string) ([]string, error)
	// Start starts a harvest, or joins the one that runs, and returns its id and what
	// was done, as all others do.
	Start(ctx context.Context, w HarvestRequest) (id, did string, err error)
	// Begun reports whether a harvest that is not on record runs: no worker has begun it yet.
	Begun(ctx context.Context, harvest string) (bool, error)
	// Steer does one of pause, resume and cancel to a harvest.
	Steer(ctx context.Context, harvest, do string) (did string, err error)
	Retry(ctx context.Context, harvest string, of Failed) (did string, err error)
	// SteerSite has a host not asked by anybody (pause), for a reason, asked again (resume), or with a least delay (slow).
	SteerSite(ctx context.Context, host, do, why string) (did string, err error)
	// SetHomepage keeps a person's word on a page of an author, is or is-not; "" takes it back.
	SetHomepage(ctx context.Context, who gleaner.Author, url, word string) (did string, err error)
	// Again starts a harvest again with its own options.
	Again(ctx context.Context, harvest string) (did string, err error)
	// Estimate returns what a harvest would have to do, and calls listing with its progress.
	// Nothing is kept.
	Estimate(ctx context.Context, w HarvestRequest, listing func(string)) (Estimated, error)
	// EnterList enters a list of wanted papers under the name of its file, and returns the goal of its harvest and
	// what is left out, a line each. It replaces a list of that name with other papers only if replace is true.
	EnterList(ctx context.Context, file, text string, replace bool) (goal, leftOut string, err error)
	// Collect has a collection by topic made, or goes on with one that ended.
	Collect(ctx context.Context, w CollectionRequest) (did string, err error)
	// SteerCollection does one of pause, resume and cancel to a collection that is being made.
	SteerCollection(ctx context.Context, name, do string) (did string, err error)
	// Progress returns how fast a harvest that runs goes on.
	Progress(ctx context.Context, harvest string) (Progress, error)
	// Export prepares a list of what a harvest found, in one of ExportFormats, with the
	// documents in an archive where files is true.
	Export(ctx context.Context, harvest, format string, years gleaner.Years, files bool) (Export, error)
	// ExportCollection does so with what is in a collection.
	ExportCollection(ctx context.Context, name, format string, files bool) (Export, error)
}

// Progress is how fast a harvest goes on.
type Progress struct {
	Rate    float64  `json:"answers_per_second"` // over the last minute
	Left    string   `json:"left,omitempty"`     // about how long its stage takes still, in words
	Failing []string `json:"failing"`            // hosts that refuse or fail now, and why
}

// Export is a file to be written.
type Export struct {
	Name, MediaType string
	Write           func(io.Writer) error
}

// HarvestRequest is what somebody wants harvested.
type HarvestRequest struct {
	Goal  string // a venue's key or name, site:URL, author:PID, or papers:NAME
	Years string // such as 1998-2004; "" for all
	Delay time.Duration

	// As the flags of `starter harvest` have them; zero is the worker's setting.
	Scope, Strategy, Leads, Again string
	MaxPages                      int
	Budget                        float64
	WARC                          bool
}

// Failed is what failed and is to be tried again; zero fields are all of it.
type Failed struct{ Site, Reason string }

// Estimated is what a harvest would have to do, in words a line each, and its papers.
type Estimated struct {
	Lines  []string             `json:"lines"`
	Papers []store.HarvestPaper `json:"papers"` // held, found or wanted
}

// donePage says what was done.
type donePage struct {
	Name string `json:"name"` // of what it was done to
	Did  string `json:"did"`

	redirect
}

// What may be done to a harvest.
const (
	doPause  = "pause"
	doResume = "resume"
	doCancel = "cancel"
	doRetry  = "retry"
	doAgain  = "again"
	doSlow   = "slow" // of a site
)

func startHarvest(ctx context.Context, c *Console, a *asked) (any, error) {
	w, err := a.harvestRequest()
	if err != nil {
		return nil, err
	}
	began, err := c.App.DB.Now(ctx)
	if err != nil {
		return nil, err
	}
	var id, did string
	err = within(ctx, c.startTime, func(ctx context.Context) error {
		id, did, err = c.Harvests.Start(ctx, w)
		return err
	})
	if err == nil {
		awaitRun(ctx, c, id, began)
	}
	return c.done(ctx, a, donePage{id, did, redirect{to: harvestPath(id)}}, err)
}

// shownTime is how long an action waits until pages show what it did.
const shownTime = 2 * time.Second

// shown waits until is reports true, for shownTime at most.
func shown(ctx context.Context, is func() bool) {
	for until := time.Now().Add(shownTime); ctx.Err() == nil && time.Now().Before(until) && !is(); {
		time.Sleep(shownTime / 20)
	}
}

// awaitRun waits until the record of a harvest that was started at a time shows that it runs, or ran since.
func awaitRun(ctx context.Context, c *Console, id string, began time.Time) {
	shown(ctx, func() bool {
		h, err := c.App.DB.FindHarvest(ctx, id)
		return err != nil || h.CompletedAt == nil || h.CompletedAt.After(began)
	})
}

// harvestPath is the address of a harvest's page.
func harvestPath(id string) string { return "/harvests/" + url.PathEscape(id) }

// within does what may ask a catalogue for a name. The error is errSlow once its time is over.
func within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	err := do(ctx)
	if err != nil && context.Cause(ctx) == errSlow { //nolint:errorlint // the cause is the value itself
		return errSlow
	}
	return err
}

func estimate(ctx context.Context, c *Console, a *asked) (any, error) {
	w, err := a.harvestRequest()
	if err != nil {
		return nil, err
	}
	return estimated(ctx, c, w)
}

// listsPath is where lists of wanted papers are sent, which may be long (maxList).
const listsPath = "/lists"

// enterList enters a list of wanted papers. Its harvest is started from the page that says how much work it is.
func enterList(ctx context.Context, c *Console, a *asked) (any, error) {
	l, err := a.heldList()
	if err != nil {
		return nil, err
	}
	a.PostForm.Set("name", l.Name) // of the form that is shown again
	a.PostForm.Set("list", l.text)
	goal, leftOut, err := c.Harvests.EnterList(ctx, l.Name, l.text, a.get("replace") != "")
	c.log.InfoContext(ctx, "console: list", "list", l.Name, "goal", goal, "user", user(ctx), "error", err)
	if err != nil {
		return nil, err
	}
	a.PostForm = url.Values{"goal": {goal}} // of the form that starts it
	c.estimates.forget(HarvestRequest{Goal: goal}, nil)
	p, err := estimated(ctx, c, HarvestRequest{Goal: goal})
	p.Lines = append(strings.FieldsFunc(leftOut, func(r rune) bool { return r == '\n' }), p.Lines...)
	return p, err
}

// removeList removes a list of wanted papers.
func removeList(ctx context.Context, c *Console, a *asked) (any, error) {
	name := a.get("name")
	was, err := store.RemoveList(ctx, c.App.DB, gleaner.Goal{List: name}.String())
	if err == nil && !was {
		err = fmt.Errorf("%w: there is no list %s, or its harvest is on record: remove that first", errInput, name)
	}
	return c.done(ctx, a, donePage{name, "is removed", redirect{to: "/"}}, err)
}

// estimated says what a harvest would have to do. To list a venue of many years takes longer than
// a page waits: that goes on, and who asks again gets what came of it.
func estimated(ctx context.Context, c *Console, w HarvestRequest) (Estimated, error) {
	m := c.estimates.make(w, func(end context.Context) (p Estimated, err error) {
		defer c.listed.Delete(w)
		end = context.WithValue(end, whoKey{}, asker(ctx))
		var over func()
		// Who waits for a turn is who asks: nothing but what has one goes on in the background.
		err = within(ctx, c.startTime, func(ctx context.Context) (err error) { over, err = c.listings.turn(ctx); return err })
		if err != nil {
			c.estimates.forget(w, nil)
			return p, fmt.Errorf("%w %s, which come after those of other previews: this page asks again", errListing, w.Goal)
		}
		defer over()
		return c.Harvests.Estimate(end, w, func(said string) { c.listed.Store(w, " ("+said+")") })
	})
	late := time.NewTimer(c.startTime)
	defer late.Stop()
	select {
	case <-m.done:
		c.estimates.forget(w, m)
		p := m.made
		p.Lines, p.Papers = each.List(p.Lines), each.List(p.Papers)
		return p, m.err
	case <-late.C:
		far, _ := c.listed.Load(w)
		said, _ := far.(string)
		return Estimated{}, fmt.Errorf("%w %s%s, which goes on in the background, and is tried again where the catalogue fails: this page asks again, and says what came of it",
			errListing, w.Goal, said)
	case <-ctx.Done():
		return Estimated{}, ctx.Err()
	}
}

// harvestRequest reads the form that starts a harvest.
func (a *asked) harvestRequest() (w HarvestRequest, err error) {
	goal := strings.TrimSpace(a.get("goal"))
	if kind := a.get("kind"); kind != "" && kind != "venue" {
		goal = gleaner.ParseGoal(kind + ":" + strings.TrimPrefix(goal, kind+":")).String()
	}
	several := strings.FieldsFunc(goal, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) })
	if len(several) > 1 && !slices.ContainsFunc(several, func(one string) bool { return strings.Count(one, "/") != 1 }) {
		return w, fmt.Errorf("%w: %s are several: name one venue at a time", errInput, strings.Join(several, " and "))
	}
	if strings.HasPrefix(goal, "site:") && !strings.Contains(goal, "://") {
		goal = strings.Replace(goal, ":", ":https://", 1)
	}
	if config.Redact(goal) != goal {
		a.PostForm.Del("goal") // the form that is shown again
		return w, fmt.Errorf("%w: the address has a name, a password or a key in it, and no harvest sends one", errInput)
	}
	w = HarvestRequest{Goal: goal, Years: strings.TrimSpace(a.get("years"))}
	if d := a.get("delay"); d != "" {
		if w.Delay, err = config.ParseDuration(d); err != nil {
			return w, fmt.Errorf("%w: delay is a time such as 5s or 2d", errInput)
		}
	}
	w.Scope, w.Strategy, w.Leads, w.Again = a.get("scope"), a.get("strategy"), a.get("leads"), a.get("again")
	w.MaxPages, w.WARC = a.number("max-pages"), a.get("warc") == "yes"
	if b := a.get("budget"); b != "" {
		if w.Budget, err = strconv.ParseFloat(b, 64); err != nil || !(w.Budget > 0 && w.Budget <= math.MaxInt32) {
			return w, fmt.Errorf("%w: budget is a number of requests", errInput)
		}
	}
	return w, nil
}

// harvestParams are the options of a harvest, by the names of the flags.
func harvestParams() []param {
	return []param{{name: "kind", what: "what goal is (default: a venue)", one: []string{"venue", "site", "author", "papers"}},
		{name: "goal", what: "a venue's key or name, the address of a site, a person's name or DBLP id, or the name of a list that was entered", required: true},
		{name: "years", what: "years of publication, such as 1998-2004"}, {name: "delay", what: "least time between two requests to one host, such as 5s"},
		{name: "max-pages", what: "requests of the crawl of one site (default: the worker's setting)", number: true},
		{name: "scope", what: "what of a host may be crawled: the directories of homepages, or all (default: prefix)", one: []string{"prefix", "host"}},
		{name: "strategy", what: "the order in which links are followed (default: the worker's setting)", one: config.Choices("strategy")},
		{name: "leads", what: "documents linked on other hosts that are taken (default: the worker's setting)", one: config.Choices("leads")},
		{name: "budget", what: "requests that one more accepted document may cost (default: no limit)"},
		{name: "again", what: "what to ask again of what was asked before (default: all where this harvest is complete, else due)", one: []string{"due", "all", "none"}},
		{name: "warc", what: "keep what is exchanged with sites in WARC files (default: the worker's setting)", one: []string{"yes", "no"}}}
}

// done notes who did what, and what more there is to note.
func (c *Console) done(ctx context.Context, a *asked, p donePage, err error, more ...any) (any, error) {
	said := []any{"path", a.URL.Path, "name", p.Name, "user", user(ctx), "did", p.Did, "error", err}
	c.log.InfoContext(ctx, "console: asked for", append(said, more...)...)
	p.notice = cmp.Or(p.notice, p.Name+" "+p.Did+".")
	return p, err
}

func actOnHarvest(ctx context.Context, c *Console, a *asked) (any, error) {
	h, err := c.exactly(ctx, a.get("id"))
	if err != nil {
		return nil, err
	}
	began, err := c.App.DB.Now(ctx)
	if err != nil {
		return nil, err
	}
	var did string
	switch a.get("do") {
	case doPause, doResume, doCancel:
		did, err = c.Harvests.Steer(ctx, h.ID, a.get("do"))
	case doAgain:
		did, err = c.Harvests.Again(ctx, h.ID)
	case doRemove:
		did, err = removeHarvest(ctx, c, h.ID, a.get("schedule") != "")
		return c.done(ctx, a, donePage{h.ID, did, redirect{to: "/"}}, err)
	case doRetry:
		did, err = c.Harvests.Retry(ctx, h.ID, Failed{Site: a.get("site"), Reason: a.get("reason")})
	}
	if do := a.get("do"); err == nil && (do == doAgain || do == doRetry) {
		awaitRun(ctx, c, h.ID, began)
	}
	return c.done(ctx, a, donePage{h.ID, did, redirect{to: a.was(harvestPath(h.ID))}}, err)
}

// removeHarvest removes a harvest that ended, and before it the schedule that would start it again.
func removeHarvest(ctx context.Context, c *Console, id string, scheduled bool) (did string, err error) {
	did = "is removed"
	if scheduled {
		did += " with its schedule"
		if _, err = store.RemoveHarvest(ctx, c.App.DB, id, true); err != nil {
			return did, err
		}
		var none program.Unknown
		if err = c.Schedules.SteerSchedule(ctx, id, doRemove, ""); err != nil && !errors.As(err, &none) {
			return did, err
		}
	}
	_, err = store.RemoveHarvest(ctx, c.App.DB, id, false)
	return did, err
}

// settledPage is a person's word on a match.
type settledPage struct {
	Paper   string `json:"paper"`
	SHA256  string `json:"sha256"`
	Settled string `json:"settled"`

	redirect
}

func settle(ctx context.Context, c *Console, a *asked) (any, error) {
	sha, err := program.FindDocument(ctx, c.App.DB, a.get("sha256"))
	if err != nil {
		return nil, err
	}
	p := settledPage{Paper: strings.TrimSpace(a.get("paper")), SHA256: sha, Settled: a.get("word"),
		redirect: redirect{to: a.was("/review")}}
	p.notice = p.Paper + map[string]string{"yes": ": the document is this paper.", "no": ": the document is another.", "undo": ": the word on it is taken back."}[p.Settled]
	if p.Settled == "undo" {
		p.Settled = ""
	}
	err = collection.Settle(ctx, c.App.DB, c.App.Repo, p.Paper, p.SHA256, p.Settled)
	if err == nil && p.Settled == "yes" {
		var also []string
		if also, err = store.AlsoPapers(ctx, c.App.DB, p.Paper, p.SHA256); len(also) > 0 {
			p.notice += " It counts as another paper, too: " + strings.Join(also, "; ") + "."
		}
	}
	c.log.InfoContext(ctx, "console: settled", "paper", p.Paper, "sha256", p.SHA256, "word", a.get("word"), "user", user(ctx), "error", err)
	return p, err
}
