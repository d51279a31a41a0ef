package ingest

import (
	"bytes"
	"cmp"
	"io"
	"strings"

	"gleaner/internal/ingest/archive"
)

// said is what a request or metadata record says of a resource.
type said struct {
	url, parent, path string
}

// maxSaid bounds what is read of a record about another one.
const maxSaid = 64 << 10

// hear takes what a request or a metadata record says of a resource: of the last
// one, or of one that comes.
func (a *archives) hear(r *archive.Record) {
	block, _ := io.ReadAll(io.LimitReader(r.Block, maxSaid))
	s := said{url: r.URL}
	for line := range bytes.Lines(block) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		value = strings.TrimSpace(value)
		switch name = strings.ToLower(name); {
		case r.Type == archive.Request && name == "referer", r.Type == archive.Metadata && name == "via": // a request's Via names proxies
			s.parent = value
		case r.Type == archive.Metadata && name == "hopsfromseed":
			s.path = cmp.Or(value, seedPath)
		}
	}
	if s.parent == "" && s.path == "" || len(s.url) > maxURL || len(s.parent) > maxURL {
		return
	}
	of := r.Header.Get("WARC-Concurrent-To")
	if of == "" {
		of = r.Header.Get("WARC-Refers-To")
	}
	if a.last != nil && (of != "" && of == a.lastID || a.last.URL == s.url) {
		a.last.hear(s)
		return
	}
	if a.ahead == nil || len(a.ahead) >= maxAhead {
		a.ahead = map[string]said{}
	}
	a.ahead[s.url] = s
}

// maxAhead bounds the resources of which something is known before they come.
const maxAhead = 1000

// seedPath stands for the empty discovery path of a seed.
const seedPath = "-"

// hear notes what is said of a resource. A discovery path is Heritrix's: a letter for
// each step from the seed; L is a link, R a redirect, E and X what a page embeds, P a
// prerequisite, I what is inferred, M what a manifest lists. Links make depth.
func (r *Resource) hear(s said) {
	if s.parent != "" {
		r.Parent = s.parent
	}
	if s.path != "" {
		r.Seed = s.path == seedPath
		r.Depth = strings.Count(s.path, "L")
	}
}
