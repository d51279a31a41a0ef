package sampleweb

import (
	"bytes"
	"cmp"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Request is one line of the log. Times are of the server's clock.
type Request struct {
	Time     time.Time     `json:"time"` // when it came in
	End      time.Time     `json:"end"`  // when the last of the answer was handed over
	Host     string        `json:"host"` // with its port, if one was given
	Path     string        `json:"path"`
	Status   int           `json:"status"` // 0 where the connection was dropped
	Bytes    int64         `json:"bytes"`
	InFlight int           `json:"in_flight"` // requests to the host at its arrival, this one included
	Gap      time.Duration `json:"gap"`       // since the last one to the host ended; -1 for the first
}

// Journal serves what a handler does, and remembers the requests and what each host is
// doing.
type Journal struct {
	handler http.Handler
	broken  atomic.Bool
	mu      sync.Mutex
	log     []Request
	flying  map[string]int
	ended   map[string]time.Time
}

// NewJournal makes a journal.
func NewJournal(of http.Handler) *Journal {
	return &Journal{handler: of, flying: map[string]int{}, ended: map[string]time.Time{}}
}

func (j *Journal) begin(r *http.Request) *Request {
	now, host := time.Now(), strings.ToLower(cmp.Or(r.URL.Host, r.Host))
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flying[host]++
	gap := time.Duration(-1)
	if last, ok := j.ended[host]; ok {
		gap = now.Sub(last)
	}
	return &Request{Time: now, Host: host, Path: r.URL.RequestURI(), InFlight: j.flying[host], Gap: gap}
}

// end notes when the last of an answer was handed over: who asked may have it, and
// count the pause from there, before this server gets the processor again.
func (j *Journal) end(q *Request, at time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flying[q.Host]--
	j.ended[q.Host], q.End = at, at
	j.log = append(j.log, *q)
}

// Log returns the requests in the order in which they ended; the two
// services are among them.
func (j *Journal) Log() []Request {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.log)
}

// Break makes the web drop every connection without an answer, until it is mended.
func (j *Journal) Break(broken bool) { j.broken.Store(broken) }

// ServeHTTP serves as a forward proxy (absolute request addresses) and by the Host
// header. Plain http only: CONNECT is refused.
func (j *Journal) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		http.Error(rw, "this web has no https", http.StatusBadGateway)
		return
	}
	entry := j.begin(r)
	count := &counter{ResponseWriter: rw, status: http.StatusOK, last: entry.Time}
	defer func() {
		entry.Status, entry.Bytes = count.status, count.bytes
		j.end(entry, count.last)
	}()
	if j.broken.Load() {
		count.status = 0
		panic(http.ErrAbortHandler)
	}
	j.handler.ServeHTTP(count, r)
}

func hostOf(r *http.Request) string {
	name := cmp.Or(r.URL.Host, r.Host)
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

func (w *Web) serve(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(rw, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	name := hostOf(r)
	switch name {
	case DBLPHost:
		w.dblp.ServeHTTP(rw, r)
		return
	case SearchHost:
		w.indexOnce.Do(w.buildIndex)
		ServeSearXNG(rw, r, w.index.Search)
		return
	}
	switch h := w.hosts[name]; {
	case h != nil:
		h.serve(rw, r)
	case w.opt.Hostile && strings.HasSuffix(name, ".wild.example"):
		serveWild(rw, r, name)
	case w.opt.Beside != nil:
		w.opt.Beside.ServeHTTP(rw, r)
	default:
		http.Error(rw, "no such host: "+name, http.StatusBadGateway)
	}
}

func (h *host) serve(rw http.ResponseWriter, r *http.Request) {
	path := cmp.Or(r.URL.Path, "/")
	if path == "/robots.txt" && h.robots != "" {
		send(rw, r, "text/plain", []byte(h.robots))
		return
	}
	res, ok := h.pages[path]
	if !ok && strings.HasSuffix(path, "/index.html") {
		res, ok = h.pages[strings.TrimSuffix(path, "index.html")]
	}
	if !ok {
		if _, dir := h.pages[path+"/"]; dir {
			http.Redirect(rw, r, "http://"+h.name+path+"/", http.StatusMovedPermanently)
			return
		}
		http.NotFound(rw, r)
		return
	}
	switch {
	case res.stream != nil:
		res.stream(rw, r)
	case res.location != "":
		http.Redirect(rw, r, res.location, res.status)
	case res.status != 0 && res.body == nil:
		http.Error(rw, http.StatusText(res.status), res.status)
	default:
		send(rw, r, res.kind, res.body())
	}
}

// send answers with validators, so that an unchanged page costs one 304.
func send(rw http.ResponseWriter, r *http.Request, kind string, body []byte) {
	rw.Header().Set("Content-Type", kind)
	http.ServeContent(rw, r, "", modified, bytes.NewReader(body))
}

type counter struct {
	http.ResponseWriter
	status int
	bytes  int64
	last   time.Time // of the answer was handed over
}

func (c *counter) WriteHeader(status int) {
	c.status, c.last = status, time.Now()
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a handler flush.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *counter) Write(p []byte) (int, error) {
	c.last = time.Now()
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}
