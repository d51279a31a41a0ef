package activities_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document/documenttest"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/workflows"
)

// library is an application over a web of its own.
type library struct {
	*app.App
	acts    *activities.Activities
	env     *testsuite.TestActivityEnvironment
	web     *changingWeb   // nil where the web is another
	sample  *sampleweb.Web // nil where the web is another
	harvest activities.Harvest
	moved   []redirecting // papers of newHarvested

	temporal client.Client // nil before it is needed
}

// newLibrary opens a library over a sample web of some papers, by up to 18 authors.
func newLibrary(t *testing.T, papers int, settings map[string]string) *library {
	t.Helper()
	sample := sampleweb.New(sampleweb.Options{Seed: 7, Papers: papers, Authors: min(papers, 18), PagesPerSite: 1 + papers/12, NoCrawlDelay: true})
	web := newChangingWeb(sample)
	proxy := httptest.NewServer(web)
	t.Cleanup(proxy.Close)
	given := map[string]string{"proxy": proxy.URL, "dblp-url": sampleweb.DBLPURL, "searxng-url": sampleweb.SearchURL}
	maps.Copy(given, settings)
	first, last := sample.Years()
	l := openLibrary(t, sample.Venues()[0], gleaner.Years{From: first, To: last}, given)
	l.web, l.sample = web, sample
	return l
}

// openLibrary opens a library that is to complete a venue from the web that the
// settings lead to.
func openLibrary(t *testing.T, key string, years gleaner.Years, settings map[string]string, policy ...func(*config.Policy)) *library {
	t.Helper()
	given := map[string]string{"dblp-delay": "1ms", "search": "searxng", "delay": "0s", "min-delay": "0s", "contact": "test@example.org"}
	maps.Copy(given, settings)
	if given["database-url"] == "" {
		given["database-url"], given["data-dir"] = devtest.Postgres(t), t.TempDir()
	}
	cfg, err := config.Load(given, os.DevNull, nil)
	require.NoError(t, err)
	// Who waits for a host that failed waits a moment.
	cfg.Policy.Crawl.Tries, cfg.Policy.Crawl.RetryBase, cfg.Policy.Pace.ParkAfter = 1, 30*time.Millisecond, 1000
	for _, change := range policy {
		change(&cfg.Policy)
	}
	a, err := app.Open(t.Context(), cfg, app.Options{Reader: documenttest.Shared()})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	l := &library{App: a, acts: activities.New(a), harvest: activities.Harvest{ID: key + "/" + years.String(), Venue: key, Years: years}}
	l.acts.Stages.Hurry = nil
	l.newEnv()
	return l
}

// newEnv gives the library a worker of its own.
func (l *library) newEnv() {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	l.env = suite.NewTestActivityEnvironment()
	l.env.SetTestTimeout(2 * time.Minute)
	for _, q := range activities.Queues() {
		l.acts.Register(once{l.env, q}, q)
	}
}

// once registers the activities of the queue harvest, which are those of the
// queue metadata too, a single time.
type once struct {
	*testsuite.TestActivityEnvironment
	queue string
}

func (o once) RegisterActivity(a any) {
	if o.queue != activities.QueueMetadata {
		o.TestActivityEnvironment.RegisterActivity(a)
	}
}

// do runs an activity as a worker does.
func (l *library) do(t *testing.T, activity any, arg, result any) {
	t.Helper()
	v, err := l.env.ExecuteActivity(activity, arg)
	require.NoError(t, err)
	if result != nil {
		require.NoError(t, v.Get(result))
	}
}

// collect harvests.
func (l *library) collect(t *testing.T, again string) {
	t.Helper()
	h := l.harvest
	h.Options.Again = again
	l.run(t, workflows.HarvestID(h.ID), workflows.HarvestVenue, workflows.HarvestParams{Harvest: h})
}

// run runs a workflow to its end, on a server and workers of the library's own. It
// returns the hosts that were crawled.
func (l *library) run(t *testing.T, id string, workflow, params any) (crawled []string) {
	t.Helper()
	defer l.work(t)()
	before, err := l.DB.Now(t.Context())
	require.NoError(t, err)
	run, err := l.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: activities.QueueHarvest}, workflow, params)
	require.NoError(t, err)
	require.NoError(t, run.Get(t.Context(), nil))
	const since = `SELECT host FROM sites WHERE crawl_started >= $1 ORDER BY host`
	crawled = storetest.Column[string](t, l.DB.Pool, since, before)
	return crawled
}

// work starts workers, which work as the application says now.
func (l *library) work(t *testing.T) (stop func()) {
	t.Helper()
	if l.temporal == nil {
		l.temporal, _, _ = temporaltest.Client(t)
	}
	var workers []worker.Worker
	acts := activities.New(l.App)
	for _, q := range activities.Queues() {
		w := worker.New(l.temporal, q, worker.Options{})
		acts.Register(w, q)
		if q == activities.QueueHarvest {
			workflows.Register(w)
		}
		require.NoError(t, w.Start())
		workers = append(workers, w)
	}
	return func() {
		for _, w := range workers {
			w.Stop()
		}
	}
}

// prepare does what HarvestVenue does before it crawls.
func (l *library) prepare(t *testing.T, h activities.Harvest) {
	t.Helper()
	l.do(t, l.acts.Stages.Begin, h, nil)
	l.do(t, l.acts.Stages.ListPapers, h, nil)
	l.do(t, l.acts.Stages.LocateCopies, h, nil)
	for pass := 1; pass <= 2; pass++ {
		l.do(t, l.acts.Stages.FindHomepages, activities.Batch{Harvest: h, Limit: 1000, Pass: pass}, nil)
	}
	l.do(t, l.acts.Stages.SettleHomepages, h, nil)
	l.do(t, l.acts.Stages.SeedHomepages, h, nil)
}

// recrawl crawls what is due of some sites, or all that was ever asked of them. It
// returns the sites that were due, and those that were crawled.
func (l *library) recrawl(t *testing.T, of store.Selection, all bool) (due, crawled []string) {
	t.Helper()
	due, _, err := l.DB.DueSites(t.Context(), of, all, "", 1000)
	require.NoError(t, err)
	return due, l.run(t, workflows.RecrawlID(of.Venue), workflows.RecrawlDue, workflows.RecrawlParams{Due: activities.Due{Of: of, All: all}})
}

// mutation is what was done to one paper between two harvests.
type mutation struct {
	what     string // added, changed, moved, removed
	url      string // of the file before; of the new one for added
	to       string // of a moved one
	old, new string // SHA-256
}

func sha(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// mutate changes twenty papers, as their authors would: a file and the page that
// links to it.
func (l *library) mutate(t *testing.T) []mutation {
	t.Helper()
	found, err := l.DB.Export(t.Context(), l.harvest.Venue, l.harvest.Years)
	require.NoError(t, err)
	var own []store.Exported
	for _, e := range found {
		if e.URL != "" && e.ParentURL != "" && strings.HasSuffix(e.URL, ".pdf") && !strings.Contains(e.URL, storedPrefix) && hostOf(t, e.URL) == hostOf(t, e.ParentURL) {
			own = append(own, e)
		}
	}
	missing, err := l.DB.Missing(t.Context(), l.harvest.ID)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(own), 14, "too few papers to change")
	require.GreaterOrEqual(t, len(missing), 6, "too few papers to add")
	var out []mutation
	for i, e := range own[:14] {
		switch {
		case i < 6:
			body := paperPDF(t, e.Title, names(e.Authors), i)
			l.web.set(e.URL, "application/pdf", body)
			out = append(out, mutation{what: "changed", url: e.URL, old: e.SHA256, new: sha(body)})
		case i < 10:
			to := strings.TrimSuffix(e.URL, ".pdf") + "-final.pdf"
			l.web.set(to, "application/pdf", l.web.get(t, e.URL))
			l.web.set(e.URL, "", nil)
			l.edit(t, e.ParentURL, path.Base(e.URL), path.Base(to))
			out = append(out, mutation{what: "moved", url: e.URL, to: to, old: e.SHA256})
		default:
			l.web.set(e.URL, "", nil)
			out = append(out, mutation{what: "removed", url: e.URL, old: e.SHA256})
		}
	}
	for i, p := range missing[:6] {
		page := own[i].ParentURL
		file := path.Base(p.Key) + "-new.pdf"
		at, err := url.Parse(page)
		require.NoError(t, err)
		to := at.ResolveReference(&url.URL{Path: file}).String()
		body := paperPDF(t, p.Title, names(p.Authors), 100+i)
		l.web.set(to, "application/pdf", body)
		l.edit(t, page, "</body>", `<p><a href="`+file+`">`+p.Title+`</a></p></body>`)
		out = append(out, mutation{what: "added", url: to, new: sha(body)})
	}
	return out
}

func (l *library) edit(t *testing.T, page, old, with string) {
	t.Helper()
	body := string(l.web.get(t, page))
	require.Contains(t, body, old, page)
	l.web.set(page, "text/html; charset=utf-8", []byte(strings.ReplaceAll(body, old, with)))
}

func names(as []gleaner.Author) []string {
	return each.Of(as, func(a gleaner.Author) string { return a.Name })
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u.Host
}

// place is what the record says of a document at an address, asked by http or
// https.
type place struct{ known, current, gone bool }

func (l *library) at(t *testing.T, address, digest string) place {
	t.Helper()
	var p place
	err := l.DB.Pool.QueryRow(t.Context(), `SELECT count(*) > 0, coalesce(bool_or(current), false), coalesce(bool_or(gone_at IS NOT NULL), false)
		FROM locations WHERE regexp_replace(url, '^https?', '') = regexp_replace($1, '^https?', '') AND sha256=$2`, address, digest).Scan(&p.known, &p.current, &p.gone)
	require.NoError(t, err)
	return p
}

// accepted counts the added papers that were accepted.
func (l *library) accepted(t *testing.T, ms []mutation) (n int) {
	t.Helper()
	for _, m := range ms {
		if m.what != "added" {
			continue
		}
		d, _, err := l.DB.Document(t.Context(), m.new)
		require.NoError(t, err)
		if d.State == "accepted" {
			n++
		}
	}
	return n
}

func (l *library) requireFound(t *testing.T, ms []mutation) {
	t.Helper()
	for _, m := range ms {
		switch m.what {
		case "added":
			require.Equal(t, place{known: true, current: true}, l.at(t, m.url, m.new), "%+v", m)
		case "changed":
			require.Equal(t, place{known: true, current: true}, l.at(t, m.url, m.new), "%+v", m)
			require.Equal(t, place{known: true}, l.at(t, m.url, m.old), "%+v", m)
		case "moved":
			require.Equal(t, place{known: true, current: true}, l.at(t, m.to, m.old), "%+v", m)
			require.Equal(t, place{known: true, gone: true}, l.at(t, m.url, m.old), "%+v", m)
		case "removed":
			require.Equal(t, place{known: true, gone: true}, l.at(t, m.url, m.old), "%+v", m)
			_, err := l.Repo.Read(t.Context(), m.old)
			require.NoError(t, err, "%+v", m)
		}
	}
}

func TestSecondHarvestFindsWhatChanged(t *testing.T) {
	t.Parallel()
	l := newHarvested(t)
	first, requests := harvested.bytes, harvested.requests
	changed := l.mutate(t)
	require.Len(t, changed, 20)
	checkVanished := l.vanish(t)
	l.collect(t, activities.AgainAll)
	second, again := l.web.reset()
	t.Logf("first harvest %d bytes in %d requests, second %d bytes in %d requests: %.1f %%", first, requests, second, again, 100*float64(second)/float64(first))
	l.requireFound(t, changed)
	checkVanished()
	require.Equal(t, 6, l.accepted(t, changed))
	// The new files alone are more than a tenth of this small web's bytes.
	require.Less(t, float64(second), 0.3*float64(first))

	// What is neither due nor asked for by hand is left alone.
	l.collect(t, activities.AgainDue)
	_, none := l.web.reset()
	require.Less(t, none, again/4)
}

func TestRecrawlAsksWhatIsDue(t *testing.T) {
	t.Parallel()
	l := newHarvested(t)
	recrawl := func(all bool) []string {
		due, _ := l.recrawl(t, store.Selection{Venue: l.harvest.Venue}, all)
		return due
	}
	require.Empty(t, recrawl(false), "nothing is due on the day of the crawl")
	_, requests := l.web.reset()
	require.Zero(t, requests)

	// Sixty days on pages are due, documents are not.
	l.later(t, "60 days")
	require.NotEmpty(t, recrawl(false))
	n, requests := l.web.reset()
	require.Positive(t, requests)
	var pages, documents int
	err := l.DB.Pool.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE state=1), count(*) FILTER (WHERE state=2) FROM urls WHERE outcome='not-modified'`).Scan(&pages, &documents)
	require.NoError(t, err)
	require.Positive(t, pages)
	require.Zero(t, documents)
	t.Logf("%d pages asked again in %d requests and %d bytes", pages, requests, n)

	// What was unchanged waits longer: 1.4 times.
	longest := storetest.Get[float64](t, l.DB.Pool,
		`SELECT max(interval_s)/86400.0 FROM urls WHERE state=1 AND outcome='not-modified'`)
	require.InDelta(t, 1.4*14, longest, 0.1)
}

// later makes all times of the record older, as if the given time had passed.
func (l *library) later(t *testing.T, by string) {
	t.Helper()
	_, err := l.DB.Pool.Exec(context.WithoutCancel(t.Context()), `UPDATE urls SET due_at=due_at - $1::interval, fetched_at=fetched_at - $1::interval`, by)
	require.NoError(t, err)
	storetest.Exec(t, l.DB.Pool, `UPDATE sites SET due_at=due_at - $1::interval, crawl_started=crawl_started - $1::interval, crawl_finished=crawl_finished - $1::interval,
		next_allowed_at=next_allowed_at - $1::interval`, by)
	storetest.Exec(t, l.DB.Pool, `DELETE FROM page_cache`)
}
