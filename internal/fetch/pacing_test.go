package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gleaner/internal/each"

	"github.com/stretchr/testify/require"
)

func TestPacingAfter(t *testing.T) {
	t.Parallel()
	const s, ms = time.Second, time.Millisecond
	whole := func() float64 { return 1 }
	p := Pacing{MinDelay: s, MaxDelay: 30 * s, Factor: 5, BackoffBase: 10 * s, BackoffMax: 30 * time.Minute, ParkAfter: 5, ParkFor: time.Hour, MaxRetryAfter: 6 * time.Hour, MaxCrawlDelay: 120 * s, Rand: whole}
	tests := []struct {
		name     string
		visit    Visit
		failures int
		crawl    time.Duration
		wait     time.Duration
		now      int
		parked   bool
	}{
		{"quick answer", Visit{Status: 200, Elapsed: 10 * ms}, 0, 0, s, 0, false},
		{"slow answer", Visit{Status: 200, Elapsed: 2 * s}, 0, 0, 10 * s, 0, false},
		{"very slow answer", Visit{Status: 200, Elapsed: 20 * s}, 0, 0, 30 * s, 0, false},
		{"crawl delay", Visit{Status: 200, Elapsed: 10 * ms}, 0, 10 * s, 10 * s, 0, false},
		{"crawl delay just learnt", Visit{Status: 200, Elapsed: 10 * ms, CrawlDelay: 12 * s}, 0, 0, 12 * s, 0, false},
		{"crawl delay below ours", Visit{Status: 200, Elapsed: 10 * ms}, 0, s / 2, s, 0, false},
		{"crawl delay of a day", Visit{Status: 200, Elapsed: 10 * ms}, 0, 24 * time.Hour, 120 * s, 0, false},
		{"a page that is not there is no failure", Visit{Status: 404, Elapsed: 10 * ms}, 3, 0, s, 0, false},
		{"busy, with Retry-After", Visit{Status: 503, Elapsed: 10 * ms, RetryAfter: 17 * s, Failed: true}, 0, 0, 17 * s, 1, false},
		{"busy, with a Retry-After below the delay", Visit{Status: 429, Elapsed: 2 * s, RetryAfter: s, Failed: true}, 0, 0, 10 * s, 1, false},
		{"busy, with a Retry-After of a year", Visit{Status: 503, RetryAfter: 8760 * time.Hour, Failed: true}, 0, 0, 6 * time.Hour, 1, false},
		{"redirect with Retry-After", Visit{Status: 301, RetryAfter: 5 * s}, 0, 0, 5 * s, 0, false},
		{"good answer with a Retry-After", Visit{Status: 200, RetryAfter: 5 * s}, 0, 0, 5 * s, 0, false},
		{"good answer, with an hour", Visit{Status: 200, RetryAfter: time.Hour}, 0, 0, 120 * s, 0, false},
		{"missing page, with an hour", Visit{Status: 404, RetryAfter: time.Hour}, 0, 0, 120 * s, 0, false},
		{"unchanged page, with an hour", Visit{Status: 304, RetryAfter: time.Hour}, 0, 0, 120 * s, 0, false},
		{"redirect, with an hour", Visit{Status: 302, RetryAfter: time.Hour}, 0, 0, time.Hour, 0, false},
		{"refusal, with an hour", Visit{Status: 403, RetryAfter: time.Hour}, 0, 0, time.Hour, 0, false},
		{"a request given up after failures", Visit{Void: true, Elapsed: 10 * ms}, 3, 0, s, 3, false},
		{"first failure", Visit{Failed: true}, 0, 0, 10 * s, 1, false},
		{"third failure", Visit{Failed: true}, 2, 0, 40 * s, 3, false},
		{"failure with a crawl delay", Visit{Failed: true}, 0, 60 * s, 60 * s, 1, false},
		{"fifth failure", Visit{Failed: true}, 4, 0, time.Hour, 5, true},
		{"fiftieth failure", Visit{Failed: true}, 49, 0, time.Hour, 50, true},
		{"parked for as long as the host asks", Visit{Status: 503, RetryAfter: 3 * time.Hour, Failed: true}, 4, 0, 3 * time.Hour, 5, true},
	}
	for _, tt := range tests {
		wait, now, parked := p.After(tt.visit, tt.failures, tt.crawl)
		require.Equal(t, []any{tt.wait, tt.now, tt.parked}, []any{wait, now, parked}, tt.name)
	}
	p.Rand = func() float64 { return 0 }
	wait, _, _ := p.After(Visit{Failed: true}, 0, 0)
	require.Equal(t, 5*s, wait, "jitter goes down to a half")
	p.Rest = 8 * s
	wait, _, _ = p.After(Visit{Failed: true}, 0, 0)
	require.Equal(t, 8*s, wait, "and no further than the least rest")
	wait, _, _ = p.After(Visit{Status: 503, RetryAfter: 3 * s, Failed: true}, 0, 0)
	require.Equal(t, 3*s, wait, "a host that names a time is asked then")
	p.Unpaced = true
	wait, _, _ = p.After(Visit{Status: 200, Elapsed: s}, 0, 3*s)
	require.Equal(t, 3*s, wait, "a Crawl-delay holds without a pace of our own")
	wait, _, _ = p.After(Visit{Status: 200, Elapsed: s}, 0, 0)
	require.Zero(t, wait)
	require.Equal(t, 30*time.Minute, Pacing{Rand: whole}.Backoff(1000))
}

// fakeClock moves only when somebody waits.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func newFakeClock() *fakeClock {
	return &fakeClock{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Wait(ctx context.Context, d time.Duration) error {
	c.advance(d)
	return context.Cause(ctx)
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestMemoryGatePaces(t *testing.T) {
	t.Parallel()
	clock := newFakeClock()
	g := newMemoryGate(Pacing{MinDelay: time.Second, MaxBlock: time.Minute, Rand: func() float64 { return 1 }}, clock)
	ctx := context.Background()
	visit := func(v Visit, crawl time.Duration) time.Time {
		done, err := g.Turn(ctx, "a", crawl)
		require.NoError(t, err)
		at := clock.Now()
		clock.advance(v.Elapsed)
		done(v)
		done(Visit{Failed: true}) // the second time has no effect
		return at
	}
	start := clock.Now()
	require.Equal(t, time.Duration(0), visit(Visit{Status: 200, Elapsed: 100 * time.Millisecond}, 0).Sub(start))
	require.Equal(t, 1100*time.Millisecond, visit(Visit{Status: 200, Elapsed: time.Second}, 0).Sub(start), "from the end of the answer")
	require.Equal(t, 7100*time.Millisecond, visit(Visit{Status: 503, RetryAfter: 20 * time.Second, Failed: true}, 0).Sub(start), "five times what the answer took")
	require.Equal(t, 27100*time.Millisecond, visit(Visit{Status: 503, RetryAfter: time.Hour, Failed: true}, 0).Sub(start), "as long as the host asked")

	_, err := g.Turn(ctx, "a", 0)
	var parked *ParkedError
	require.ErrorAs(t, err, &parked)
	require.Equal(t, time.Hour, parked.Wait)
	require.Equal(t, 2, parked.Failures)
	require.Contains(t, err.Error(), "2 failures in a row")

	_, err = g.Turn(ctx, "b", 0)
	require.NoError(t, err, "another host is not concerned")
}

func TestMemoryGateOneInFlight(t *testing.T) {
	t.Parallel()
	g := newMemoryGate(Pacing{Unpaced: true}, nil)
	var mu sync.Mutex
	inFlight, most := map[string]int{}, 0
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			host := string(rune('a' + i%4))
			for range 20 {
				done, err := g.Turn(context.Background(), host, 0)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inFlight[host]++
				most = max(most, inFlight[host])
				mu.Unlock()
				mu.Lock()
				inFlight[host]--
				mu.Unlock()
				done(Visit{Status: 200})
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, most)
}

func TestMemoryGateGivesBack(t *testing.T) {
	t.Parallel()
	g := newMemoryGate(Pacing{MinDelay: time.Minute}, nil)
	done, err := g.Turn(context.Background(), "a", 0)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	cancel(stop)
	_, err = g.Turn(ctx, "a", 0)
	require.ErrorIs(t, err, stop, "while another visits")
	done(Visit{Status: 200})
	_, err = g.Turn(ctx, "a", 0)
	require.ErrorIs(t, err, stop, "while the pause lasts")
	require.Zero(t, g.hosts["a"].users)
	require.Len(t, g.hosts["a"].slot, 1)
}

func TestMemoryGateForgetsIdleHosts(t *testing.T) {
	t.Parallel()
	clock := newFakeClock()
	g := newMemoryGate(Pacing{MinDelay: time.Second}, clock)
	for i := range 50_000 {
		done, err := g.Turn(context.Background(), time.Duration(i).String(), 0)
		require.NoError(t, err)
		done(Visit{Status: 200})
		clock.advance(10 * time.Millisecond)
	}
	require.Less(t, len(g.hosts), 3000)
}

// recordingGate notes turns and visits.
type recordingGate struct {
	mu     sync.Mutex
	turns  []string
	delays []time.Duration
	visits []Visit
	err    error
}

func (g *recordingGate) Turn(_ context.Context, host string, crawlDelay time.Duration) (func(Visit), error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return nil, g.err
	}
	g.turns, g.delays = append(g.turns, host), append(g.delays, crawlDelay)
	return func(v Visit) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.visits = append(g.visits, v)
	}, nil
}

func TestEveryRequestTakesATurn(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a":
			http.Redirect(w, r, "/b", http.StatusFound)
		case "/b":
			w.WriteHeader(http.StatusInternalServerError)
		case "/ftp":
			hijack(w, "220 ftp.example.org ready\r\n")
		default:
			panic(http.ErrAbortHandler)
		}
	})
	g := &recordingGate{}
	c := testClient(t, func(cfg *Config) { cfg.Gate = g })
	for _, path := range []string{"/a", "/drop", "/ftp"} {
		_, err := c.Fetch(context.Background(), Request{URL: s.URL + path})
		require.Error(t, err)
	}
	require.Len(t, g.visits, len(g.turns))
	statuses := make([]int, 0, len(g.visits))
	failed, void := make([]bool, 0, len(g.visits)), make([]bool, 0, len(g.visits))
	for _, v := range g.visits {
		statuses, failed, void = append(statuses, v.Status), append(failed, v.Failed), append(void, v.Void)
	}
	// robots.txt, the redirect, its aim, and a request whose connection was an
	// old one, so that it is sent again on a new one; and no answer of the web's.
	require.Equal(t, []int{404, 302, 500, 0, 0, 0}, statuses)
	require.Equal(t, []bool{false, false, true, false, true, true}, failed)
	require.Equal(t, []bool{false, false, false, true, false, false}, void, "what perhaps never arrived tells nothing")

	g.err = &ParkedError{Host: "x", Wait: time.Minute}
	e := failure(t, c, Request{URL: s.URL + "/a"})
	require.Equal(t, Parked, e.Outcome)
	require.Equal(t, time.Minute, e.RetryAfter)
	g.err = errors.New("the database is away")
	e = failure(t, c, Request{URL: s.URL + "/a"})
	require.Equal(t, Canceled, e.Outcome)
	require.ErrorIs(t, e, g.err)
}

// TestStaleConnection has a server close a kept connection upon the second
// request on it: that is asked again, in its own turn, and only once.
func TestStaleConnection(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	onConn := map[string]int{}
	requests := 0
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		onConn[r.RemoteAddr]++
		requests++
		n := onConn[r.RemoteAddr]
		mu.Unlock()
		if n > 1 {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte("ok"))
	})
	g := &recordingGate{}
	c := testClient(t, func(cfg *Config) { cfg.Gate = g })
	for range 3 {
		mustFetch(t, c, Request{URL: s.URL + "/a"})
	}
	require.Equal(t, len(g.turns)-1, requests, "as many requests as turns, but for robots.txt")
	require.Equal(t, 5, requests)
}

func TestPaceBy(t *testing.T) {
	t.Parallel()
	s := site(t, saying("ok"))
	g := &recordingGate{}
	c := testClient(t, func(cfg *Config) { cfg.Gate, cfg.PaceBy = g, PaceByDomain|PaceByAddress })
	mustFetch(t, c, Request{URL: s.URL + "/"})
	host := s.URL[len("http://"):]
	want := []string{host, "domain:127.0.0.1", "address:127.0.0.1"}
	require.Equal(t, append(want, want...), g.turns)
}

// serveAt serves at an address, and returns the port.
func serveAt(t *testing.T, address string, handler http.Handler) (port string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	s := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	s.Start()
	t.Cleanup(s.Close)
	_, port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}

// TestTheAddressOfATurnIsAsked alone, however the name's addresses change.
func TestTheAddressOfATurnIsAsked(t *testing.T) {
	t.Parallel()
	var asked []string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		asked = append(asked, "address:"+at.IP.String())
		_, _ = w.Write([]byte("ok"))
	})
	port := serveAt(t, "127.0.0.1:0", handler)
	serveAt(t, "127.0.0.2:"+port, handler)
	var questions atomic.Int32 // two to a look-up
	dns := fakeDNS(func(string) []netip.Addr {
		return []netip.Addr{netip.MustParseAddr(fmt.Sprintf("127.0.0.%d", 1+(questions.Add(1)-1)/2%2))}
	})
	g := &recordingGate{}
	c := testClient(t, func(cfg *Config) { cfg.Gate, cfg.PaceBy, cfg.Resolver = g, PaceByAddress, dns })
	for i := range 3 {
		mustFetch(t, c, Request{URL: fmt.Sprintf("http://www.example.org:%s/%d", port, i)})
	}
	turns := slices.DeleteFunc(g.turns, func(key string) bool { return !strings.HasPrefix(key, "address:") })
	require.Equal(t, turns, asked)
	require.Contains(t, asked, "address:127.0.0.1")
	require.Contains(t, asked, "address:127.0.0.2")
}

// TestAHostOfSeveralAddresses is asked at the next one where nobody answers at the first; it
// has not failed then.
func TestAHostOfSeveralAddresses(t *testing.T) {
	t.Parallel()
	port := serveAt(t, "127.0.0.4:0", http.NotFoundHandler())
	loopback := func(n byte) netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, n}) }
	many := each.Of([]byte{9, 4, 8, 3, 7, 6, 5}, loopback)
	dns := fakeDNS(func(host string) []netip.Addr {
		if strings.HasPrefix(host, "many.") {
			return many[2:]
		}
		return many[:4]
	})
	g := &recordingGate{}
	c := testClient(t, func(cfg *Config) { cfg.Gate, cfg.PaceBy, cfg.Resolver = g, PaceByAddress, dns })
	require.Equal(t, NotFound, outcome(c, "http://www.example.org:"+port+"/"))
	want := []string{"www.example.org:" + port, "address:127.0.0.3", "address:127.0.0.4"}
	require.Equal(t, append(want, want...), g.turns)
	failed := each.Of(g.visits, func(v Visit) bool { return v.Failed })
	require.Equal(t, []bool{true, false, false, true, false, false}, failed)
	g.turns = nil
	require.Equal(t, ConnectFailure, outcome(c, "http://many.example.org:"+port+"/"))
	require.Len(t, g.turns, 1+maxAddresses, "and no more of them")
	of := named(map[string]string{"x.example.org": "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 fd00::1"})
	ips, _ := addresses(t.Context(), of, "x.example.org")
	require.Contains(t, ips, netip.MustParseAddr("fd00::1"), "four of the other family come before it")
}

// TestANameThatIsNotFoundIsItsHostsFailure whatever else shares the pace.
func TestANameThatIsNotFoundIsItsHostsFailure(t *testing.T) {
	t.Parallel()
	for _, by := range []PaceBy{PaceByHost, PaceByAddress} {
		g := &recordingGate{}
		none := fakeDNS(func(string) []netip.Addr { return nil })
		c := testClient(t, func(cfg *Config) { cfg.Gate, cfg.PaceBy, cfg.Resolver = g, by, none })
		require.Equal(t, DNSFailure, outcome(c, "http://www.example.org/"))
		require.NotEmpty(t, g.visits)
		for _, v := range g.visits {
			require.True(t, v.Failed)
		}
	}
}
