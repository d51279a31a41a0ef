package ingest

import (
	"bytes"
	"cmp"
	"io"
	"strings"

	"gleaner/internal/ingest/archive"
)

// provenance is how a crawler found a URL, from a request or metadata record or a crawl.log.
type provenance struct {
	url, parent, path string
}

// maxMetadata limits the bytes that are read of a request or metadata record.
const maxMetadata = 64 << 10

// addProvenance reads a request or metadata record. It describes the last resource, or one
// that follows in the archive.
func (a *archives) addProvenance(r *archive.Record) {
	block, _ := io.ReadAll(io.LimitReader(r.Block, maxMetadata))
	s := provenance{url: r.URL}
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
	of := cmp.Or(r.Header.Get("WARC-Concurrent-To"), r.Header.Get("WARC-Refers-To"))
	if a.last != nil && (of != "" && of == a.lastID || a.last.URL == s.url) {
		a.last.setProvenance(s)
		return
	}
	if a.pending == nil || len(a.pending) >= maxPending {
		a.pending = map[string]provenance{}
	}
	a.pending[s.url] = s
}

// maxPending limits the URLs whose provenance is held before their resources are read.
const maxPending = 1000

// seedPath stands for the empty discovery path of a seed.
const seedPath = "-"

// setProvenance sets the parent, depth and seed of a resource. A discovery path is Heritrix's:
// a letter for each step from the seed. L is a link, R a redirect, E and X embedded files, P a
// prerequisite, I an inferred URL, M an entry of a manifest. The depth is the number of links.
func (r *Resource) setProvenance(s provenance) {
	r.Parent = cmp.Or(s.parent, r.Parent)
	if s.path != "" {
		r.Seed = s.path == seedPath
		r.Depth = strings.Count(s.path, "L")
	}
}
