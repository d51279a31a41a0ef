package repository

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"maps"
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
	w    io.Writer
	z    *gzip.Writer
	info string // id of its warcinfo record

	written int                 // exchanges
	first   map[string]original // by the digest of the payload
}

// NewWARC writes to w and begins with a warcinfo record that names the software, and
// says what else there is to say, a line "name: value" each.
func NewWARC(w io.Writer, fileName, software string, more ...string) (*WARC, error) {
	out := &WARC{w: w, z: gzip.NewWriter(w), first: map[string]original{}}
	body := "software: " + oneLine(software) + "\r\nformat: WARC File Format 1.1\r\n" +
		"conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
	for _, line := range more {
		body += oneLine(line) + "\r\n"
	}
	h := []string{"WARC-Type: warcinfo", "Content-Type: application/warc-fields"}
	if fileName != "" {
		h = append(h, "WARC-Filename: "+oneLine(fileName))
	}
	at := time.Now()
	out.info = recordID("warcinfo "+fileName, at)
	return out, out.record(h, at, out.info, []byte(body))
}

// Response writes an answer as it came: its status, headers and body. A
// document whose headers are not known is written by Resource.
func (w *WARC) Response(it Item, body []byte) error {
	status := it.Status
	status = cmp.Or(status, http.StatusOK)
	// The body is stored decoded and whole: what was said of its coding on the wire
	// would be wrong now, and is kept under another name.
	head := answerHead(fmt.Sprintf("%d %s", status, http.StatusText(status)), it.Header, int64(len(body)), "Content-Encoding", "Transfer-Encoding", "Content-Length")
	h := []string{
		"WARC-Type: response",
		"WARC-Target-URI: " + oneLine(it.URL),
		"Content-Type: application/http;msgtype=response",
		"WARC-Payload-Digest: " + payloadDigest(body),
		"WARC-Identified-Payload-Type: " + oneLine(it.mediaType()),
	}
	return w.item(h, it, append([]byte(head), body...))
}

// answerHead is the head of an answer whose body has a length. Fields that do not
// hold of that body are kept under another name.
func answerHead(status string, header http.Header, length int64, not ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %s\r\n", oneLine(status))
	said := false
	for _, name := range slices.Sorted(maps.Keys(header)) {
		key := http.CanonicalHeaderKey(name)
		said = said || key == "Content-Length" && !slices.Contains(not, key)
		if slices.Contains(not, key) {
			key = "X-Archive-Orig-" + key
		}
		for _, v := range header[name] {
			fmt.Fprintf(&b, "%s: %s\r\n", oneLine(key), oneLine(v))
		}
	}
	if !said && length >= 0 {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", length)
	}
	b.WriteString("\r\n")
	return b.String()
}

// Resource writes a document without the protocol that brought it.
func (w *WARC) Resource(it Item, body []byte) error {
	h := []string{
		"WARC-Type: resource",
		"WARC-Target-URI: " + oneLine(it.URL),
		"Content-Type: " + oneLine(it.mediaType()),
		"WARC-Payload-Digest: " + payloadDigest(body),
	}
	return w.item(h, it, body)
}

// item writes a record about a document. Its id is made of its content and date: the
// same export twice gives the same file.
func (w *WARC) item(header []string, it Item, block []byte) error {
	at := it.FetchedAt
	if at.IsZero() {
		at = time.Now()
	}
	return w.record(header, at, recordID(header[0]+it.URL+it.SHA256, at), block)
}

// record writes a record whose block is at hand.
func (w *WARC) record(header []string, at time.Time, id string, block []byte) error {
	return w.write(header, at, id, block, nil, payloadDigest(block), int64(len(block)))
}

// write writes one gzip member: a record with a block of two parts, of which the
// second is streamed, with the digest and the length of both.
func (w *WARC) write(header []string, at time.Time, id string, first []byte, rest io.Reader, digest string, length int64) error {
	var b bytes.Buffer
	b.WriteString("WARC/1.1\r\n")
	for _, h := range header {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("WARC-Date: " + warcDate(at) + "\r\nWARC-Record-ID: " + id + "\r\nWARC-Block-Digest: " + digest + "\r\n")
	b.WriteString("Content-Length: " + strconv.FormatInt(length, 10) + "\r\n\r\n")
	b.Write(first)
	w.z.Reset(w.w)
	if _, err := w.z.Write(b.Bytes()); err != nil {
		return typed(err)
	}
	if rest != nil {
		if _, err := io.Copy(w.z, rest); err != nil {
			return typed(err)
		}
	}
	if _, err := io.WriteString(w.z, "\r\n\r\n"); err != nil {
		return typed(err)
	}
	return typed(w.z.Close())
}

func warcDate(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05Z") }

// recordID is the id of the record that a name and a date stand for.
func recordID(name string, at time.Time) string {
	return "<urn:uuid:" + uuidOf(name+warcDate(at)) + ">"
}

// payloadDigest is SHA-1 in base32, the form that other tools compare.
func payloadDigest(b []byte) string {
	sum := sha1.Sum(b)
	return digestText(sum[:])
}

func digestText(sha1 []byte) string { return "sha1:" + base32.StdEncoding.EncodeToString(sha1) }

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
