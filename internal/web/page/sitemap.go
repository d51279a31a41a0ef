package page

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gleaner/internal/web/weburl"
)

// ErrNotSitemap is returned by ParseSitemap for a body that holds no address.
var ErrNotSitemap = errors.New("page: not a sitemap")

// The limits of sitemaps: those of the protocol (sitemaps.org), of which the
// first also bounds what a compressed one may inflate to.
const (
	MaxSitemapBytes = 50 << 20
	MaxSitemapURLs  = 50000
	// maxSitemapAddresses bounds all addresses together, as maxAddresses does.
	maxSitemapAddresses = 16 << 20
	maxSitemapText      = 8000
)

// The names of what was cut, in Sitemap.Truncated.
const (
	CutSitemapBytes = "sitemap-bytes"
	CutSitemapURLs  = "sitemap-urls"
)

// SitemapEntry is one address of a sitemap.
type SitemapEntry struct {
	URL     string    // canonical
	LastMod time.Time // zero if not told
}

// Sitemap is what one file says. Pages and Sitemaps may name other hosts: it is
// for the caller to keep to those that the sitemap may speak for.
type Sitemap struct {
	Pages     []SitemapEntry
	Sitemaps  []SitemapEntry // of a sitemap index
	Truncated []string       // CutSitemapBytes, CutSitemapURLs; nil if whole

	addresses int // bytes
}

// ParseSitemap reads a sitemap, a sitemap index, a feed (RSS, Atom) or a list
// of addresses by lines, gzip-compressed or not. url is where it was fetched.
// Broken XML costs the entries that are broken. ErrNotSitemap is returned where
// nothing was found in what does not call itself a sitemap.
func ParseSitemap(url string, body []byte) (Sitemap, error) {
	var m Sitemap
	body, err := m.inflate(body)
	if err != nil {
		return m, err
	}
	if len(body) > MaxSitemapBytes {
		body = body[:MaxSitemapBytes]
		m.cut(CutSitemapBytes)
	}
	text, _ := decode("", body)
	trimmed := bytes.TrimSpace(text)
	known := false
	if bytes.HasPrefix(trimmed, []byte("<")) {
		known = m.readXML(url, trimmed)
	} else {
		for line := range bytes.Lines(trimmed) {
			line = bytes.TrimSpace(line)
			if bytes.HasPrefix(line, []byte("http")) && len(line) < maxSitemapText {
				m.add(&m.Pages, url, sitemapItem{loc: line})
			}
		}
	}
	if !known && len(m.Pages)+len(m.Sitemaps) == 0 {
		return m, fmt.Errorf("%w: %s", ErrNotSitemap, url)
	}
	return m, nil
}

// inflate unpacks gzip, up to MaxSitemapBytes. What a cut or broken file gave
// up to there is used.
func (m *Sitemap) inflate(body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		return body, nil
	}
	zr, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNotSitemap, err)
	}
	out, err := io.ReadAll(io.LimitReader(zr, MaxSitemapBytes+1))
	if err != nil && len(out) == 0 {
		return nil, fmt.Errorf("%w: %v", ErrNotSitemap, err)
	}
	if err != nil {
		m.cut(CutSitemapBytes)
	}
	return out, nil
}

// cut notes that something is left out.
func (m *Sitemap) cut(what string) { m.Truncated = withCut(m.Truncated, what) }

// withCut adds the name of what was cut to a list that has each once.
func withCut(list []string, what string) []string {
	if slices.Contains(list, what) {
		return list
	}
	return append(list, what)
}

// sitemapItem is an entry while it is read.
type sitemapItem struct{ loc, lastMod []byte }

// readXML reads elements by their local names, whatever the name space, and reports
// whether the file is a sitemap or a feed. encoding/xml stops at the first error, and
// many sitemaps have one.
func (m *Sitemap) readXML(url string, text []byte) (known bool) {
	s := newScanner(text, true)
	var item sitemapItem
	var field *[]byte
	for {
		k := s.next()
		name := string(s.name[bytes.LastIndexByte(s.name, ':')+1:])
		switch k {
		case endOfInput:
			return known
		case textToken:
			if field != nil && len(*field)+len(s.text) < maxSitemapText {
				*field = append(*field, s.text...)
			}
		case endTag:
			field = nil
			switch name {
			case "url", "item", "entry":
				m.add(&m.Pages, url, item)
				item = sitemapItem{}
			case "sitemap":
				m.add(&m.Sitemaps, url, item)
				item = sitemapItem{}
			}
		case startTag:
			known = known || isSitemapRoot(name)
			if field = item.start(name, s.attr("href")); s.selfClose {
				field = nil
			}
		}
	}
}

func isSitemapRoot(name string) bool {
	switch name {
	case "urlset", "sitemapindex", "rss", "feed", "rdf":
		return true
	}
	return false
}

// start returns the field that the content of an element belongs to, or nil.
func (i *sitemapItem) start(name string, href []byte) *[]byte {
	switch name {
	case "url", "sitemap", "item", "entry":
		*i = sitemapItem{}
	case "loc":
		return &i.loc
	case "link":
		if len(i.loc) > 0 {
			return nil
		}
		i.loc = bytes.Clone(href)
		if len(href) == 0 {
			return &i.loc
		}
	case "lastmod", "pubdate", "updated", "date":
		i.lastMod = nil
		return &i.lastMod
	}
	return nil
}

// add keeps an entry whose address is one.
func (m *Sitemap) add(list *[]SitemapEntry, base string, item sitemapItem) {
	loc := strings.TrimSpace(string(item.loc))
	if loc == "" {
		return
	}
	if len(m.Pages)+len(m.Sitemaps) >= MaxSitemapURLs {
		m.cut(CutSitemapURLs)
		return
	}
	u, err := weburl.Canonical(base, loc)
	if err != nil {
		return
	}
	if len(u) > maxAddress || m.addresses+len(u) > maxSitemapAddresses {
		m.cut(CutSitemapURLs)
		return
	}
	m.addresses += len(u)
	*list = append(*list, SitemapEntry{URL: u, LastMod: parseTime(strings.TrimSpace(string(item.lastMod)))})
}

// parseTime reads the dates of the W3C profile (ISO 8601) and of feeds.
func parseTime(s string) time.Time {
	if len(s) < 4 || len(s) > 40 {
		return time.Time{}
	}
	for _, layout := range []string{
		time.RFC3339, "2006-01-02", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05", "2006-01", "2006",
		time.RFC1123Z, time.RFC1123, "Mon, 2 Jan 2006 15:04:05 -0700",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
