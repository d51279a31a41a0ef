package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/growthtest"
)

// TestPackedBodiesAreBoundedOnTheWire sends parts that hold nothing for as long
// as somebody reads them.
func TestPackedBodiesAreBoundedOnTheWire(t *testing.T) {
	t.Parallel()
	empty := map[string][]byte{
		"gzip": pack(t, "gzip", nil), "zstd": {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}, // a frame to be skipped
	}
	for coding, part := range empty {
		for _, path := range []string{"/page", "/robots.txt"} {
			sent := make(chan int, 1)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != path {
					http.NotFound(w, r)
					return
				}
				html(w)
				w.Header().Set("Content-Encoding", coding)
				parts, n := bytes.Repeat(part, 8<<10/len(part)), 0
				for {
					k, err := w.Write(parts)
					if n += k; err != nil || n > 64<<20 {
						break
					}
				}
				sent <- n
			}))
			c := testClient(t, nil)
			e := failure(t, c, Request{URL: s.URL + "/page"})
			if path == "/page" {
				require.Contains(t, []gleaner.Outcome{TooLarge, BadAnswer}, e.Outcome, "%s %s: %v", coding, path, e)
			} else {
				require.Equal(t, RobotsUnavailable, e.Outcome, "%s %s: %v", coding, path, e)
			}
			require.Less(t, <-sent, 16<<20, "%s %s", coding, path)
			s.Close()
		}
	}
}

// TestLayersAreBounded: what passes from one decoder to the next may hold nothing.
func TestLayersAreBounded(t *testing.T) {
	t.Parallel()
	skipped := append([]byte{0x50, 0x2a, 0x4d, 0x18, 0xf8, 0xff, 0x0f, 0}, make([]byte, 1<<20-8)...) // a frame
	ctx, cancel := context.WithCancel(context.Background())
	pages := func(h http.Header, in []byte) error {
		resp := &http.Response{Header: h, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(in))}
		_, err := unpack(ctx, resp, Limits{PageBytes: 1 << 20}.withDefaults())
		return err
	}
	noisy := append([]byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0x0a, 0}, noise(0xa0000)...)
	for _, c := range []struct {
		codings string
		body    []byte
		want    gleaner.Outcome
	}{
		{"zstd, gzip", pack(t, "gzip", bytes.Repeat(skipped, 3)), Inflated},
		{"zstd, br", pack(t, "br", bytes.Repeat(skipped, 3)), Inflated},
		{"zstd, br, gzip", pack(t, "gzip", pack(t, "br", bytes.Repeat(skipped, 3))), Inflated},
		{"zstd, br, gzip", pack(t, "gzip", pack(t, "br", noisy)), Inflated}, // by all layers together
		{"gzip, br", pack(t, "br", bytes.Repeat(pack(t, "gzip", nil), 100)), BadAnswer},
	} {
		err := pages(http.Header{"Content-Encoding": {c.codings}, "Content-Type": {"text/html"}}, c.body)
		require.Equal(t, c.want, OutcomeOf(err), "%s: %v", c.codings, err)
	}
	empty := append(pack(t, "gzip", nil), pack(t, "gzip", []byte("a page"))...)
	joined := append(empty, bytes.Repeat(pack(t, "gzip", nil), 2)...)
	require.NoError(t, pages(http.Header{"Content-Encoding": {"gzip"}}, joined), "files that were joined")
	cancel()
	err := pages(http.Header{"Content-Encoding": {"zstd, gzip"}}, pack(t, "gzip", bytes.Repeat(skipped, 3)))
	require.Equal(t, Canceled, OutcomeOf(err), "%v", err)

	stored := bytes.Repeat(pack(t, "gzip", skipped), 120)
	plain, done, err := Undo(http.Header{"Content-Encoding": {"zstd, gzip"}}, bytes.NewReader(stored))
	require.NoError(t, err)
	defer done()
	_, err = io.Copy(io.Discard, plain)
	require.Error(t, err)
}

func noise(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(out)
	return out
}

// TestUnpackingGrowsWithWhatCame unpacks what is made to be dear.
func TestUnpackingGrowsWithWhatCame(t *testing.T) {
	repeat := func(part []byte) func(int) []byte {
		return func(n int) []byte { return bytes.Repeat(part, max(1, n/len(part))) }
	}
	for name, worst := range map[string]struct {
		coding string
		body   func(n int) []byte
	}{
		"empty gzip members":  {"gzip", repeat(pack(t, "gzip", nil))},
		"gzip members":        {"gzip", repeat(pack(t, "gzip", []byte("a")))},
		"zeros in gzip":       {"gzip", func(n int) []byte { return pack(t, "gzip", make([]byte, 100*n)) }},
		"zeros in deflate":    {"deflate", func(n int) []byte { return pack(t, "deflate", make([]byte, 100*n)) }},
		"bare deflate":        {"deflate", func(n int) []byte { return pack(t, "bare-deflate", noise(n)) }},
		"zeros in zstd":       {"zstd", func(n int) []byte { return pack(t, "zstd", noise(n)) }},
		"empty zstd frames":   {"zstd", repeat(pack(t, "zstd", nil))},
		"skipped zstd frames": {"zstd", repeat([]byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0})},
		"noise in brotli":     {"br", func(n int) []byte { return pack(t, "br", noise(n)) }},
		"empty brotli blocks": {"br", func(n int) []byte { return append([]byte{0x0b}, bytes.Repeat([]byte{0x06}, n)...) }},
	} {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 8<<10, worst.body, func(in []byte) {
				resp := &http.Response{Header: http.Header{"Content-Encoding": {worst.coding}}, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(in))}
				_, _ = unpack(t.Context(), resp, Limits{}.withDefaults())
			})
		})
	}
}

// unpack reads an answer by the part of the chain below turns.
func unpack(ctx context.Context, resp *http.Response, l Limits) ([]byte, error) {
	x := &exchange{limits: l, clock: systemClock{}, target: &target{}, status: http.StatusOK}
	r, err := http.NewRequestWithContext(x.in(ctx), http.MethodGet, "http://www.example.org/", nil)
	if err != nil {
		return nil, err
	}
	resp.StatusCode = http.StatusOK
	read, err := (&limited{&decoded{&watched{answers{resp}}}}).RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer read.Body.Close()
	return io.ReadAll(read.Body)
}

type answers struct{ resp *http.Response }

func (a answers) RoundTrip(*http.Request) (*http.Response, error) { return a.resp, nil }

func TestCodingsGrowWithTheHeader(t *testing.T) {
	for _, s := range []string{"gzip,", ",", "identity,", ";", "a=b;"} {
		growthtest.Linear(t, 8<<10, func(n int) []byte { return []byte(strings.Repeat(s, n/len(s))) }, func(b []byte) {
			h := http.Header{"Content-Encoding": {string(b)}, "Content-Type": {string(b)}, "Retry-After": {string(b)}}
			_, _, _ = inflater(strings.NewReader(""), codings(h), func(int64) error { return nil })
			_, _ = kindOf(h.Get("Content-Type")), RetryAfter(h, time.Now())
		})
	}
}

// TestLargeBodiesWaitForMemory has two large bodies where there is room for one.
func TestLargeBodiesWaitForMemory(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = w.Write(bytes.Repeat([]byte("a"), size))
	})
	memory := NewMemory(size * inUse)
	other := site(t, saying("small"))
	c := testClient(t, func(cfg *Config) { cfg.Memory = memory })
	first := mustFetch(t, c, Request{URL: s.URL + "/1"})
	require.False(t, memory.bodies.all.TryAcquire(1), "nothing is held for a large body")

	small := mustFetch(t, c, Request{URL: other.URL + "/"}) // small bodies do not wait
	small.Release()

	stop := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Fetch(ctx, Request{URL: s.URL + "/2"})
		ended <- err
	}()
	cancel(stop)
	require.Error(t, <-ended, "it waited, so it ends with its context")

	second := make(chan *Response, 1)
	go func() {
		r, err := c.Fetch(context.Background(), Request{URL: s.URL + "/3"})
		if err == nil {
			second <- r
		}
		close(second)
	}()
	first.Release()
	first.Release()
	r := <-second
	require.NotNil(t, r, "what was released is another's")
	require.Len(t, r.Body, size)
	r.Release()
	requireFree(t, memory)
}

// TestWindowsOfDecodersWaitForMemory: a packed body of a few bytes may have its
// decoder take sixteen MiB. As many are read at a time as there is room for.
func TestWindowsOfDecodersWaitForMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		coding string
		packed []byte
	}{
		"brotli": {"br", brotliOf(t, 24)},
		"zstd":   {"zstd", pack(t, "zstd", []byte("small"))},
		"layers": {"gzip, br", brotliOf(t, 10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, goOn := make(chan string, 9), make(chan bool)
			one, two := "", ""
			for _, url := range []*string{&one, &two} {
				*url = site(t, func(w http.ResponseWriter, r *http.Request) {
					html(w)
					w.Header().Set("Content-Encoding", c.coding)
					_, _ = w.Write(c.packed[:4])
					_ = http.NewResponseController(w).Flush()
					asked <- r.URL.Path
					<-goOn
					_, _ = w.Write(c.packed[4:])
				}).URL
			}
			let := sync.OnceFunc(func() { close(goOn) })
			t.Cleanup(let)                     // before the servers are closed
			memory := NewMemory(3 * maxWindow) // room for one of the least
			cl := testClient(t, func(cfg *Config) { cfg.Memory, cfg.Limits = memory, Limits{} })
			ended := make(chan error, 1)
			go func(url string) {
				r, err := cl.Fetch(context.Background(), Request{URL: url})
				r.Release()
				ended <- err
			}(one + "/1")
			require.Equal(t, "/1", <-asked)
			for memory.windows.all.TryAcquire(1) { // until its first byte has come
				memory.windows.all.Release(1)
				select {
				case err := <-ended:
					t.Fatalf("it ended: %v", err)
				case <-time.After(time.Millisecond):
				}
			}
			stopped := errors.New("told to stop")
			ctx, cancel := context.WithCancelCause(context.Background())
			second := make(chan error, 1)
			go func(url string) {
				_, err := cl.Fetch(ctx, Request{URL: url})
				second <- err
			}(two + "/2")
			require.Equal(t, "/2", <-asked)
			cancel(stopped)
			require.Error(t, <-second)
			let()
			if err := <-ended; name != "layers" { // nothing is packed twice here
				require.NoError(t, err)
			}
			requireFree(t, memory)
		})
	}
}

// brotliOf packs a page with a window of so many bits.
func brotliOf(t *testing.T, bits int) []byte {
	var b bytes.Buffer
	w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: 5, LGWin: bits})
	_, err := w.Write([]byte("<title>A page</title><p>of some words"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.EqualValues(t, 1<<bits, brotliWindow(b.Bytes()[0]), "%x", b.Bytes()[0])
	return b.Bytes()
}

// TestWindowsOfBrotli reads the windows that an encoder says it uses.
func TestWindowsOfBrotli(t *testing.T) {
	t.Parallel()
	for bits := 10; bits <= 24; bits++ {
		brotliOf(t, bits)
	}
}

// TestAProxyIsAskedForOpenedNamesAlone: a name that leads inside a network is not given to a
// proxy, as far as it can be told here; where one network is opened, such a name is asked for
// if it is known here to lead to what is opened.
func TestAProxyIsAskedForOpenedNamesAlone(t *testing.T) {
	t.Parallel()
	p := &forwardProxy{}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	dns := named(map[string]string{
		"rebound.example.org": "8.8.8.8 169.254.169.254", "inside.example.org": "10.0.0.7", "public.example.org": "8.8.8.8",
		"wiki.internal": "10.1.0.7", "wiki": "10.1.0.7", "printer.local": "10.2.0.7",
	})
	for wiki, opened := range map[gleaner.Outcome][]Network{AddressDenied: nil, gleaner.OK: networks(t, "10.1.0.0/16")} {
		client := testClient(t, func(cfg *Config) {
			cfg.Proxy, cfg.AllowLoopback, cfg.Resolver, cfg.AllowPrivate = s.URL, false, dns, opened
		})
		for host, want := range map[string]gleaner.Outcome{
			"rebound.example.org": AddressDenied, "inside.example.org": AddressDenied, "printer.local": AddressDenied,
			"vault.internal": AddressDenied, "vault": AddressDenied, "wiki.internal": wiki, "wiki": wiki,
			"public.example.org": gleaner.OK, "known-to-the-proxy-alone.example.org": gleaner.OK,
		} {
			require.Equal(t, want, outcome(client, "http://"+host+"/"), host)
		}
	}
	for _, asked := range p.asked {
		require.NotRegexp(t, "rebound|inside|printer|vault", asked)
	}
}
