package topicweb

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

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
}

func (o Options) withDefaults() Options {
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
}

// New makes a web.
func New(o Options) *Web {
	w := &Web{opt: o.withDefaults()}
	r := w.random("words")
	met := map[string]bool{}
	words := func(n int) (out []string) {
		for len(out) < n {
			if s := word(r); !met[s] {
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
	return w
}

// word is made of three or four syllables.
func word(r *rand.Rand) string {
	var b strings.Builder
	for range 3 + r.IntN(2) {
		b.WriteByte("bdfgklmnprstvz"[r.IntN(14)])
		b.WriteByte("aeiou"[r.IntN(5)])
	}
	return b.String()
}

func (w *Web) random(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(w.opt.Seed, h.Sum64())) // #nosec G404 -- it is to be the same each time
}

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
	}
	return out
}

// Pages is how many pages there are, PDFs not counted.
func (w *Web) Pages() int { return w.opt.Hosts * w.opt.Pages }

// Relevant is how many of them are about a topic.
func (w *Web) Relevant() (n int) {
	for h := range w.opt.Hosts {
		for i := range w.opt.Pages {
			if w.about(h, i) != offTopic {
				n++
			}
		}
	}
	return n
}

func hostName(h int) string { return fmt.Sprintf("w%04d.example", h) }

func address(h, i int) string {
	if i == 0 {
		return "http://" + hostName(h) + "/"
	}
	return fmt.Sprintf("http://%s/p/%d.html", hostName(h), i)
}

// place is which page a URL is.
func (w *Web) place(url string) (h, i int, pdf, ok bool) {
	h, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(weburl.Host(url), "w"), ".example"))
	if err != nil || h < 0 || h >= w.opt.Hosts {
		return 0, 0, false, false
	}
	path := strings.TrimPrefix(url, "http://"+hostName(h))
	name, pdf := strings.CutSuffix(strings.TrimPrefix(path, "/doc/"), ".pdf")
	if path == "/" {
		return h, 0, false, true
	}
	if !pdf {
		name = strings.TrimSuffix(strings.TrimPrefix(path, "/p/"), ".html")
	}
	i, err = strconv.Atoi(name)
	return h, i, pdf, err == nil && i >= 0 && i < w.opt.Pages && (!pdf || w.hasPDF(h, i))
}

// about is what a page is about: most pages of a topic's host are about it, and a few
// of others.
func (w *Web) about(h, i int) int {
	t := w.topicOf(h)
	if i == 0 {
		return t
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

func (w *Web) hasPDF(h, i int) bool { return i%7 == 3 && w.about(h, i) != offTopic }

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
				hosts = append(hosts, hostName(h))
			}
		}
	}
	return hosts
}

// text is what a page says.
func (w *Web) text(h, i int, what string) string {
	r := w.random(fmt.Sprintf("%s %d %d", what, h, i))
	own, share, noise := w.themes[h%themes], 0.45, w.opt.Noise
	if t := w.about(h, i); t != offTopic {
		own, share, noise = w.topics[t], 0.2+0.3*r.Float64(), 0
	}
	words := make([]string, pageWords)
	for k := range words {
		switch x := r.Float64(); {
		case x < noise:
			words[k] = some(r, w.topics[r.IntN(len(w.topics))])
		case x < noise+share:
			words[k] = some(r, own)
		default:
			words[k] = some(r, w.common)
		}
	}
	return strings.Join(words, " ")
}

// some picks a word, the first ones more often.
func some(r *rand.Rand, of []string) string {
	x := r.Float64()
	return of[int(x*x*float64(len(of)))]
}

// Page is what is at a URL.
func (w *Web) Page(url string) (*page.Page, bool) {
	h, i, pdf, ok := w.place(url)
	if !ok || pdf {
		return nil, false
	}
	text := w.text(h, i, "text")
	p := &page.Page{URL: url, Title: strings.Join(strings.SplitN(text, " ", 5)[:4], " "), Text: text}
	add := func(anchor, to string) {
		p.Links = append(p.Links, page.Link{URL: to, Anchor: anchor, Position: len(p.Links), Source: page.SourceAnchor})
	}
	add("Home", address(h, 0))
	if i+1 < w.opt.Pages {
		add("Next", address(h, i+1))
	}
	for c := 3*i + 1; c <= 3*i+3 && c < w.opt.Pages; c++ {
		add(w.anchor(h, c), address(h, c))
	}
	for _, to := range w.away(h, i) {
		add(w.anchor(to[0], to[1]), address(to[0], to[1]))
	}
	if w.hasPDF(h, i) {
		add("the paper", fmt.Sprintf("http://%s/doc/%d.pdf", hostName(h), i))
	}
	return p, true
}

func (w *Web) anchor(h, i int) string {
	return strings.Join(strings.SplitN(w.text(h, i, "text"), " ", 3)[:2], " ")
}

// away are the pages of other hosts that a page links to. Pages of a topic link to
// those of its island; all others to pages off topic, and now and then to any host:
// that is how one comes from island to island.
func (w *Web) away(h, i int) (to [][2]int) {
	r := w.random(fmt.Sprintf("away %d %d", h, i))
	t := w.about(h, i)
	for k := range 3 {
		var other int
		switch {
		case t != offTopic && k < 2:
			near := slices.DeleteFunc(slices.Clone(w.of[t]), func(o int) bool { return w.island(o) != w.island(h) && w.topicOf(h) != offTopic })
			other = near[r.IntN(len(near))]
		case w.opt.Gap > 0 && r.IntN(4) == 0:
			other = w.onward(h, r)
		case w.opt.Gap == 0 && r.IntN(20) == 0:
			other = r.IntN(w.opt.Hosts)
		default:
			for other = r.IntN(w.opt.Hosts); w.topicOf(other) != offTopic; {
				other = r.IntN(w.opt.Hosts)
			}
		}
		at := 0
		if r.IntN(2) == 0 {
			at = r.IntN(w.opt.Pages)
		}
		if other != h {
			to = append(to, [2]int{other, at})
		}
	}
	return to
}

// stage is how far along the way from island to island a host off topic lies: one in
// five lies there, 1 to Gap; the others and those of a topic are at 0.
func (w *Web) stage(host int) int {
	if w.opt.Gap == 0 || w.topicOf(host) != offTopic || host%5 != 1 {
		return 0
	}
	return 1 + host/5%w.opt.Gap
}

// onward is a host one step farther along the way between islands: after the last
// step one of a topic, from a page beside the way its first.
func (w *Web) onward(host int, r *rand.Rand) int {
	next := w.stage(host) + 1
	for {
		switch other := r.IntN(w.opt.Hosts); {
		case next > w.opt.Gap && w.topicOf(other) != offTopic:
			return other
		case next <= w.opt.Gap && w.stage(other) == next:
			return other
		}
	}
}

// Search is what the search engine gives for a query: pages of the few hosts of a topic
// that it knows, all on one island.
func (w *Web) Search(query string, n int) (urls []string) {
	for t := range w.topics {
		if !slices.Contains(strings.Fields(strings.ToLower(query)), w.name(t)) {
			continue
		}
		near := slices.DeleteFunc(slices.Clone(w.of[t]), func(h int) bool { return w.island(h) != 0 })
		for i := range w.opt.Pages {
			for _, h := range near[:min(known, len(near))] {
				if w.about(h, i) == t && len(urls) < n {
					urls = append(urls, address(h, i))
				}
			}
		}
	}
	return urls
}
