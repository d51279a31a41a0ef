package archive

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/packtest"
)

// part is a record of an archive that is changed: where it stands, and what it gives.
type part struct {
	from, to  int
	url, body string
}

// digest is the SHA-1 of a text, as records tell it.
func digest(s string) string {
	sum := sha1.Sum([]byte(s))
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// sealed is a WARC record with digests.
func sealed(url, body string) string {
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + body
	fields := fmt.Sprintf("Content-Type: application/http; msgtype=response\r\nWARC-Block-Digest: %s\r\nWARC-Payload-Digest: %s",
		digest(block), digest(body))
	return strings.Replace(warc(Response, url, "", block), "Content-Type: \r\n", fields+"\r\n", 1)
}

// changeable is an archive in which bytes are changed, and how it is packed then.
type changeable struct {
	data  []byte
	parts []part
	arc   bool
	pack  func([]byte) []byte
}

func changeables() []changeable {
	var texts, lines []string
	bodies := []string{"first", strings.Repeat("second ", 40), "", "fourth\r\n\r\n", strings.Repeat("\x1f\x8b\x08fifth", 9), "last"}
	url := func(i int) string { return fmt.Sprintf("http://a.test/%d", i) }
	for i, b := range bodies {
		texts = append(texts, sealed(url(i), b))
		block := "HTTP/1.1 200 OK\r\n\r\n" + b
		lines = append(lines, fmt.Sprintf("%s 127.0.0.1 20140102030405 text/plain %d\n%s\n", url(i), len(block), block))
	}
	version := "1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n\n"
	lines[0] = fmt.Sprintf("filedesc://x.arc 0.0.0.0 20140301000000 text/plain %d\n%s", len(version), version) + lines[0]
	enc, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	as := func(s string) []byte { return []byte(s) }
	gzip := func(s string) []byte { return packtest.Gzip(s) }
	zst := func(s string) []byte { return enc.EncodeAll([]byte(s), nil) }
	same := func(b []byte) []byte { return b }
	pieces := func(b []byte) []byte { return packtest.Gzip(slices.Collect(slices.Chunk(b, 300))...) }
	join := func(texts []string, arc bool, each func(string) []byte, pack func([]byte) []byte) changeable {
		c := changeable{arc: arc, pack: pack}
		for i, t := range texts {
			from := len(c.data)
			c.data = append(c.data, each(t)...)
			c.parts = append(c.parts, part{from, len(c.data), url(i), bodies[i]})
		}
		return c
	}
	return []changeable{
		join(texts, false, as, same), join(texts, false, gzip, same), join(texts, false, zst, same),
		join(texts, false, as, func(b []byte) []byte { return packtest.Gzip(b) }), join(texts, false, as, pieces),
		join(lines, true, as, same), join(lines, true, gzip, same), join(lines, true, as, pieces),
	}
}

// change changes, cuts, doubles or inserts bytes, and reports which it touches: [at, to),
// or what is on both sides of at.
func (c changeable) change(how, at, n int, put []byte) (changed []byte, to int) {
	at %= len(c.data)
	to = min(at+n%600, len(c.data))
	head, tail := c.data[:at], c.data[to:]
	switch how % 4 {
	case 0:
		put = put[:min(len(put), to-at)]
		return slices.Concat(head, put, c.data[at+len(put):]), at + len(put)
	case 1:
		return slices.Concat(head, tail), to
	case 2:
		return slices.Concat(c.data[:to], c.data[at:]), -to
	}
	return slices.Concat(head, put, c.data[at:]), -at
}

// untouched reports whether a change leaves a part as it is.
func (c changeable) untouched(p part, at, to int) bool {
	from := p.from
	if c.arc && from > 0 {
		from-- // a record begins where a line does
	}
	if to < 0 { // between two bytes
		return -to <= from || -to >= p.to
	}
	return to <= from || at >= p.to
}

// FuzzChanged: of an archive of which bytes are changed, cut, doubled or inserted, all
// records are read that the change does not touch.
func FuzzChanged(f *testing.F) {
	all := changeables()
	for kind := range all {
		for how := range 4 {
			for at := 0; at < len(all[kind].data); at += 97 {
				f.Add(kind, how, at, 1+at%211, []byte{byte(at), 'x'})
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind, how, at, n int, put []byte) {
		if kind < 0 || how < 0 || at < 0 || n < 0 || len(put) > 2000 {
			return
		}
		checkChanged(t, all[kind%len(all)], how, at, n, put)
	})
}

func checkChanged(t *testing.T, c changeable, how, at, n int, put []byte) {
	changed, to := c.change(how, at, n, put)
	got, _ := all(t, c.pack(changed), Position{})
	for i, p := range c.parts {
		if !c.untouched(p, at%len(c.data), to) || c.arc && (c.inLength(at%len(c.data), to) || c.asLong(to-at%len(c.data))) {
			continue
		}
		is := func(s seen) bool { return s.url == p.url && s.body == p.body && s.err == nil }
		require.True(t, slices.ContainsFunc(got, is), "record %v %v", i, changed)
	}
}

// asLong reports whether a cut is as long as records are: then the one that it is in ends
// where another does, and nothing shows that.
func (c changeable) asLong(n int) bool {
	for i, first := range c.parts {
		for _, last := range c.parts[i:] {
			if size := last.to - first.from; size-6 <= n && n <= size+2 { // with empty lines or without
				return true
			}
		}
	}
	return false
}

// inLength reports whether a change touches the length of an ARC's record: it may end
// where another does, and nothing shows that.
func (c changeable) inLength(at, to int) bool {
	if to < 0 {
		at, to = -to, -to
	}
	for _, p := range c.parts {
		line := bytes.Index(c.data[p.from:p.to], []byte("HTTP/1.1")) + p.from
		if at <= line && to >= line-8 {
			return true
		}
	}
	return false
}
