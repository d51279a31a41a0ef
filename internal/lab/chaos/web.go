//go:build linux

package chaos

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gleaner/internal/lab/sampleweb"
)

// request is one line of the web's log, as its server saw it.
type request struct {
	host, path string
	status     int
	begin, end time.Time
	inFlight   int           // at its arrival, this one included
	gap        time.Duration // since the last one to the host ended; -1 for the first
}

// web serves the sample web and keeps the log by which the crawler's manners
// are judged. While broken it drops every connection without an answer.
type web struct {
	sample *sampleweb.Web
	broken atomic.Bool

	mu     sync.Mutex
	log    []request
	flying map[string]int
	ended  map[string]time.Time
}

func newWeb(o sampleweb.Options) *web {
	return &web{sample: sampleweb.New(o), flying: map[string]int{}, ended: map[string]time.Time{}}
}

func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	host := r.URL.Hostname()
	q := request{host: host, path: r.URL.RequestURI(), begin: time.Now(), gap: -1}
	w.mu.Lock()
	w.flying[host]++
	q.inFlight = w.flying[host]
	if last, ok := w.ended[host]; ok {
		q.gap = q.begin.Sub(last)
	}
	w.mu.Unlock()
	answer := &answer{ResponseWriter: rw, last: q.begin}
	defer func() {
		q.status, q.end = answer.code, answer.last
		w.mu.Lock()
		defer w.mu.Unlock()
		w.flying[host]--
		w.ended[host] = q.end
		w.log = append(w.log, q)
	}()
	if w.broken.Load() {
		panic(http.ErrAbortHandler)
	}
	w.sample.Handler().ServeHTTP(answer, r)
}

// all returns the log.
func (w *web) all() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.log)
}

// requests returns the log but for what asked the two services.
func (w *web) requests() []request {
	var all []request
	for _, q := range w.all() {
		if q.host != sampleweb.DBLPHost && q.host != sampleweb.SearchHost {
			all = append(all, q)
		}
	}
	return all
}

// answer notes when the last of it was handed over: who asked may have it, and
// count the pause from there, before this server gets the processor again.
type answer struct {
	http.ResponseWriter
	code int
	last time.Time
}

func (a *answer) WriteHeader(code int) {
	a.code, a.last = code, time.Now()
	a.ResponseWriter.WriteHeader(code)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.code == 0 {
		a.code = http.StatusOK
	}
	a.last = time.Now()
	return a.ResponseWriter.Write(p)
}
