package topicweb

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/topic"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Options shape a Web. The zero value has 600 hosts and 60,000 pages.
type Options struct {
	Seed   uint64
	Hosts  int // 600
	Pages  int // of each host; 100
	Topics int // 5
	Share  int // one in so many hosts is about a topic; 6
	Gap    int // pages off topic in a row that lead from island to island, on hosts of their own; 0 for any host

	// Noise is the share of the words of off-topic pages that are of topics; 0.02.
	Noise float64

	// Wide has hosts of the sizes, links and directories that recorded sites have (see
	// wide.go): 1,000 hosts, one in 12 about a topic. Pages is not heeded.
	Wide bool

	// Mixed is the share of pages off topic that say much of a topic all the same, in the
	// wide shape; none.
	Mixed float64
}

// WithDefaults fills in what is not said.
func (o Options) WithDefaults() Options {
	if o.Wide {
		o.Hosts, o.Share = cmp.Or(o.Hosts, wideHosts), cmp.Or(o.Share, wideShare)
	}
	o.Hosts, o.Pages, o.Topics, o.Share = cmp.Or(o.Hosts, 600), cmp.Or(o.Pages, 100), cmp.Or(o.Topics, 5), cmp.Or(o.Share, 6)
	o.Noise = cmp.Or(o.Noise, 0.02)
	return o
}

const (
	ownWords    = 40  // of a topic
	commonWords = 600 // of all pages
	themes      = 30  // that other pages are about
	pageWords   = 120
	islands     = 2
	known       = 3 // hosts of a topic that the search engine knows
	offTopic    = -1
)

// Web is a generated web. It is safe for concurrent use.
type Web struct {
	opt    Options
	common []string
	topics [][]string // words of each
	themes [][]string
	of     [][]int // hosts of each topic

	made sync.Map // by host and page, what was reckoned of it

	// Of the wide shape, by host.
	sizes       []int
	departments []string
}

// New makes a web.
func New(o Options) *Web {
	w := &Web{opt: o.WithDefaults()}
	r := w.random("words")
	met := map[string]bool{}
	words := func(n int) (out []string) {
		for len(out) < n {
			if s := sampleweb.Word(r, 3); !met[s] {
				met[s] = true
				out = append(out, s)
			}
		}
		return out
	}
	w.common = words(commonWords)
	for i := range w.opt.Topics {
		own := words(ownWords)
		if i > 0 { // neighbours have words in common
			copy(own[ownWords-8:], w.topics[i-1][:8])
		}
		w.topics = append(w.topics, own)
	}
	for range themes {
		w.themes = append(w.themes, words(ownWords))
	}
	w.of = make([][]int, w.opt.Topics)
	for h := range w.opt.Hosts {
		if t := w.topicOf(h); t != offTopic {
			w.of[t] = append(w.of[t], h)
		}
	}
	if w.opt.Wide {
		w.shape()
	}
	return w
}

// size is how many pages a host has.
func (w *Web) size(h int) int {
	if w.opt.Wide {
		return w.sizes[h]
	}
	return w.opt.Pages
}

func (w *Web) random(name string) *rand.Rand { return sampleweb.Random(w.opt.Seed, name) }

// topicOf is what a host is about.
func (w *Web) topicOf(host int) int {
	if host%w.opt.Share != 0 {
		return offTopic
	}
	return host / w.opt.Share % w.opt.Topics
}

// island is which of a topic's islands a host lies on.
func (w *Web) island(host int) int { return host / w.opt.Share / w.opt.Topics % islands }

// name of a topic is its weightiest word.
func (w *Web) name(t int) string { return w.topics[t][0] }

// Topics are those that the web has pages of, each with a query.
func (w *Web) Topics() (out []topic.Topic) {
	for t := range w.topics {
		out = append(out, topic.Topic{ID: w.name(t), Query: w.name(t)})
		if w.opt.Wide {
			out[t].Departments = []string{w.department(t)}
		}
	}
	return out
}

// Pages is how many pages there are, PDFs not counted.
func (w *Web) Pages() (n int) {
	for h := range w.opt.Hosts {
		n += w.size(h)
	}
	return n
}

// Relevant is how many of them are about a topic.
func (w *Web) Relevant() (n int) {
	for h := range w.opt.Hosts {
		for i := range w.size(h) {
			if w.about(h, i) != offTopic {
				n++
			}
		}
	}
	return n
}

func (w *Web) hostName(h int) string {
	name := fmt.Sprintf("w%04d.example", h)
	if w.opt.Wide && w.departments[h] != "" {
		return w.departments[h] + "." + name
	}
	return name
}

func (w *Web) address(h, i int) string {
	if i == 0 {
		return "http://" + w.hostName(h) + "/"
	}
	section := "p"
	if w.opt.Wide {
		section = w.page(h, i).section
	}
	return fmt.Sprintf("http://%s/%s/%d.html", w.hostName(h), section, i)
}

// place is which page a URL is.
func (w *Web) place(url string) (h, i int, pdf, ok bool) {
	name := strings.TrimSuffix(weburl.Host(url), ".example")
	h, err := strconv.Atoi(strings.TrimPrefix(name[strings.LastIndexByte(name, '.')+1:], "w"))
	if err != nil || h < 0 || h >= w.opt.Hosts {
		return 0, 0, false, false
	}
	path, _ := strings.CutPrefix(url, "http://"+w.hostName(h))
	name, pdf = strings.CutSuffix(strings.TrimPrefix(path, "/doc/"), ".pdf")
	if path == "/" {
		return h, 0, false, true
	}
	if !pdf {
		name = strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".html")
	}
	i, err = strconv.Atoi(name)
	return h, i, pdf, err == nil && i >= 0 && i < w.size(h) && (pdf && w.hasPDF(h, i) || !pdf && w.address(h, i) == url)
}

// made is what is reckoned once of a page, which many others link to.
type made struct {
	about   int
	section string // of the wide shape
	text    func() string
}

func (w *Web) page(h, i int) *made {
	if m, ok := w.made.Load([2]int{h, i}); ok {
		return m.(*made)
	}
	m := &made{about: w.reckon(h, i), text: sync.OnceValue(func() string { return w.text(h, i, "text") })}
	if w.opt.Wide {
		m.section = w.section(h, i)
	}
	w.made.Store([2]int{h, i}, m)
	return m
}

func (w *Web) about(h, i int) int { return w.page(h, i).about }

// reckon is what a page is about: most pages of a topic's host are about it, and a few
// of others.
func (w *Web) reckon(h, i int) int {
	t := w.topicOf(h)
	if i == 0 {
		return t
	}
	if w.opt.Wide {
		return w.wideAbout(h, i)
	}
	r := w.random(fmt.Sprintf("about %d %d", h, i))
	switch {
	case t != offTopic && r.IntN(4) > 0:
		return t
	case t == offTopic && r.IntN(100) == 0:
		return r.IntN(w.opt.Topics)
	}
	return offTopic
}

// hasPDF: in the wide shape pages off topic have documents, too, as often.
func (w *Web) hasPDF(h, i int) bool { return i%7 == 3 && (w.opt.Wide || w.about(h, i) != offTopic) }

// Accepted reports whether the document at a URL is a paper of a topic.
func (w *Web) Accepted(url string) bool {
	h, i, pdf, ok := w.place(url)
	return ok && pdf && w.about(h, i) != offTopic
}

// About is the topic that a URL is about, "" where it is about none.
func (w *Web) About(url string) string {
	h, i, _, ok := w.place(url)
	if !ok {
		return ""
	}
	if t := w.about(h, i); t != offTopic {
		return w.name(t)
	}
	return ""
}

// Sites are the hosts that are about a topic.
func (w *Web) Sites(name string) (hosts []string) {
	for t := range w.topics {
		if w.name(t) == name {
			for _, h := range w.of[t] {
				hosts = append(hosts, w.hostName(h))
			}
		}
	}
	return hosts
}

// Page is what is at a URL.
func (w *Web) Page(url string) (*page.Page, bool) {
	h, i, pdf, ok := w.place(url)
	if !ok || pdf {
		return nil, false
	}
	text := w.page(h, i).text()
	p := &page.Page{URL: url, Title: strings.Join(strings.SplitN(text, " ", 5)[:4], " "), Text: text}
	add := func(anchor, to string) {
		p.Links = append(p.Links, page.Link{URL: to, Anchor: anchor, Position: len(p.Links), Source: page.SourceAnchor})
	}
	add("Home", w.address(h, 0))
	if i+1 < w.size(h) {
		add("Next", w.address(h, i+1))
	}
	said, away := func(h, i int) string { return w.anchor(h, i) }, w.away
	if w.opt.Wide {
		said, away = w.said(fmt.Sprintf("words of links %d %d", h, i)), w.wideAway
	}
	for c := 3*i + 1; c <= 3*i+3 && c < w.size(h); c++ {
		add(said(h, c), w.address(h, c))
	}
	for _, to := range away(h, i) {
		add(said(to[0], to[1]), w.address(to[0], to[1]))
	}
	if w.hasPDF(h, i) {
		add("the paper", fmt.Sprintf("http://%s/doc/%d.pdf", w.hostName(h), i))
	}
	return p, true
}

// Search is what the search engine gives for a query: pages of the few hosts of a topic
// that it knows, all on one island.
func (w *Web) Search(query string, n int) (urls []string) {
	for t := range w.topics {
		if !slices.Contains(strings.Fields(strings.ToLower(query)), w.name(t)) {
			continue
		}
		if w.opt.Wide {
			return w.wideSearch(t, n)
		}
		near := slices.DeleteFunc(slices.Clone(w.of[t]), func(h int) bool { return w.island(h) != 0 })
		for i := range w.opt.Pages {
			for _, h := range near[:min(known, len(near))] {
				if w.about(h, i) == t && len(urls) < n {
					urls = append(urls, w.address(h, i))
				}
			}
		}
	}
	return urls
}
