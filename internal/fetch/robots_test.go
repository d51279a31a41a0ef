package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch/robots"
	"gleaner/internal/gleaner"
)

// robotsSite answers /robots.txt by the handler and any page with "ok".
func robotsSite(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/robots") {
			asked.Add(1)
			handler(w, r)
			return
		}
		_, _ = w.Write([]byte("ok"))
	}))
	t.Cleanup(s.Close)
	return s, &asked
}

// saying answers with a text.
func saying(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

func TestRobotsAnswers(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	stairs := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if at := strings.Count(r.URL.Path, "x"); at-1 < n { // "robots.txt" has one itself
				http.Redirect(w, r, "/robotsx"+strings.Repeat("x", at), http.StatusFound)
				return
			}
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /no"))
		}
	}
	elsewhere, _ := robotsSite(t, saying("User-agent: *\nDisallow: /no"))
	tests := []struct {
		name    string
		handler http.HandlerFunc
		yes, no gleaner.Outcome // of /yes and /no
	}{
		{"none", status(404), gleaner.OK, gleaner.OK},
		{"forbidden", status(403), gleaner.OK, gleaner.OK},
		{"log in", status(401), gleaner.OK, gleaner.OK},
		{"server error", status(500), RobotsUnavailable, RobotsUnavailable},
		{"busy", status(503), RobotsUnavailable, RobotsUnavailable},
		{"too many requests", status(429), RobotsUnavailable, RobotsUnavailable},
		{"empty", saying(""), gleaner.OK, gleaner.OK},
		{"everybody", saying("User-agent: *\nDisallow: /no\n"), gleaner.OK, RobotsDenied},
		{"us by name", saying("User-agent: gleaner/1.0\nDisallow: /no\nUser-agent: *\nDisallow: /"),
			gleaner.OK, RobotsDenied},
		{"a web page", saying("<html><body>User-agent: *\nDisallow: /"), gleaner.OK, gleaner.OK},
		{"five redirects", stairs(5), gleaner.OK, RobotsDenied},
		{"six redirects", stairs(6), RobotsUnavailable, RobotsUnavailable},
		{"a loop", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/robots.txt", http.StatusMovedPermanently)
		}, RobotsUnavailable, RobotsUnavailable},
		{"redirect to another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/robots.txt", http.StatusMovedPermanently)
		}, gleaner.OK, RobotsDenied},
		{"redirect to a private network", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://10.0.0.1/robots.txt", http.StatusMovedPermanently)
		}, RobotsUnavailable, RobotsUnavailable},
		{"redirect without aim", status(302), RobotsUnavailable, RobotsUnavailable},
		{"dropped", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, RobotsUnavailable, RobotsUnavailable},
		{"cut", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5000")
			_, _ = w.Write([]byte("User-agent: *\nAllow: /\n"))
		}, RobotsUnavailable, RobotsUnavailable},
		{"never answers", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, RobotsUnavailable, RobotsUnavailable},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /no\n"))
			for r.Context().Err() == nil {
				if _, err := fmt.Fprintf(w, "Disallow: /%s\n", strings.Repeat("x", 80)); err != nil {
					return
				}
			}
		}, gleaner.OK, RobotsDenied},
		{"packed", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(pack(t, "gzip", []byte("User-agent: *\nDisallow: /no\n")))
		}, gleaner.OK, RobotsDenied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := robotsSite(t, tt.handler)
			c := testClient(t, nil)
			require.Equal(t, tt.yes, outcome(c, s.URL+"/yes"))
			require.Equal(t, tt.no, outcome(c, s.URL+"/no"))
		})
	}
}

// TestRobotsElsewhereAskRobotsThere: a host whose robots.txt is said to lie in
// another host's pages gets there what that host lets be read, and no more.
func TestRobotsElsewhereAskRobotsThere(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{}
	victim := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path]++
		if r.URL.Path == "/robots.txt" {
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /private/\n"))
			return
		}
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /no\n"))
	}))
	t.Cleanup(victim.Close)
	far, _ := robotsSite(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, victim.URL+"/private/far", http.StatusFound)
	})
	c := testClient(t, nil)
	for to, want := range map[string][2]gleaner.Outcome{
		victim.URL + "/rules.txt":      {gleaner.OK, RobotsDenied},
		victim.URL + "/private/1":      {RobotsUnavailable, RobotsUnavailable},
		victim.URL + "//private/2":     {RobotsUnavailable, RobotsUnavailable},
		far.URL + "/robots-of-liar":    {RobotsUnavailable, RobotsUnavailable},
		victim.URL + "/private/../r":   {gleaner.OK, RobotsDenied},
		victim.URL + "/%70rivate/3?x=": {RobotsUnavailable, RobotsUnavailable},
	} {
		s, _ := robotsSite(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
		for i, path := range []string{"/yes", "/no"} {
			require.Equal(t, want[i], outcome(c, s.URL+path), "%s %s", to, path)
		}
	}
	require.Equal(t, map[string]int{"/robots.txt": 1, "/rules.txt": 1, "/r": 1}, asked)
}

func TestRobotsAreCachedAndAskedAgain(t *testing.T) {
	t.Parallel()
	var code atomic.Int64
	code.Store(503)
	s, asked := robotsSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(code.Load()))
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /no\nSitemap: /map.xml\nSitemap: https://www.example.org/two.xml\n"))
	})
	clock := newFakeClock()
	cache := newMemoryRobots(10)
	pacing := Pacing{Unpaced: true, BackoffBase: time.Minute, BackoffMax: time.Hour, Rand: func() float64 { return 1 }}
	change := func(cfg *Config) { cfg.Clock, cfg.Robots, cfg.Gate, cfg.Pacing = clock, cache, freeGate{}, pacing }
	c := testClient(t, change)
	fetch := func(c *Client) gleaner.Outcome { return outcome(c, s.URL+"/yes") }
	require.Equal(t, RobotsUnavailable, fetch(c))
	require.Equal(t, RobotsUnavailable, fetch(c))
	require.Equal(t, int64(1), asked.Load(), "not asked again at once")
	clock.advance(61 * time.Second)
	require.Equal(t, RobotsUnavailable, fetch(c))
	require.Equal(t, int64(2), asked.Load())
	clock.advance(61 * time.Second)
	require.Equal(t, RobotsUnavailable, fetch(c))
	require.Equal(t, int64(2), asked.Load(), "the second failure waits twice as long")
	clock.advance(60 * time.Second)
	code.Store(200)
	require.Equal(t, gleaner.OK, fetch(c))
	require.Equal(t, int64(3), asked.Load())

	other := testClient(t, change)
	require.Equal(t, gleaner.OK, fetch(other))
	require.Equal(t, int64(3), asked.Load(), "another client has it from the cache")
	maps, err := other.Sitemaps(context.Background(), strings.TrimPrefix(s.URL, "http://"), Terms{})
	require.NoError(t, err)
	require.Equal(t, []string{s.URL + "/map.xml", "https://www.example.org/two.xml"}, maps)
	_, err = other.Fetch(context.Background(), Request{URL: s.URL + "/no/x"})
	require.ErrorContains(t, err, "Disallow: /no")

	clock.advance(23 * time.Hour)
	require.Equal(t, gleaner.OK, fetch(c))
	require.Equal(t, int64(3), asked.Load())
	clock.advance(2 * time.Hour)
	code.Store(500)
	require.Equal(t, RobotsUnavailable, fetch(c), "an old yes is none")
	require.Equal(t, int64(4), asked.Load())
}

func TestRobotsAskedOnceByMany(t *testing.T) {
	t.Parallel()
	s, asked := robotsSite(t, func(w http.ResponseWriter, _ *http.Request) {})
	c := testClient(t, nil)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, err := c.Fetch(context.Background(), Request{URL: s.URL + "/a"})
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	require.Equal(t, int64(1), asked.Load())
}

func TestCrawlDelayReachesTheGate(t *testing.T) {
	t.Parallel()
	s, _ := robotsSite(t, saying("User-agent: gleaner\nCrawl-delay: 4\n"))
	g := &recordingGate{}
	c := testClient(t, func(cfg *Config) { cfg.Gate = g })
	mustFetch(t, c, Request{URL: s.URL + "/a"})
	require.Equal(t, []time.Duration{0, 4 * time.Second}, g.delays)
	require.Equal(t, 4*time.Second, g.visits[0].CrawlDelay, "it holds from robots.txt itself on")
	require.Zero(t, g.visits[1].CrawlDelay)
}

func TestRobotsRecordIsBounded(t *testing.T) {
	t.Parallel()
	s, _ := robotsSite(t, saying(strings.Repeat("# filler\n", robots.MaxBytes/8)))
	cache := newMemoryRobots(10)
	c := testClient(t, func(cfg *Config) { cfg.Robots = cache })
	mustFetch(t, c, Request{URL: s.URL + "/a"})
	rec, ok, err := cache.LoadRobots(context.Background(), s.URL[len("http://"):], RobotsRecord{})
	require.NoError(t, err)
	require.True(t, ok && rec.Available)
	require.LessOrEqual(t, len(rec.Body), robots.MaxBytes)
	require.Equal(t, 24*time.Hour, rec.ExpiresAt.Sub(rec.FetchedAt))
}

func TestMemoryRobotsDropsTheOldest(t *testing.T) {
	t.Parallel()
	m := newMemoryRobots(2)
	ctx := context.Background()
	for _, h := range []string{"a", "b", "a", "c"} {
		require.NoError(t, m.SaveRobots(ctx, h, RobotsRecord{Status: 200}))
	}
	for h, want := range map[string]bool{"a": false, "b": true, "c": true} {
		_, ok, _ := m.LoadRobots(ctx, h, RobotsRecord{})
		require.Equal(t, want, ok, h)
	}
}

// TestRememberedRulesAreBoundedInBytes gives the client the robots.txt of many
// hosts, each as large as one may be.
func TestRememberedRulesAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	file.WriteString("User-agent: *\n")
	for i := 0; file.Len() < robots.MaxBytes; i++ {
		fmt.Fprintf(&file, "Disallow: /*%d\n", i)
	}
	body := []byte(file.String())
	keeper := robotsKeeper{hosts: map[string]*hostRobots{}}
	cache := newMemoryRobots(1000)
	now := time.Now()
	var last string
	for i := range 150 {
		last = fmt.Sprintf("host%d.example", i)
		rec := RobotsRecord{Body: body, Available: true, ExpiresAt: now.Add(time.Hour)}
		keeper.set(last, keeper.host(last), rec, robots.Parse(body, "gleaner"))
		require.NoError(t, cache.SaveRobots(context.Background(), last, rec))
	}
	total := 0
	for _, h := range keeper.hosts {
		require.Nil(t, h.rec.Body, "the file is kept beside what it says")
		total += h.rules.Size()
	}
	require.LessOrEqual(t, total, rememberedBytes)
	require.Equal(t, total, keeper.bytes)
	_, rules, fresh := keeper.host(last).get(now)
	require.True(t, fresh, "the one just read is forgotten")
	require.NotNil(t, rules)
	total = 0
	for _, rec := range cache.recs {
		total += len(rec.Body)
	}
	require.LessOrEqual(t, total, memoryRobotsBytes)
	require.Greater(t, total, memoryRobotsBytes/2)
}

// sparing is a cache that gives no body of a record that is known, and counts those it gives.
type sparing struct {
	*memoryRobots
	bodies int
}

func (s *sparing) LoadRobots(ctx context.Context, host string, known RobotsRecord) (RobotsRecord, bool, error) {
	rec, ok, err := s.memoryRobots.LoadRobots(ctx, host, known)
	if ok && rec.same(known) {
		rec.Body = nil
	} else if ok {
		s.bodies++
	}
	return rec, ok, err
}

// TestADenialReadsTheFileOnce asks for many pages that one robots.txt denies.
func TestADenialReadsTheFileOnce(t *testing.T) {
	t.Parallel()
	s, _ := robotsSite(t, saying("User-agent: *\nDisallow: /\n"))
	cache := &sparing{memoryRobots: newMemoryRobots(10)}
	c := testClient(t, func(cfg *Config) { cfg.Robots = cache })
	for i := range 20 {
		require.Equal(t, RobotsDenied, outcome(c, fmt.Sprintf("%s/%d", s.URL, i)))
	}
	require.LessOrEqual(t, cache.bodies, 1)
}

// unsaved is a cache whose disk is full.
type unsaved struct{ *memoryRobots }

func (unsaved) SaveRobots(context.Context, string, RobotsRecord) error { return errors.New("full") }

// TestRobotsThatCannotBeSavedAreAskedForOnce: each attempt at a page would ask again.
func TestRobotsThatCannotBeSavedAreAskedForOnce(t *testing.T) {
	t.Parallel()
	s, asked := robotsSite(t, saying("User-agent: *\nDisallow: /private\n"))
	c := testClient(t, func(cfg *Config) { cfg.Robots = unsaved{newMemoryRobots(10)} })
	_, err := c.Fetch(t.Context(), Request{URL: s.URL + "/a"})
	require.ErrorContains(t, err, "full")
	for range 3 {
		r, err := c.Fetch(t.Context(), Request{URL: s.URL + "/a"})
		require.NoError(t, err)
		r.Release()
	}
	require.EqualValues(t, 1, asked.Load())
}
