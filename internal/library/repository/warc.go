package repository

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// WARC writes records of WARC/1.1 (ISO 28500:2017), each a gzip member of its
// own, so that a reader can begin at any record (Annex D.3).
type WARC struct {
	w   io.Writer
	now func() time.Time
}

// NewWARC writes to w and begins with a warcinfo record that names the software.
func NewWARC(w io.Writer, fileName, software string) (*WARC, error) {
	return newWARC(w, fileName, software, time.Now)
}

func newWARC(w io.Writer, fileName, software string, now func() time.Time) (*WARC, error) {
	out := &WARC{w: w, now: now}
	body := "software: " + oneLine(software) + "\r\nformat: WARC File Format 1.1\r\n" +
		"conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
	h := []string{"WARC-Type: warcinfo", "Content-Type: application/warc-fields"}
	if fileName != "" {
		h = append(h, "WARC-Filename: "+oneLine(fileName))
	}
	return out, out.record(h, now(), "warcinfo "+fileName, []byte(body))
}

// Response writes an answer as it came: its status, headers and body. A
// document whose headers are not known is written by Resource.
func (w *WARC) Response(it Item, body []byte) error {
	status := it.Status
	if status == 0 {
		status = http.StatusOK
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	names := make([]string, 0, len(it.Header))
	for name := range it.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		key := http.CanonicalHeaderKey(name)
		// The body is stored decoded and whole: what was said of its coding on
		// the wire would be wrong now, and is kept under another name.
		if key == "Content-Encoding" || key == "Transfer-Encoding" || key == "Content-Length" {
			key = "X-Archive-Orig-" + key
		}
		for _, v := range it.Header[name] {
			fmt.Fprintf(&b, "%s: %s\r\n", oneLine(key), oneLine(v))
		}
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	b.Write(body)
	h := []string{
		"WARC-Type: response",
		"WARC-Target-URI: " + oneLine(it.URL),
		"Content-Type: application/http;msgtype=response",
		"WARC-Payload-Digest: " + payloadDigest(body),
		"WARC-Identified-Payload-Type: " + oneLine(it.mediaType()),
	}
	return w.record(h, it.FetchedAt, it.URL+it.SHA256, b.Bytes())
}

// Resource writes a document without the protocol that brought it.
func (w *WARC) Resource(it Item, body []byte) error {
	h := []string{
		"WARC-Type: resource",
		"WARC-Target-URI: " + oneLine(it.URL),
		"Content-Type: " + oneLine(it.mediaType()),
		"WARC-Payload-Digest: " + payloadDigest(body),
	}
	return w.record(h, it.FetchedAt, it.URL+it.SHA256, body)
}

// record writes one gzip member. The record's id is made of its content and
// date: the same export twice gives the same file.
func (w *WARC) record(header []string, at time.Time, identity string, block []byte) error {
	if at.IsZero() {
		at = w.now()
	}
	date := at.UTC().Format("2006-01-02T15:04:05Z")
	var b bytes.Buffer
	b.WriteString("WARC/1.1\r\n")
	for _, h := range header {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("WARC-Date: " + date + "\r\n")
	b.WriteString("WARC-Record-ID: <urn:uuid:" + uuidOf(header[0]+identity+date) + ">\r\n")
	b.WriteString("WARC-Block-Digest: " + payloadDigest(block) + "\r\n")
	b.WriteString("Content-Length: " + strconv.Itoa(len(block)) + "\r\n\r\n")
	z := gzip.NewWriter(w.w)
	for _, part := range [][]byte{b.Bytes(), block, []byte("\r\n\r\n")} {
		if _, err := z.Write(part); err != nil {
			return typed(err)
		}
	}
	return typed(z.Close())
}

// payloadDigest is SHA-1 in base32, the form that other tools compare.
func payloadDigest(b []byte) string {
	sum := sha1.Sum(b)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// uuidOf is a version 8 UUID (RFC 9562, §5.8) of a name.
func uuidOf(name string) string {
	s := sha256.Sum256([]byte(name))
	s[6] = s[6]&0x0f | 0x80
	s[8] = s[8]&0x3f | 0x80
	x := hex.EncodeToString(s[:16])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

// oneLine keeps a value from ending its header early.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' || r == 0 {
			return ' '
		}
		return r
	}, s)
}

// ExportWARC writes documents to w as WARC: a response record where the headers
// of the answer are known, a resource record otherwise.
func (r *Repository) ExportWARC(ctx context.Context, w io.Writer, fileName string, items iter.Seq[Item], done func(Exported) error) error {
	out, err := NewWARC(w, fileName, "gleaner")
	if err != nil {
		return err
	}
	for it := range items {
		body, err := r.Read(ctx, it.SHA256)
		if err != nil {
			return err
		}
		write := out.Response
		if len(it.Header) == 0 {
			write = out.Resource
		}
		if err := write(it, body); err != nil {
			return err
		}
		if err := tell(done, Exported{it, fileName}); err != nil {
			return err
		}
	}
	return nil
}
