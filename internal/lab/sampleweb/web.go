package sampleweb

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"gleaner/internal/lab/dblp"
)

// Hosts that are there whatever the options. DBLPURL is the base address of the metadata
// service, SearchURL that of the search service; both are reached through the proxy.
const (
	DBLPURL         = "http://" + DBLPHost
	SearchURL       = "http://" + SearchHost
	DBLPHost        = "dblp.example"
	SearchHost      = "search.example"
	ProceedingsHost = "proceedings.sample.example"
	publisherHost   = "dl.publisher.example"
	portalHost      = "portal.example"
	mirrorHost      = "reports.montrose.example"
)

// Web is a generated web. It is safe for concurrent use, and keeps a log of what is asked.
type Web struct {
	*Journal
	opt     Options
	authors []*author
	papers  []*paper
	titles  map[string]bool
	hosts   map[string]*host
	dblp    *dblp.Service

	indexOnce sync.Once
	index     *Index
}

// host is one server: what it has, by path.
type host struct {
	name   string
	robots string
	pages  map[string]resource
}

// resource is something at a path: made when asked for.
type resource struct {
	kind     string // content type
	status   int    // 0 is 200
	location string // of a redirect
	body     func() []byte
	stream   http.HandlerFunc // in place of a body
	// listed pages are known to the search service, under this title.
	listed string
}

// New lays the web out. It takes milliseconds: pages are made when asked for.
func New(o Options) *Web {
	w := &Web{
		opt: o.withDefaults(), titles: map[string]bool{}, hosts: map[string]*host{},
	}
	w.Journal = NewJournal(http.HandlerFunc(w.serve))
	w.generateAuthors()
	for v := range w.opt.Venues {
		w.generatePapers(v)
	}
	w.buildDepartments()
	for _, a := range w.authors {
		w.buildSite(a)
	}
	w.buildProceedings()
	w.buildPublisher()
	w.buildMirror()
	w.buildPortal()
	w.buildNamesakes()
	if w.opt.Hostile {
		w.buildHostile()
	}
	if w.opt.ConferencePages > 0 {
		w.buildConference()
	}
	w.dblp = w.catalogue()
	return w
}

// Venues lists the keys of the venues, such as "conf/sample".
func (w *Web) Venues() []string {
	keys := make([]string, w.opt.Venues)
	for v := range keys {
		keys[v] = venue(v).Key
	}
	return keys
}

// Years are the first and the last year of every venue.
func (w *Web) Years() (first, last int) {
	return w.opt.FirstYear, w.opt.FirstYear + w.opt.Years - 1
}

// Hosts lists the names of all generated hosts but the two services, in order.
func (w *Web) Hosts() []string { return slices.Sorted(maps.Keys(w.hosts)) }

// venue is what a catalogue knows of a venue, but for its volumes.
func venue(v int) dblp.Venue {
	number := ""
	if v > 0 {
		number = fmt.Sprint(v + 1)
	}
	title := "Workshop on " + capital(topics[v%len(topics)]) + " and Sample Systems"
	return dblp.Venue{Key: "conf/sample" + number, Name: "SAMPLE" + number, Title: title}
}

func (w *Web) host(name string) *host {
	h := w.hosts[name]
	if h == nil {
		h = &host{name: name, pages: map[string]resource{}}
		w.hosts[name] = h
	}
	return h
}

func (h *host) html(path, title string, body func() []byte) {
	h.pages[path] = resource{kind: "text/html; charset=utf-8", body: body, listed: title}
}

// page is a page of our usual look; it is known to the search service as listed.
func (h *host) page(path, listed, title string, write func(*doc)) {
	h.html(path, listed, func() []byte {
		d := newDoc(title)
		write(d)
		return d.bytes()
	})
}

// latin is a page in windows-1252.
func (h *host) latin(path, charset, listed, title, head string, write func(*doc)) {
	h.pages[path] = resource{kind: "text/html" + charset, listed: listed, body: func() []byte {
		d := bareDoc(title, head)
		write(d)
		return d.latin1()
	}}
}

func (h *host) file(path, kind string, body func() []byte) {
	h.pages[path] = resource{kind: kind, body: body}
}

func (h *host) fail(path string, status int) { h.pages[path] = resource{status: status} }

// modified is when everything was last changed, for conditional requests.
var modified = time.Date(2004, time.March, 1, 12, 0, 0, 0, time.UTC)
