package sampleweb

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
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
	build func(w *Web, h *host, dir string) // what is there beside the homepage in a folder; may be nil
	links func(w *Web) string               // on the homepage, beside a title
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
	{"robots", func(_ *Web, h *host, _ string) {
		h.robots = strings.Repeat("useragent:gleaner\n", 14_000) + strings.Repeat("disallow:/x\n", 20_000)
	}, static("")},
	{"comments", nil, func(*Web) string { return strings.Repeat("<!----!>", 1<<20) }},
	{"controls", nil, func(*Web) string {
		return "<p id='\x00a' class='b\x00'>\x1b[31m\x07red\x00</p><a href='a\x00b.pdf' title='\x1b]0;gone\x07'>\x00\u009b2J paper &#27;[1m</a><img alt='&#0;\x00'>"
	}},
	{"base", nil, func(*Web) string {
		return "<base href='/" + strings.Repeat("a", 4000) + "/'>" + strings.Repeat("<a href=x>paper</a>", 20_000)
	}},
	{"archives", func(_ *Web, h *host, dir string) { h.file(dir+"papers.pdf.zip", "application/zip", zipBomb) },
		static("<a href='papers.pdf.zip'>papers</a>")},
	{"gzip", func(_ *Web, h *host, _ string) { h.file("/paper.pdf.gz", "application/gzip", packedZeros) },
		static("<a href='/paper.pdf.gz'>paper</a>")},
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
	{"dripping", func(_ *Web, h *host, _ string) { h.pages["/drip.pdf"] = resource{stream: drip} },
		static("<a href='/drip.pdf'>paper</a>")},
	{"members", func(_ *Web, h *host, dir string) { h.pages[dir+"members.html"] = resource{stream: emptyMembers} },
		static("<a href='members.html'>papers</a>")},
	{"spoofed", buildSpoofed, func(w *Web) string {
		return "<a href='" + spoofedPath(w.papers[0]) + "'>" + esc(w.papers[0].title) + "</a>"
	}},
	{"poison", func(_ *Web, h *host, _ string) {
		for _, p := range poisons {
			h.file("/"+p.name, "application/octet-stream", p.body)
		}
	}, func(*Web) (links string) {
		for _, p := range poisons {
			links += "<li><a href='/" + p.name + "'>paper</a>"
		}
		return links
	}},
}

// spoofedPath ends as the publisher's own does.
func spoofedPath(p *paper) string { return "/" + p.number() + ".pdf" }

// buildSpoofed has another work of a paper's authors under the paper's number.
func buildSpoofed(w *Web, h *host, _ string) {
	h.file(spoofedPath(w.papers[0]), "application/pdf", func() []byte {
		a := w.article(w.papers[0])
		a.title, a.abstract = "Notes on Something Else Entirely", "These are notes on something else."
		return writePDF(a)
	})
}

func static(s string) func(*Web) string { return func(*Web) string { return s } }

// drip sends a byte a second for as long as somebody reads.
func drip(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "application/pdf")
	for tick := time.NewTicker(time.Second); ; {
		if _, err := rw.Write([]byte("%")); err != nil {
			return
		}
		_ = http.NewResponseController(rw).Flush() // the next write says whether it is in vain
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// emptyMembers sends gzip members that hold nothing for as long as somebody
// reads.
func emptyMembers(rw http.ResponseWriter, r *http.Request) {
	many := bytes.Repeat(packtest.Gzip(""), 1<<12)
	rw.Header().Set("Content-Type", "text/html")
	rw.Header().Set("Content-Encoding", "gzip")
	for r.Context().Err() == nil {
		if _, err := rw.Write(many); err != nil {
			return
		}
	}
}

// HostileHosts are the names of the hostile sites of a Web that has them.
func HostileHosts() []string {
	return each.Of(hostile, hostileHost.name)
}

// buildHostile gives some authors a second homepage on a hostile site.
func (w *Web) buildHostile() {
	w.host(VictimHost)
	left := hostile
	for _, a := range w.authors {
		if len(left) == 0 {
			return
		}
		if len(a.listed) == 0 || len(a.papers) == 0 {
			continue
		}
		kind, dir := left[0], "/~"+a.login+"/"
		left = left[1:]
		a.listed = append(a.listed, "http://"+kind.name()+dir)
		h := w.host(kind.name())
		h.page(dir, a.name, a.name+"'s homepage", func(d *doc) {
			d.p("Papers: " + a.papers[0].title)
			d.f("%s", kind.links(w))
		})
		if kind.build != nil {
			kind.build(w, h, dir)
		}
	}
}

// serveWild answers for every name below wild.example.
func serveWild(rw http.ResponseWriter, r *http.Request, name string) {
	d := newDoc("Papers")
	d.f("<a href='http://x%s/paper.pdf'>paper</a>", name)
	send(rw, r, "text/html", d.bytes())
}
