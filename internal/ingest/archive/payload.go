package archive

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"

	"gleaner/internal/fetch"
)

// Payload is what a crawler got.
type Payload struct {
	Status int // 0 where there is no HTTP about it
	Header http.Header
	Media  string // content type
	Body   io.Reader
	done   func()
}

// Close lets go of decoders. The record's block stays its reader's.
func (p *Payload) Close() { p.done() }

// Payload takes the block of a record apart. Of a record without an HTTP answer
// the block is the payload. The body ends with an error where it is damaged.
func (r *Record) Payload() (*Payload, error) {
	p := &Payload{Media: r.Media, Body: r.Block, Header: http.Header{}, done: func() {}}
	media, _, _ := mime.ParseMediaType(r.Media)
	if r.Type == Resource || r.Type == Metadata || media != "application/http" && media != "" {
		p.Header.Set("Content-Type", r.Media)
		p.Body = r.to(r.Block)
		return p, nil
	}
	in := bufio.NewReaderSize(r.to(r.Block), 8<<10)
	if err := p.readHead(in); err != nil {
		return nil, err
	}
	body := unchunked(p.Header, in)
	plain, done, err := uncoded(p.Header, body)
	if err != nil {
		return nil, err
	}
	p.Body, p.done = plain, done
	return p, nil
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
	h, err := fields(line)
	if err != nil && err != io.EOF { // a head alone is an answer without a body
		return err
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
			return "", errLongLine
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
func unchunked(h http.Header, in *bufio.Reader) *bufio.Reader {
	if !strings.Contains(strings.ToLower(h.Get("Transfer-Encoding")), "chunked") {
		return in
	}
	head, _ := in.Peek(64)
	size, _, ok := bytes.Cut(head, []byte("\r\n"))
	if !ok {
		if size, _, ok = bytes.Cut(head, []byte("\n")); !ok {
			return in
		}
	}
	size, _, _ = bytes.Cut(size, []byte(";"))
	if _, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 64); err != nil {
		return in
	}
	return bufio.NewReader(httputil.NewChunkedReader(in))
}

// uncoded undoes the content codings of a body that has them.
func uncoded(h http.Header, in *bufio.Reader) (io.Reader, func(), error) {
	said := strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ",")))
	head, _ := in.Peek(4)
	switch said {
	case "gzip", "x-gzip":
		if !isGzip(head) {
			return in, func() {}, nil
		}
	case "zstd":
		if !isZstd(head) {
			return in, func() {}, nil
		}
	}
	if len(head) == 0 {
		return in, func() {}, nil
	}
	return fetch.Undo(h, in)
}
