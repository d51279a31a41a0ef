package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"

	"gleaner/internal/fetch"
)

// ErrUnfinished marks a body whose coding ends early although its record is whole: a
// last chunk or a checksum is missing, or what the server sent was cut off.
var ErrUnfinished = errors.New("the coding of the answer has no end")

// Payload is what a crawler got.
type Payload struct {
	Status int // 0 where there is no HTTP about it
	Header http.Header
	Media  string // content type
	Body   io.Reader
	Note   string // what is said of the body and is not so
	done   func()
}

// Close lets go of decoders. The record's block stays its reader's.
func (p *Payload) Close() { p.done() }

// Payload takes the block of a record apart. Of a record without an HTTP answer
// the block is the payload. The body ends with an error where the record is damaged: it
// is cut off, or a digest or a checksum is wrong.
func (r *Record) Payload() (*Payload, error) {
	p := &Payload{Media: r.Media, Body: r.Block, Header: http.Header{}, done: func() {}}
	media, _, _ := mime.ParseMediaType(r.Media)
	if r.Type == Resource || r.Type == Metadata || r.Type == Conversion || media != "application/http" && media != "" {
		p.Header.Set("Content-Type", r.Media)
		p.Body = r.sound(r.Block)
		return p, nil
	}
	in := bufio.NewReaderSize(r.to(r.Block), 8<<10)
	if first, _ := in.Peek(4); r.headless(string(first)) {
		p.Media = r.said
		p.Header.Set("Content-Type", r.said)
		p.Body = r.sound(in)
		return p, nil
	}
	if err := p.readHead(in); err != nil {
		return nil, err
	}
	var s []*sum
	var raw []io.Reader
	packed := func(body io.Reader) io.Reader { // writers disagree of which of them the digest is
		sum := r.payloadSum()
		s, body = append(s, sum), sum.tee(body)
		raw = append([]io.Reader{body}, raw...)
		return body
	}
	var body io.Reader = in
	if p.Header.Get("Transfer-Encoding") != "" {
		body = unchunked(p.Header, packed(body))
	}
	if p.Header.Get("Content-Encoding") != "" {
		body, p.done, p.Note = uncoded(p.Header, bufio.NewReaderSize(packed(body), triedBytes))
	}
	sound := r.sound(body)
	sound.sums, sound.raw = append(s, sound.sums...), raw
	p.Body = sound
	return p, nil
}

// headless reports whether an answer has no header, as those of HTTP/0.9.
func (r *Record) headless(first string) bool {
	if r.Header == nil {
		return !strings.EqualFold(first, "HTTP") && first != "ICY "
	}
	return first == "%PDF" || first == "%!PS"
}

// payloadSum begins a digest of the payload; nil where none is recorded of all of it.
func (r *Record) payloadSum() *sum {
	if r.Type == Revisit || r.Header.Get("WARC-Truncated") != "" || r.Header.Get("WARC-Segment-Number") != "" {
		return nil
	}
	return newSum(r.Header.Get("WARC-Payload-Digest"))
}

// tee adds what is read to a digest.
func (s *sum) tee(r io.Reader) io.Reader {
	if s == nil {
		return r
	}
	return io.TeeReader(r, s)
}

// sound is a body that ends with an error where its record is damaged.
func (r *Record) sound(body io.Reader) *toSound {
	return &toSound{Reader: body, of: r, sums: []*sum{r.payloadSum()}}
}

type toSound struct {
	io.Reader
	of   *Record
	sums []*sum      // one has to be right; the last is of what is read
	raw  []io.Reader // what the others are of
}

func (t *toSound) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.sums[len(t.sums)-1].add(p[:n])
	if err == nil {
		return n, nil
	}
	for _, r := range t.raw {
		_, _ = io.Copy(io.Discard, r) // its errors are the record's
	}
	wrong := t.of.whole()
	switch {
	case wrong != nil:
		return n, wrong
	case errors.Is(err, io.ErrUnexpectedEOF):
		return n, fmt.Errorf("%w: %w", ErrUnfinished, err)
	case err != io.EOF:
		return n, err
	}
	for _, s := range t.sums {
		if s == nil || s.right() {
			return n, io.EOF
		}
	}
	return n, fmt.Errorf("%w: %w (WARC-Payload-Digest)", ErrDamaged, ErrDigest)
}

// to is a block that ends with an error where it is cut off.
func (r *Record) to(block io.Reader) io.Reader { return &toEnd{block, r} }

type toEnd struct {
	io.Reader
	of *Record
}

func (t *toEnd) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if err == io.EOF && t.of.Cut() {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// readHead reads a status line and header fields. Servers write all kinds of both.
func (p *Payload) readHead(in *bufio.Reader) error {
	left := maxHead
	line := func(int) (string, error) {
		l, err := longLine(in, left)
		left -= len(l)
		return strings.TrimRight(l, "\r\n"), err
	}
	first, err := line(0)
	if err != nil {
		return fmt.Errorf("no HTTP answer: %w", whole(err))
	}
	proto, rest, _ := strings.Cut(strings.TrimSpace(first), " ")
	code, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	status, err := strconv.Atoi(code)
	if err != nil || status < 100 || status > 999 || !strings.HasPrefix(strings.ToUpper(proto), "HTTP") && proto != "ICY" {
		return fmt.Errorf("no HTTP answer: it begins with %.40q", first)
	}
	h := textproto.MIMEHeader{}
	for f := (&fields{into: h}); ; {
		l, err := line(0)
		if err != nil && err != io.EOF { // a head alone is an answer without a body
			return err
		}
		if f.add(l); l == "" || err != nil {
			f.flush()
			break
		}
	}
	p.Status, p.Header = status, http.Header(h)
	p.Media = p.Header.Get("Content-Type")
	return nil
}

// longLine reads a line with its end, of at most limit bytes.
func longLine(in *bufio.Reader, limit int) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return "", errLongHead
		}
		line = append(line, part...)
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(line) > 0:
			return string(line), nil
		default:
			return string(line), err
		}
	}
}

// unchunked undoes the chunks of a body that has them. Many writers take them away
// and keep the header.
func unchunked(h http.Header, body io.Reader) io.Reader {
	if !strings.Contains(strings.ToLower(h.Get("Transfer-Encoding")), "chunked") {
		return body
	}
	in := bufio.NewReader(body)
	head, _ := in.Peek(64)
	size, _, ok := bytes.Cut(head, []byte("\n"))
	if !ok {
		return in
	}
	size, _, _ = bytes.Cut(size, []byte(";"))
	if _, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 64); err != nil {
		return in
	}
	return httputil.NewChunkedReader(in)
}

// triedBytes is how much of a body is decoded to see whether it has its coding.
const triedBytes = 8 << 10

// uncoded undoes the content codings of a body that has them. Where it has not, as
// its first bytes show, it is taken as it is, and note says so.
func uncoded(h http.Header, in *bufio.Reader) (plain io.Reader, done func(), note string) {
	said := strings.Join(h.Values("Content-Encoding"), ", ")
	head, _ := in.Peek(triedBytes)
	if strings.TrimSpace(said) == "" || len(head) == 0 {
		return in, func() {}, ""
	}
	trial, done, err := fetch.Undo(h, bytes.NewReader(head))
	if err == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(trial, 8*triedBytes))
		done()
	}
	// Bare deflate has no magic: a short text may read as the beginning of one.
	bare := strings.EqualFold(strings.TrimSpace(said), "deflate") && len(head) < triedBytes && head[0]&0x0f != 8
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) && !bare {
		if plain, done, err = fetch.Undo(h, in); err == nil {
			return plain, done, ""
		}
	}
	return in, func() {}, fmt.Sprintf("it is not encoded as its header says (%.40q)", said)
}
