//go:build unix

package fetch

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gocolly/colly/v2"
)

// benchSites are servers on as many loopback addresses and ports, so that each
// is a host of its own, all answering with the same page of about 9 KB.
func benchSites(tb testing.TB, n int) []string {
	tb.Helper()
	page := []byte("<html><head><title>Page</title></head><body>" + strings.Repeat("<p>Some words of a page that is nine kilobytes long.</p>\n", 160) + "</body></html>")
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	})
	urls := make([]string, n)
	for i := range urls {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		s := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
		s.Start()
		tb.Cleanup(s.Close)
		urls[i] = s.URL
	}
	return urls
}

// crawl asks n pages of all sites, one worker per site.
func crawl(tb testing.TB, sites []string, n int, get func(url string) error) time.Duration {
	tb.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for i := range sites {
		wg.Go(func() {
			for {
				k := next.Add(1)
				if k > int64(n) {
					return
				}
				if err := get(fmt.Sprintf("%s/page/%d.html", sites[i], k)); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// bareColly is the library as its README has it, with what a comparison needs:
// the text of the page, no look at links.
func bareColly() func(string) error {
	c := colly.NewCollector(colly.AllowURLRevisit())
	var bytes atomic.Int64
	c.OnResponse(func(r *colly.Response) { bytes.Add(int64(len(r.Body))) })
	return c.Visit
}

func polite(tb testing.TB) func(string) error {
	c, err := New(Config{AllowLoopback: true, Proxy: "none", Pacing: Pacing{Unpaced: true}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return func(u string) error {
		_, err := c.Fetch(context.Background(), Request{URL: u})
		return err
	}
}

// direct is the client without colly in between.
func direct(tb testing.TB) func(string) error {
	c, err := New(Config{AllowLoopback: true, Proxy: "none", Pacing: Pacing{Unpaced: true}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	h := &http.Client{Transport: c.chain}
	return func(u string) error {
		x := c.exchange()
		r, err := http.NewRequestWithContext(x.in(context.Background()), http.MethodGet, u, nil)
		if err != nil {
			return err
		}
		r.Header = x.header
		resp, err := h.Do(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		return err
	}
}

// BenchmarkAgainstColly runs bare colly and the polite client in turns over the
// same pages, and reports pages per second of each, and the ratios of time and
// of CPU seconds (servers included), where more than 1 is for this package. The
// client with colly taken out shows what colly costs.
//
//	go test ./internal/fetch -run '^$' -bench AgainstColly -benchtime 20x
func BenchmarkAgainstColly(b *testing.B) {
	const hosts, pages = 32, 1000
	sites := benchSites(b, hosts)
	ways := []struct {
		name      string
		get       func(string) error
		took, cpu time.Duration
	}{{name: "colly", get: bareColly()}, {name: "gleaner", get: polite(b)}, {name: "no-engine", get: direct(b)}}
	for i := range ways { // connections and robots.txt first
		crawl(b, sites, 2*hosts, ways[i].get)
	}
	for b.Loop() {
		for i := range ways {
			before := cpuTime(b)
			ways[i].took += crawl(b, sites, pages, ways[i].get)
			ways[i].cpu += cpuTime(b) - before
		}
	}
	for _, w := range ways {
		b.ReportMetric(float64(pages*b.N)/w.took.Seconds(), w.name+"-pages/s")
	}
	b.ReportMetric(ways[0].took.Seconds()/ways[1].took.Seconds(), "×colly")
	b.ReportMetric(ways[0].cpu.Seconds()/ways[1].cpu.Seconds(), "×colly-CPU")
	b.ReportMetric(ways[2].cpu.Seconds()/ways[1].cpu.Seconds(), "×no-engine-CPU")
}

// cpuTime is what the process has used so far.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
