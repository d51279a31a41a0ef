package sampleweb

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/lab/packtest"
)

// VictimHost is where a hostile page sends its reader, again and again.
const VictimHost = "victim.example"

// hostileHost is a site of somebody who wants its reader to fail. It is the
// homepage of an author whose own one is another, so that it costs no paper.
type hostileHost struct {
	kind  string
	serve func(w *Web, rw http.ResponseWriter, r *http.Request) bool // false for what is not special there
	links func(w *Web) string                                        // on its homepage, beside a title
}

const hostileDomain = ".hostile.example"

func (h hostileHost) name() string { return h.kind + hostileDomain }

// packedZeros is a bomb of so many bytes, once packed.
var packedZeros = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 300 {
		_, _ = z.Write(zeros) // a bytes.Buffer does not fail
	}
	_ = z.Close()
	return b.Bytes()
})

// zipBomb holds a hundred members of zeros.
var zipBomb = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range 100 {
		if m, err := z.Create(fmt.Sprintf("paper%d.pdf", i)); err == nil {
			_, _ = m.Write(append([]byte("%PDF-1.4\n"), make([]byte, 8<<20)...))
		}
	}
	_ = z.Close()
	return b.Bytes()
})

// hostile are the ways in which a site can be hostile.
var hostile = []hostileHost{
	{"robots", at("/robots.txt", "text/plain", func() []byte {
		return []byte(strings.Repeat("useragent:gleaner\n", 14_000) + strings.Repeat("disallow:/x\n", 20_000))
	}), nil},
	{"comments", nil, func(*Web) string { return strings.Repeat("<!----!>", 1<<20) }},
	{"controls", nil, func(*Web) string {
		return "<p id='\x00a' class='b\x00'>\x1b[31m\x07red\x00</p><a href='a\x00b.pdf' title='\x1b]0;gone\x07'>\x00\u009b2J paper &#27;[1m</a><img alt='&#0;\x00'>"
	}},
	{"base", nil, func(*Web) string {
		return "<base href='/" + strings.Repeat("a", 4000) + "/'>" + strings.Repeat("<a href=x>paper</a>", 20_000)
	}},
	{"archives", at("/papers.pdf.zip", "application/zip", zipBomb), static("<a href='papers.pdf.zip'>papers</a>")},
	{"gzip", at("/paper.pdf.gz", "application/gzip", packedZeros), static("<a href='/paper.pdf.gz'>paper</a>")},
	{"victim", nil, func(w *Web) string {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, "<li><a href='http://%s/%d.pdf'>%s</a>", VictimHost, i, esc(w.papers[i%len(w.papers)].title))
		}
		return b.String()
	}},
	{"wildcard", nil, func(w *Web) string {
		var b strings.Builder
		for i := range 2_000 {
			fmt.Fprintf(&b, "<li><a href='http://h%d.wild.example/paper.pdf'>%s</a>", i, esc(w.papers[i%len(w.papers)].title))
		}
		return b.String()
	}},
	{"dripping", drip, static("<a href='/drip.pdf'>paper</a>")},
	{"members", emptyMembers, static("<a href='members.html'>papers</a>")},
	{"spoofed", serveSpoofed, func(w *Web) string {
		p := w.papers[0]
		return "<a href='" + spoofedPath(p) + "'>" + esc(p.title) + "</a>"
	}},
	{"poison", servePoison, linkPoison},
}

// spoofedPath ends as the publisher's own does.
func spoofedPath(p *paper) string { return "/" + p.number() + ".pdf" }

// serveSpoofed serves another work of a paper's authors under the paper's number.
func serveSpoofed(w *Web, rw http.ResponseWriter, r *http.Request) bool {
	p := w.papers[0]
	if r.URL.Path != spoofedPath(p) {
		return false
	}
	a := w.article(p)
	a.title, a.abstract = "Notes on Something Else Entirely", "These are notes on something else."
	send(rw, r, "application/pdf", writePDF(a))
	return true
}

func static(s string) func(*Web) string { return func(*Web) string { return s } }

func at(path, kind string, body func() []byte) func(*Web, http.ResponseWriter, *http.Request) bool {
	return func(_ *Web, rw http.ResponseWriter, r *http.Request) bool {
		is := strings.HasSuffix(r.URL.Path, path)
		if is {
			send(rw, r, kind, body())
		}
		return is
	}
}

// drip sends a byte a second for as long as somebody reads.
func drip(_ *Web, rw http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path != "/drip.pdf" {
		return false
	}
	rw.Header().Set("Content-Type", "application/pdf")
	for tick := time.NewTicker(time.Second); ; {
		if _, err := rw.Write([]byte("%")); err != nil {
			return true
		}
		_ = http.NewResponseController(rw).Flush() // the next write says whether it is in vain
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return true
		}
	}
}

// emptyMembers sends gzip members that hold nothing for as long as somebody
// reads.
func emptyMembers(_ *Web, rw http.ResponseWriter, r *http.Request) bool {
	if path.Base(r.URL.Path) != "members.html" {
		return false
	}
	many := bytes.Repeat(packtest.Gzip(""), 1<<12)
	rw.Header().Set("Content-Type", "text/html")
	rw.Header().Set("Content-Encoding", "gzip")
	for r.Context().Err() == nil {
		if _, err := rw.Write(many); err != nil {
			break
		}
	}
	return true
}

// HostileHosts are the names of the hostile sites of a Web that has them.
func HostileHosts() []string {
	return each.Of(hostile, hostileHost.name)
}

// buildHostile gives some authors a second homepage on a hostile site.
func (w *Web) buildHostile() {
	next := 0
	for _, a := range w.authors {
		if next == len(hostile) {
			return
		}
		if len(a.listed) == 0 || len(a.papers) == 0 {
			continue
		}
		h := &hostile[next]
		next++
		path := "/~" + a.login + "/"
		a.listed = append(a.listed, "http://"+h.name()+path)
		w.host(h.name()).page(path, a.name, a.name+"'s homepage", func(d *doc) {
			d.p("Papers: " + a.papers[0].title)
			if h.links != nil {
				d.f("%s", h.links(w))
			}
		})
	}
}

// serveHostile answers what a hostile site has beside its homepage, and every
// name below wild.example.
func (w *Web) serveHostile(rw http.ResponseWriter, r *http.Request, name string) bool {
	if !w.opt.Hostile {
		return false
	}
	if name == VictimHost {
		http.NotFound(rw, r)
		return true
	}
	if strings.HasSuffix(name, ".wild.example") {
		d := newDoc("Papers")
		d.f("<a href='http://x%s/paper.pdf'>paper</a>", name)
		send(rw, r, "text/html", d.bytes())
		return true
	}
	for i := range hostile {
		if h := &hostile[i]; h.name() == name && h.serve != nil {
			return h.serve(w, rw, r)
		}
	}
	return false
}
