package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/lab/memory"
	"gleaner/internal/library/collection"
	"gleaner/internal/match"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// inMemory is the Source, the Recorder and the Judge of a crawl of a random web. Some
// writes are repeated, as after a commit of which the answer was lost.
type inMemory struct {
	*memory.Frontier
	web    *randomWeb
	rnd    *rand.Rand
	paced  bool
	states map[string]frontier.State
}

func (*inMemory) Ready(context.Context) error                { return nil }
func (*inMemory) Sitemaps(context.Context) ([]string, error) { return nil, nil }
func (m *inMemory) Paced() bool                              { return m.paced }

func (m *inMemory) Ask(ctx context.Context, e *frontier.Entry, known func(string) bool) (*Answer, error) {
	resp, err := m.web.Fetch(ctx, fetch.Request{URL: e.Link.URL, Known: known})
	if err != nil {
		return nil, err
	}
	return &Answer{Response: resp}, nil
}

func (m *inMemory) Write(_ context.Context, w store.SliceWrite) (frontier.Written, error) {
	for i := range w.Visits {
		m.states[w.Visits[i].Entry.Link.URL] = w.Visits[i].State
	}
	for i := range w.Aliases {
		if url := w.Aliases[i].Link.URL; m.states[url] == frontier.Waiting {
			m.states[url] = frontier.Moved
		}
	}
	out := m.Frontier.Write(w.Batch)
	if m.rnd != nil && m.rnd.IntN(8) == 0 {
		out = m.Frontier.Write(w.Batch)
		out.Repeated = true
	}
	return out, nil
}

func (*inMemory) Keep(_ context.Context, f collection.File) (*collection.Kept, error) {
	return &collection.Kept{Documents: []collection.Document{{SHA256: f.URL}}}, nil
}

func (*inMemory) Judge(context.Context, collection.Document) (Verdict, error) {
	return Verdict{Accepted: true}, nil
}

func (*inMemory) KeepPage(context.Context, collection.File, []string, string) (v Verdict, is bool, err error) {
	return v, false, nil
}

// randomCrawl sets up a crawl of a random web. It returns the most requests that
// the death of a process may repeat: what was not written.
func randomCrawl(rnd *rand.Rand) (cfg Config, unwritten int) {
	cfg = Defaults()
	cfg.Leads, cfg.TrapPages, cfg.MaxDepth, cfg.RetryBase = "none", 0, 1000, time.Nanosecond
	cfg.Window, cfg.KnownURLs, cfg.Batch = 4<<rnd.IntN(8), 10<<rnd.IntN(10), 1<<rnd.IntN(6)
	cfg.SlicePages = 10 + rnd.IntN(200)
	cfg.Strategy = []string{rank.BreadthFirst, "zhuang", "gleaner"}[rnd.IntN(3)]
	return cfg, 2 * cfg.Batch // each answer may be the end of a redirect
}

// slices crawls a random web slice by slice. Of every few slices one dies over a
// request, unless unwritten is 0. It returns how many requests these deaths excuse: what was not written, and
// of a slice after a death one answer.
func (w *randomWeb) slices(t *testing.T, rnd *rand.Rand, unwritten int, slice func(careful bool) Result) (excused int) {
	t.Helper()
	careful := false
	for deaths := 0; ; {
		w.killAt = 0
		if unwritten > 0 && deaths < 6 && rnd.IntN(2) == 0 {
			w.killAt = w.asked + 1 + rnd.IntN(40)
		}
		var r Result
		before := w.asked
		if dies(func() { r = slice(careful) }) {
			deaths++
			excused += min(w.asked-before, map[bool]int{false: unwritten, true: 2}[careful])
			careful = true
			continue
		}
		careful = false
		if r.Ending != SliceFull && r.Ending != Waiting {
			require.Equal(t, Exhausted, r.Ending, r.Reason)
			return excused
		}
	}
}

// TestEveryURLOfARandomWeb ends with a named outcome, in scope and asked for once,
// whatever is redirected, repeated or missing, however little of what waits is in the
// window, and wherever the process dies.
func TestEveryURLOfARandomWeb(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		cfg, unwritten := randomCrawl(rnd)
		n := 1 + rnd.IntN(400)
		wide := rnd.IntN(n)
		if seed == 0 { // more than twice the window of the program waits
			n, wide, cfg.Window, cfg.SlicePages = 3000, 1500, Defaults().Window, 2000
		}
		w := newRandomWeb(rnd, n, wide)
		m := &inMemory{Frontier: memory.NewFrontier(), web: w, rnd: rnd, paced: rnd.IntN(4) == 0, states: map[string]frontier.State{}}
		if m.paced {
			unwritten = 2
		}
		m.Add([]frontier.Entry{w.seed()})
		excused := w.slices(t, rnd, unwritten, func(careful bool) Result {
			site := Site{Host: randomHost, Crawl: 1, Scopes: []string{"/a/"}, Wanted: match.NewIndex(nil), Careful: careful}
			s, err := rank.New(cfg.Strategy, cfg.Rank)
			require.NoError(t, err)
			r, err := Run(t.Context(), site, cfg, Parts{Source: m, Recorder: m, Judge: m, Strategy: s, Log: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			return r
		})
		left, _, _ := m.Window(t.Context(), 1<<20)
		require.Empty(t, left, "seed %d", seed)
		require.NoError(t, w.wrong(m.states, 1, excused), "seed %d, window %d, batch %d", seed, cfg.Window, cfg.Batch)
	}
}

// TestEveryURLOfARandomWebInPostgres is the same over the record of the program, where
// what failed is tried again.
func TestEveryURLOfARandomWebInPostgres(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seed, seeds := uint64(0), uint64(6)
	if testing.Short() {
		seed, seeds = 2, 5 // the large webs are TestEveryURLOfARandomWeb's
	}
	for ; seed < seeds; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 2))
		cfg, unwritten := randomCrawl(rnd)
		n := 1 + rnd.IntN(150)
		wide := rnd.IntN(n)
		switch seed {
		case 0: // one slice, more than twice the window of the program
			n, wide, unwritten = 1100, 1100, 0
			cfg.Window, cfg.SlicePages, cfg.Batch, cfg.MaxTries = Defaults().Window, 5000, 64, 1
		case 1: // much is unwritten
			n, wide, unwritten = 300, 150, 128
			cfg.Window, cfg.SlicePages, cfg.Batch = 512, 5000, 64
		}
		web := newRandomWeb(rnd, n, wide)
		storetest.Exec(t, w.db.Pool, `TRUNCATE sites CASCADE`)
		w.seed(t, randomHost, "/a/", "/a/")
		w.cfg = cfg
		excused := web.slices(t, rnd, unwritten, func(bool) Result {
			w.hurry(t, randomHost)
			return sliced(t, w.crawler(web), randomHost)
		})
		states := storetest.Map[string, frontier.State](t, w.db.Pool,
			`SELECT url, urls.state FROM urls JOIN sites ON sites.id=site_id WHERE host=$1`, randomHost)
		require.NoError(t, web.wrong(states, cfg.MaxTries, excused), "seed %d, window %d, batch %d", seed, cfg.Window, cfg.Batch)
	}
}

// TestBetterLinksDoNotWait: of a site with more links than the window holds, those
// nearest to the start are asked for first, though pages in the window lead deeper.
func TestBetterLinksDoNotWait(t *testing.T) {
	t.Parallel()
	const chains, length = 64, 8
	web := &randomWeb{pages: map[string]*node{}, hits: map[string]int{}, start: "http://" + randomHost + "/a/"}
	url := func(chain, depth int) string { return fmt.Sprintf("http://%s/a/%d/%d", randomHost, chain, depth) }
	web.pages[web.start] = &node{}
	for c := range chains {
		web.pages[web.start].links = append(web.pages[web.start].links, url(c, 1))
		for d := 1; d < length; d++ {
			web.pages[url(c, d)] = &node{links: []string{url(c, d+1)}}
		}
		web.pages[url(c, length)] = &node{}
	}
	m := &inMemory{Frontier: memory.NewFrontier(), web: web, paced: true, states: map[string]frontier.State{}}
	m.Add([]frontier.Entry{web.seed()})
	cfg := Defaults()
	s, err := rank.New(rank.BreadthFirst, cfg.Rank)
	require.NoError(t, err)
	cfg.Window, cfg.SlicePages, cfg.TrapPages = 16, 1+chains+16, 0
	_, err = Run(t.Context(), Site{Host: randomHost, Crawl: 1, Scopes: []string{"/a/"}, Wanted: match.NewIndex(nil)}, cfg,
		Parts{Source: m, Recorder: m, Judge: m, Strategy: s, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	for c := range chains {
		require.Equal(t, 1, web.hits[url(c, 1)], "chain %d", c)
	}
}

// kind is what a URL of a random web answers.
type kind int

const (
	aPage kind = iota
	aPDF
	aCopy     // a page with the same bytes as others
	aRedirect // to a page or a PDF of the site
	anAway    // a redirect to another host
	aMissing  // 404
	aDenied   // by robots.txt
	aFailing  // 500 at each request
	kinds
)

type node struct {
	kind  kind
	to    string
	links []string
}

// randomWeb is a site of one host, a Fetcher of it, and the count of requests.
type randomWeb struct {
	pages map[string]*node
	start string

	mu     sync.Mutex
	hits   map[string]int
	asked  int
	killAt int // the request over which the process dies; 0 for none
}

const randomHost = "web.test"

// newRandomWeb makes a web of n URLs in scope (/a/), each of which a page that is
// followed links to. The first page has the first wide of them; where these are all,
// no page repeats a link.
func newRandomWeb(rnd *rand.Rand, n, wide int) *randomWeb {
	w := &randomWeb{pages: map[string]*node{}, hits: map[string]int{}, start: "http://" + randomHost + "/a/"}
	followed, targets := []*node{{}}, []string{}
	w.pages[w.start] = followed[0]
	for i := range n - 1 {
		k := aPage
		if i%3 == 0 {
			k = kind(rnd.IntN(int(kinds)))
		}
		if k == aRedirect && len(targets) == 0 {
			k = aPage
		}
		url := fmt.Sprintf("http://%s/a/%d/%d%s", randomHost, i/1000, i, map[kind]string{aPDF: ".pdf"}[k])
		at := &node{kind: k}
		switch k {
		case aRedirect:
			at.to = targets[rnd.IntN(len(targets))]
		case anAway:
			at.to = fmt.Sprintf("http://away.test/%d", i)
		}
		from := followed[0]
		if i >= wide {
			from = followed[rnd.IntN(len(followed)/2+1)]
		}
		from.links = append(from.links, url)
		w.pages[url] = at
		switch k {
		case aPage:
			followed, targets = append(followed, at), append(targets, url)
		case aPDF:
			targets = append(targets, url)
		}
	}
	for _, p := range followed[:min(n-wide, len(followed))] { // links that repeat, and links that are not to be followed
		for range rnd.IntN(3) {
			if len(targets) > 0 {
				p.links = append(p.links, targets[rnd.IntN(len(targets))]+"#part")
			}
			p.links = append(p.links, fmt.Sprintf("http://%s/b/%d", randomHost, rnd.IntN(9)), w.start)
		}
		rnd.Shuffle(len(p.links), func(i, j int) { p.links[i], p.links[j] = p.links[j], p.links[i] })
	}
	return w
}

func (w *randomWeb) hit(url string) {
	w.mu.Lock()
	w.hits[url]++
	w.asked++
	dies := w.asked == w.killAt
	w.mu.Unlock()
	if dies {
		runtime.Goexit()
	}
}

func (w *randomWeb) Fetch(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	url, at := r.URL, w.pages[r.URL]
	if at != nil && at.kind == aDenied {
		return nil, &fetch.Error{Outcome: fetch.RobotsDenied, URL: url}
	}
	w.hit(url)
	if at != nil && at.kind == anAway {
		return nil, &fetch.Error{Outcome: fetch.RedirectOffHost, URL: url, Location: at.to, Status: http.StatusFound}
	}
	if at != nil && at.kind == aRedirect {
		if r.Known(at.to) {
			return nil, &fetch.Error{Outcome: fetch.RedirectKnown, URL: url, Location: at.to, Status: http.StatusFound}
		}
		url, at = at.to, w.pages[at.to]
		w.hit(url)
	}
	body, media := "", "text/html; charset=utf-8"
	switch {
	case at == nil || at.kind == aMissing:
		return nil, &fetch.Error{Outcome: fetch.NotFound, URL: url, Status: http.StatusNotFound}
	case at.kind == aFailing:
		return nil, &fetch.Error{Outcome: fetch.ServerError, URL: url, Status: http.StatusInternalServerError}
	case at.kind == aPDF:
		body, media = "%PDF-1.4\n"+url, "application/pdf"
	case at.kind == aCopy:
		body = "<title>A copy</title>"
	default:
		body = "<title>Page</title><p>" + url + links(at.links...) + `<a rel=nofollow href="/a/secret">x</a>`
	}
	return &fetch.Response{URL: url, Status: http.StatusOK, Header: http.Header{"Content-Type": {media}}, Body: []byte(body), Bytes: int64(len(body))}, nil
}

func (*randomWeb) Sitemaps(context.Context, string, fetch.Terms) ([]string, error) { return nil, nil }

// wrong says what is wrong with the end of a crawl: of each URL what became of it,
// and how often it may have been asked for at most. repeats is how many requests
// beyond that crashes excuse.
func (w *randomWeb) wrong(states map[string]frontier.State, tries, repeats int) error {
	var errs []error
	for url, at := range w.pages {
		state, known := states[url]
		right := map[kind][]frontier.State{
			aPage: {frontier.Page, frontier.Moved}, aPDF: {frontier.Document, frontier.Moved}, aCopy: {frontier.Page},
			aRedirect: {frontier.Page, frontier.Document, frontier.Moved}, anAway: {frontier.Moved},
			aMissing: {frontier.Gone}, aDenied: {frontier.Gone}, aFailing: {frontier.Failed},
		}[at.kind]
		if !known || !strings.Contains(fmt.Sprint(right), fmt.Sprint(state)) {
			errs = append(errs, fmt.Errorf("%s (%d) has state %d, known: %v", url, at.kind, state, known))
		}
		want := map[kind]int{aDenied: 0, aFailing: tries}
		times, ok := want[at.kind]
		if !ok {
			times = 1
		}
		if w.hits[url] < times {
			errs = append(errs, fmt.Errorf("%s was asked for %d times, not %d", url, w.hits[url], times))
		}
		repeats -= w.hits[url] - times
	}
	for url, n := range w.hits {
		if w.pages[url] == nil {
			errs = append(errs, fmt.Errorf("%s is out of scope and was asked for %d times", url, n))
		}
	}
	if repeats < 0 {
		errs = append(errs, fmt.Errorf("%d requests were repeated that no crash excuses", -repeats))
	}
	return errors.Join(errs...)
}

func (w *randomWeb) seed() frontier.Entry {
	return frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: w.start, Source: page.SourceSeed}, Queue: 3, Priority: 1}}
}
