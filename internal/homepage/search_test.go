package homepage

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/guard"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// turns is a gate that counts and never waits.
type turns struct {
	host   string
	visits []fetch.Visit
}

func (g *turns) Turn(_ context.Context, host string, _ time.Duration) (func(fetch.Visit), error) {
	g.host = host
	return func(v fetch.Visit) { g.visits = append(g.visits, v) }, nil
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// all are the engines at one address, of which two have a key.
func all(s *httptest.Server, base, key string) []Searcher {
	by := Service{Client: s.Client()}
	return []Searcher{NewSearXNG(s.URL+base, by), NewBrave(s.URL+base, key, by), NewSerper(s.URL+base, key, by)}
}

func TestSearXNG(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/search", r.URL.Path)
		assert.Equal(t, "json", r.URL.Query().Get("format"))
		assert.Equal(t, "jane doe", r.URL.Query().Get("q"))
		page := r.URL.Query().Get("pageno")
		if page == "3" {
			_, _ = io.WriteString(w, `{"results":[]}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"query":"x","results":[{"url":"http://a.org/%[1]s","title":"A &amp; <b>B</b>","content":"c"},{"url":"http://b.org/","title":"B","content":"d"}],"unresponsive_engines":[["bing","timeout"]]}`, page)
	})
	g := &turns{}
	got, err := NewSearXNG(s.URL+"/", Service{Client: s.Client(), Gate: g}).Search(t.Context(), "jane doe", 10)
	require.NoError(t, err)
	assert.Equal(t, []evidence.Result{
		{URL: "http://a.org/1", Title: "A & B", Snippet: "c", Provider: "searxng", Rank: 1},
		{URL: "http://b.org/", Title: "B", Snippet: "d", Provider: "searxng", Rank: 2},
		{URL: "http://a.org/2", Title: "A & B", Snippet: "c", Provider: "searxng", Rank: 3},
	}, got)
	assert.Len(t, g.visits, 3)
	assert.Equal(t, s.Listener.Addr().String(), g.host)
}

func TestSearXNGRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		body   string
		want   error
		after  time.Duration
	}{
		"json switched off": {403, "", errForbidden, 0},
		"too many":          {429, "", errBusy, 7 * time.Second},
		"silent engines":    {200, `{"results":[],"unresponsive_engines":[["google","CAPTCHA"]]}`, errBusy, 0},
		"not json":          {200, `<html>`, nil, 0},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(tc.status)
			_, _ = io.WriteString(w, tc.body)
		})
		_, err := NewSearXNG(s.URL, Service{Client: s.Client()}).Search(t.Context(), "q", 10)
		require.Error(t, err, name)
		if tc.want != nil {
			require.ErrorIs(t, err, tc.want, name)
		}
		var se *SearchError
		require.ErrorAs(t, err, &se, name)
		assert.Equal(t, tc.after, se.RetryAfter, name)
	}
}

func TestKeyedEngines(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			assert.Equal(t, "/res/v1/web/search", r.URL.Path)
			assert.Equal(t, "k", r.Header.Get("X-Subscription-Token"))
			assert.Equal(t, "10", r.URL.Query().Get("count"))
			_, _ = io.WriteString(w, `{"web":{"results":[{"title":"T","url":"http://a.org/","description":"D"}]}}`)
			return
		}
		assert.Equal(t, "k", r.Header.Get("X-API-KEY"))
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.JSONEq(t, `{"q":"q","num":10}`, string(body))
		_, _ = io.WriteString(w, `{"organic":[{"title":"T","link":"http://a.org/","snippet":"D","position":1}]}`)
	})
	for i, name := range []string{"brave", "serper"} {
		got, err := all(s, "", "k")[i+1].Search(t.Context(), "q", 10)
		require.NoError(t, err)
		assert.Equal(t, []evidence.Result{{URL: "http://a.org/", Title: "T", Snippet: "D", Provider: name, Rank: 1}}, got)
		_, err = all(s, "", "")[i+1].Search(t.Context(), "q", 10)
		require.ErrorIs(t, err, errNoKey)
	}
}

// TestTheFirst200 of a search come page by page, of every engine; each three pages are one
// search of the budget, and what came before it was used up is given.
func TestTheFirst200(t *testing.T) {
	t.Parallel()
	size, known := 10, 500
	results := func(from int) (out []map[string]any) {
		for i := from; i < min(from+size, known); i++ {
			at := fmt.Sprintf("http://r%d.example/", i)
			out = append(out, map[string]any{"url": at, "link": at})
		}
		return out
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var answer any
		switch {
		case r.Method == http.MethodPost:
			var body struct{ Page, Num int }
			assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
			assert.Equal(t, size, body.Num)
			answer = map[string]any{"organic": results(size * max(body.Page-1, 0))}
		case r.URL.Query().Has("offset"):
			offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
			assert.Less(t, offset, 10, "Brave has no more pages")
			answer = map[string]any{"web": map[string]any{"results": results(size * offset)}}
		default:
			page, _ := strconv.Atoi(r.URL.Query().Get("pageno"))
			answer = map[string]any{"results": results(size * (page - 1))}
		}
		assert.NoError(t, json.NewEncoder(w).Encode(answer))
	})
	engines := all(s, "", "k")
	for i, e := range []struct{ size, spent int }{{10, 7}, {20, 4}, {100, 1}} {
		size = e.size
		c := Cached(engines[i], newMemoryCache(), Budget{})
		got, err := c.Search(t.Context(), "q", 200)
		require.NoError(t, err)
		require.Len(t, got, 200, c.Name())
		require.Equal(t, "http://r199.example/", got[199].URL)
		spent, _, _, err := c.Usage(t.Context())
		require.NoError(t, err)
		require.Equal(t, e.spent, spent, c.Name())
	}
	size, known = 10, 35
	got, err := engines[0].Search(t.Context(), "q", 200)
	require.NoError(t, err)
	require.Len(t, got, 35, "it knows no more")
	known = 500
	got, err = Cached(engines[0], newMemoryCache(), Budget{Limit: 2}).Search(t.Context(), "q", 200)
	require.ErrorIs(t, err, errBudget)
	require.Len(t, got, 60)
}

// counted answers every query and counts.
type counted struct{ n atomic.Int64 }

func (c *counted) Name() string { return "counted" }
func (c *counted) Search(ctx context.Context, q string, _ int) ([]evidence.Result, error) {
	if err := pay(ctx); err != nil {
		return nil, err
	}
	c.n.Add(1)
	return []evidence.Result{{URL: "http://" + q + ".org/"}}, nil
}

func TestCachedKeepsAnswersAndBudget(t *testing.T) {
	t.Parallel()
	inner, cache := &counted{}, newMemoryCache()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	c := Cached(inner, cache, Budget{Limit: 2, Period: 24 * time.Hour, MaxAge: 48 * time.Hour, Now: func() time.Time { return now }})
	ask := func(q string) error { _, err := c.Search(t.Context(), q, 10); return err }

	require.NoError(t, ask("a"))
	require.NoError(t, ask("a"))
	require.NoError(t, ask("b"))
	assert.EqualValues(t, 2, inner.n.Load(), "a repeated query costs nothing")
	require.ErrorIs(t, ask("c"), errBudget)
	assert.EqualValues(t, 2, inner.n.Load())
	spent, limit, until, err := c.Usage(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 2, spent)
	assert.Equal(t, 2, limit)
	assert.Equal(t, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), until)

	now = now.Add(24 * time.Hour) // a new day, a new budget
	require.NoError(t, ask("c"))
	require.NoError(t, ask("d"))
	now = now.Add(25 * time.Hour) // a's answer is too old
	require.NoError(t, ask("a"))
	assert.EqualValues(t, 5, inner.n.Load())
	require.NoError(t, ask("e"))
	require.NoError(t, ask("b"), "an old answer is better than none when the budget is used up")
	assert.EqualValues(t, 6, inner.n.Load())
}

func TestCachedBudgetUnderLoad(t *testing.T) {
	t.Parallel()
	inner := &counted{}
	c := Cached(inner, newMemoryCache(), Budget{Limit: 10})
	done := make(chan struct{})
	for i := range 40 {
		go func() {
			_, _ = c.Search(context.Background(), fmt.Sprint("q", i), 10)
			done <- struct{}{}
		}()
	}
	for range 40 {
		<-done
	}
	assert.EqualValues(t, 10, inner.n.Load())
}

func TestFirstAnswer(t *testing.T) {
	t.Parallel()
	broken := NewBrave("http://127.0.0.1:0", "", Service{})
	inner := &counted{}
	got, err := FirstAnswer(broken, inner).Search(t.Context(), "q", 3)
	require.ErrorIs(t, err, errNoKey, "the first answer is missing")
	assert.Len(t, got, 1)
	got, err = FirstAnswer(inner, broken).Search(t.Context(), "q", 3)
	require.NoError(t, err, "the second was not asked")
	assert.Len(t, got, 1)
	_, err = FirstAnswer(broken, broken).Search(t.Context(), "q", 3)
	require.ErrorIs(t, err, errNoKey)
	_, err = FirstAnswer(broken, NewLocal(emptyIndex{})).Search(t.Context(), "q", 3)
	require.ErrorIs(t, err, errNoKey, "an empty index is no answer in the place of one that failed")
}

// listing is a searcher that knows some addresses.
type listing struct {
	name string
	urls []string
	err  error
}

func (l listing) Name() string { return l.name }

func (l listing) Search(_ context.Context, _ string, n int) (out []evidence.Result, err error) {
	for i, u := range l.urls[:min(n, len(l.urls))] {
		out = append(out, evidence.Result{URL: u, Provider: l.name, Rank: i + 1})
	}
	return out, l.err
}

// panicking is an engine of whose answers nobody thought.
type panicking struct{ Searcher }

func (panicking) Search(context.Context, string, int) ([]evidence.Result, error) {
	panic("an answer of which nobody thought")
}

// TestMerged: the engines take turns, what both know is one, and one that is down loses
// nothing of the other's.
func TestMerged(t *testing.T) {
	t.Parallel()
	a := listing{"a", []string{"http://x.example/", "http://y.example/", "http://z.example/"}, nil}
	b := listing{"b", []string{"http://y.example", "http://v.example/"}, nil}
	down := listing{"down", nil, &SearchError{Provider: "down", Status: 503, Err: errBusy}}
	refused := listing{"refused", nil, &SearchError{Provider: "refused", Err: errNoKey}}
	urls := func(n int, all ...Searcher) (out []string, err error) {
		rs, err := Merged(all...).Search(t.Context(), "q", n)
		for _, r := range rs {
			out = append(out, r.URL)
		}
		return out, err
	}
	both := []string{"http://x.example/", "http://y.example", "http://v.example/", "http://z.example/"}
	got, err := urls(9, a, b)
	require.NoError(t, err)
	require.Equal(t, both, got)
	got, err = urls(9, a, listing{"loud", []string{"HTTP://X.example:80/#top", "http://w.example/"}, nil})
	require.NoError(t, err)
	require.Equal(t, []string{"http://x.example/", "http://y.example/", "http://w.example/", "http://z.example/"}, got, "however they spell it")
	got, err = urls(3, refused, a, b)
	require.NoError(t, err, "nobody waits for a key")
	require.Equal(t, both[:3], got)
	got, err = urls(9, a, down)
	require.ErrorIs(t, err, errBusy, "it is asked again")
	require.Equal(t, a.urls, got)
	_, err = urls(9, refused, refused)
	require.ErrorIs(t, err, errNoKey)
	got, err = urls(9, a, panicking{a})
	require.True(t, guard.Panicked(err))
	require.Equal(t, a.urls, got, "and over whose answer one panics is down")
	require.Equal(t, "a,b", Merged(a, b).Name())
	require.Nil(t, Engines(nil).Searcher())
}

// TestAnEngineThatIsOutAmongOthers is said where the others know nothing, is waited for
// no longer than they are, and is no reason to give up where another may yet answer.
func TestAnEngineThatIsOutAmongOthers(t *testing.T) {
	t.Parallel()
	used := listing{"used", nil, &SearchError{Provider: "used", RetryAfter: 20 * 24 * time.Hour, Err: errBudget}}
	busy := listing{"busy", nil, &SearchError{Provider: "busy", Status: 503, RetryAfter: time.Minute, Err: errBusy}}
	none, some := listing{"none", nil, nil}, listing{"some", []string{"http://x.example/"}, nil}
	ask := func(all ...Searcher) error { _, err := Merged(all...).Search(t.Context(), "q", 9); return err }
	require.NoError(t, ask(used, some))
	require.ErrorIs(t, ask(used, none), errBudget, "that another knows nothing is no answer in its place")
	for _, err := range []error{ask(used, busy), ask(busy, used)} {
		var answer interface{ Refused() bool }
		require.ErrorAs(t, err, &answer)
		require.False(t, answer.Refused(), "one of them answers in a minute")
		require.Equal(t, time.Minute, unansweredSearch("q", err).RetryAfter)
		require.ErrorIs(t, err, errBudget)
		require.ErrorIs(t, err, errBusy)
	}
	var answer interface{ Refused() bool }
	require.ErrorAs(t, ask(used, used), &answer)
	require.True(t, answer.Refused())

	ada := Subject{Author: gleaner.Author{PID: "1", Name: "Ada Alda"}, Venue: []string{"X"}}
	d, err := New(Config{Searcher: Merged(busy, some), Getter: pagesByError{errNoPage}}).find(t.Context(), ada)
	require.NoError(t, err)
	require.Equal(t, evidence.SearchFailed, d.NotFound, "one did answer")
	require.NotEmpty(t, d.Unanswered)
}

// The second page of an answer fails: the first is not lost, and is not kept as
// if it were the whole.
func TestAPartOfAnAnswer(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	down.Store(true)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		page := r.URL.Query().Get("pageno")
		if page != "1" && down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(w, `{"results":[{"url":"http://a.org/%s","title":"A"}]}`, page)
	})
	c := Cached(NewSearXNG(s.URL, Service{Client: s.Client()}), newMemoryCache(), Budget{})
	got, err := c.Search(t.Context(), "q", 10)
	require.ErrorIs(t, err, errBusy)
	require.Len(t, got, 1)
	assert.Equal(t, "http://a.org/1", got[0].URL)
	down.Store(false)
	got, err = c.Search(t.Context(), "q", 10)
	require.NoError(t, err)
	assert.Len(t, got, 3)
}

// A search engine that sends on to another host gets nobody's key there.
func TestSearchKeysStayWithTheirHost(t *testing.T) {
	t.Parallel()
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the other host was asked") })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		// The server repeats what it was sent, in letters of its own.
		http.Redirect(w, r, other.URL+"/login/echoed-key/?again=echoed-query", http.StatusTemporaryRedirect)
	})
	for _, p := range all(s, "", "secret") {
		_, err := p.Search(t.Context(), "q", 10)
		require.ErrorIs(t, err, errForbidden, p.Name())
		require.ErrorContains(t, err, "redirects", p.Name())
		require.ErrorContains(t, err, other.Listener.Addr().String(), p.Name())
		assert.NotContains(t, err.Error(), "secret", p.Name())
		assert.NotContains(t, err.Error(), "echoed", p.Name())
	}
}

// Whatever an engine answers, and where it repeats what it was asked, its key is in
// no error.
func TestSearchKeysStaySecret(t *testing.T) {
	t.Parallel()
	const key = "mark-of-the-key"
	asked := func(r *http.Request) string { return r.Header.Get("X-Subscription-Token") + r.Header.Get("X-API-KEY") }
	for _, status := range []int{200, 302, 400, 401, 402, 403, 404, 422, 429, 500, 503} {
		for _, form := range []string{"%s", `{"web":{"results":"%s"},"organic":"%[1]s"}`, `{"web":"%s","organic":{"%[1]s":1}}`} {
			met := ""
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				met = asked(r)
				w.Header().Set("Location", "/"+met)
				w.Header().Set("Retry-After", met)
				w.WriteHeader(status)
				_, _ = fmt.Fprintf(w, form, met)
			})
			for _, p := range all(s, "", key)[1:] {
				_, err := p.Search(t.Context(), "q", 10)
				require.Error(t, err, "%s %d", p.Name(), status)
				assert.Equal(t, key, met, "there was nothing to hide")
				assert.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), key, "%s %d", p.Name(), status)
			}
		}
	}
}

// Where no answer comes, or one that cannot be read, the error tells the host and
// not the address: what was searched for, and what a server makes of a key.
func TestSearchErrorsNameTheHostAlone(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a strange place": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://[echoed-key/")
			w.WriteHeader(302)
		},
		"another path": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/echoed-key")
			w.WriteHeader(302)
		},
	} {
		s := serve(t, answer)
		for _, p := range all(s, "/base", "secret") {
			_, err := p.Search(t.Context(), "sought-words", 10)
			var se *SearchError
			require.ErrorAs(t, err, &se, name)
			for _, hidden := range []string{"secret", "echoed", "sought", "/base"} {
				assert.NotContains(t, err.Error(), hidden, "%s: %s", name, p.Name())
			}
		}
	}
}

// waits is a gate that grants no turn until the caller gives up.
type waits struct{ asked chan struct{} }

func (g waits) Turn(ctx context.Context, _ string, _ time.Duration) (func(fetch.Visit), error) {
	g.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// A search whose turn did not come, since its caller gave up, costs nothing.
func TestACancelledWaitCostsNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"results":[{"url":"http://a.org/"}]}`)
	})
	cache, gate := newMemoryCache(), waits{make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-gate.asked; cancel() }()
	c := Cached(NewSearXNG(s.URL, Service{Client: s.Client(), Gate: gate}), cache, Budget{Limit: 1})
	_, err := c.Search(ctx, "q", 1)
	require.ErrorIs(t, err, context.Canceled)
	spent, _, _, err := c.Usage(t.Context())
	require.NoError(t, err)
	require.Zero(t, spent)

	turns := &turns{}
	c = Cached(NewSearXNG(s.URL, Service{Client: s.Client(), Gate: turns}), cache, Budget{Limit: 1})
	_, err = c.Search(t.Context(), "q", 10)
	require.NoError(t, err)
	spent, _, _, err = c.Usage(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, spent, "one search, of however many pages")
	asked := len(turns.visits)
	_, err = c.Search(t.Context(), "another", 10)
	require.ErrorIs(t, err, errBudget)
	require.Len(t, turns.visits, asked, "no turn is taken for what cannot be paid")
}

// emptyIndex knows no page.
type emptyIndex struct{}

func (emptyIndex) SearchPages(context.Context, []string, int) ([]evidence.Result, error) {
	return nil, nil
}
