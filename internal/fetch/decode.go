package fetch

import (
	"bufio"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"gleaner/internal/web/weburl"
)

// acceptEncoding lists the codings of the decoders below.
const acceptEncoding = "gzip, deflate, br, zstd"

const (
	// maxWindow is the greatest window of a zstd frame in bytes (RFC 9659: 8 MB for content
	// coding).
	maxWindow = 8 << 20
	// largestBrotli is the largest window of a brotli stream (RFC 7932 section 9.1).
	largestBrotli = 16 << 20
	// smallWindow is the size in bytes of windows that need no share of the memory.
	smallWindow = 1 << 20
)

// windows returns the bytes of the windows of decoders for some codings. The first byte of a
// brotli stream holds its window; other codings around it hide it.
func windows(codings []string, first byte) (n int64) {
	for _, c := range codings {
		switch {
		case c == "zstd":
			n += maxWindow
		case c == "br" && len(codings) == 1:
			n += brotliWindow(first)
		case c == "br":
			n += largestBrotli
		}
	}
	return n
}

// brotliWindow returns the window of a stream with this first byte (RFC 7932 section 9.1).
func brotliWindow(first byte) int64 {
	bits := 17
	switch more := int(first >> 4 & 7); {
	case first&1 == 0:
		bits = 16
	case first>>1&7 != 0:
		bits = 17 + int(first>>1&7)
	case more > 1:
		bits = 8 + more
	}
	return 1 << bits
}

var errUnknownCoding = errors.New("unknown Content-Encoding")

// decoded is the part of the chain that decodes bodies.
type decoded struct{ next http.RoundTripper }

func (d *decoded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.next.RoundTrip(r)
	if err != nil || resp.Body == http.NoBody {
		return resp, err
	}
	x := exchangeOf(r)
	if applied := codings(resp.Header); len(applied) > 0 && !x.stored {
		resp.Body = &inflated{packed: resp.Body, applied: applied, ctx: r.Context(), x: x}
		resp.Uncompressed, resp.ContentLength = true, -1
	}
	return resp, nil
}

// inflated is a body that is decoded as it is read.
type inflated struct {
	packed  io.ReadCloser
	applied []string
	plain   io.Reader
	done    func()
	free    func() // releases the memory of the decoders' windows
	ctx     context.Context
	x       *exchange
}

func (b *inflated) Read(p []byte) (n int, err error) {
	if b.plain == nil {
		packed, err := b.holdWindows()
		if err != nil {
			return 0, err
		}
		plain, done, err := inflater(packed, b.applied, b.x.between)
		if b.x.wire == 0 && (err == io.EOF || err == io.ErrUnexpectedEOF) {
			return 0, io.EOF // an empty body in any coding
		}
		if err != nil {
			return 0, err
		}
		b.plain, b.done = plain, done
	}
	n, err = b.plain.Read(p)
	if err == io.EOF { // read to the end, so that the connection is reused
		_, _ = io.CopyN(io.Discard, b.packed, 4096)
	}
	return n, err
}

// holdWindows takes memory for the decoders' windows before they are made, and returns the reader
// of the packed body.
func (b *inflated) holdWindows() (packed io.Reader, err error) {
	if b.x.memory == nil {
		return b.packed, nil
	}
	in := bufio.NewReader(b.packed)
	var first byte
	if head, err := in.Peek(1); err == nil { // otherwise the decoder returns the error
		first = head[0]
	}
	if n := windows(b.applied, first); n > smallWindow {
		b.free, err = b.x.await(b.ctx, func() (func(), error) { return b.x.memory.windows.hold(b.ctx, weburl.Owner(b.x.host), n) })
	}
	return in, err
}

func (b *inflated) Close() error {
	if b.done != nil {
		b.done()
	}
	if b.free != nil {
		b.free()
	}
	return b.packed.Close()
}

// codings returns the content codings to decode, in the order in which they were applied. A gzip
// file marked as gzip by both type and coding is not decoded, as in browsers.
func codings(h http.Header) []string {
	var out []string
	for _, c := range strings.Split(strings.Join(h.Values("Content-Encoding"), ","), ",") {
		c = strings.ToLower(strings.TrimSpace(c))
		if c != "" && c != "identity" {
			out = append(out, c)
		}
	}
	if len(out) == 1 && (out[0] == "gzip" || out[0] == "x-gzip") {
		switch mediaType(h.Get("Content-Type")) {
		case "application/gzip", "application/x-gzip", "application/x-gunzip", "application/x-tgz", "application/x-compressed-tar":
			return nil
		}
	}
	return out
}

// Undo decodes the body of a stored answer with this header. done releases the decoders. A single
// unknown coding ("none", "utf-8") is ignored; a corrupt body is an error here or of a Read.
func Undo(h http.Header, body io.Reader) (plain io.Reader, done func(), err error) {
	applied := codings(h)
	plain, done, err = inflater(body, applied, func(n int64) error {
		if most := packedBytes(Limits{}.withDefaults().DocumentBytes); n > most {
			return &sizeError{most, "what is packed more than once"}
		}
		return nil
	})
	if errors.Is(err, errUnknownCoding) && len(applied) == 1 {
		return body, func() {}, nil
	}
	return plain, done, err
}

// between returns an error if the request ended, or if a decoder returned more bytes to the next
// one than a packed body may have.
func (x *exchange) between(n int64) error {
	switch cause := context.Cause(x.watch.ctx); {
	case cause != nil:
		x.cut = x.fail(causeOutcome(cause), cause)
	case x.most > 0 && n > x.most:
		x.cut = x.fail(Inflated, &sizeError{x.most, "what is packed more than once"})
	default:
		return nil
	}
	return x.cut
}

// layer is the input of a decoder. check is called with the bytes that all layers have read.
type layer struct {
	io.Reader
	n     *int64
	check func(n int64) error
}

func (l *layer) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	*l.n += int64(n)
	if over := l.check(*l.n); over != nil {
		return 0, over
	}
	return n, err
}

// inflater returns the decoded body. check bounds the bytes between two decoders.
func inflater(body io.Reader, applied []string, check func(n int64) error) (io.Reader, func(), error) {
	if len(applied) > 3 {
		return nil, nil, fmt.Errorf("%w: %d layers", errUnknownCoding, len(applied))
	}
	var between int64
	var closers []func()
	closeAll := func() {
		for _, c := range closers {
			c()
		}
	}
	for i := len(applied) - 1; i >= 0; i-- {
		r, done, err := decoder(body, applied[i])
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		body, closers = r, append(closers, done)
		if i > 0 {
			body = &layer{r, &between, check}
		}
	}
	return body, closeAll, nil
}

func decoder(r io.Reader, coding string) (io.Reader, func(), error) {
	nothing := func() {}
	switch coding {
	case "gzip", "x-gzip":
		z, err := newGunzip(r)
		return z, nothing, err
	case "br":
		return brotli.NewReader(r), nothing, nil
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	case "deflate":
		return deflateReader(r)
	default:
		return nil, nil, fmt.Errorf("%w %q", errUnknownCoding, coding)
	}
}

// gunzip reads all members of a gzip stream and ignores what follows the last, as browsers do,
// since some servers pad.
type gunzip struct {
	src   *bufio.Reader
	z     *gzip.Reader
	n     int // bytes of this member
	empty int // consecutive empty members
}

// maxEmptyMembers is the number of consecutive gzip members without content that are read:
// concatenated files have a few.
const maxEmptyMembers = 16

var errEmptyMembers = errors.New("gzip: members without content")

func newGunzip(r io.Reader) (*gunzip, error) {
	src := bufio.NewReader(r)
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gunzip{src: src, z: z}, nil
}

func (g *gunzip) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		g.n += n
		if n > 0 && err == io.EOF {
			err = nil // the next call returns it
		}
		if n > 0 || err != io.EOF {
			return n, err
		}
		if g.n > 0 {
			g.empty = 0
		} else if g.empty++; g.empty > maxEmptyMembers {
			return 0, errEmptyMembers
		}
		g.n = 0
		head, err := g.src.Peek(2)
		if err != nil || head[0] != 0x1f || head[1] != 0x8b {
			return 0, io.EOF
		}
		if err := g.z.Reset(g.src); err != nil {
			return 0, err
		}
		g.z.Multistream(false)
	}
}

// deflateReader reads both the zlib format, which the standard calls "deflate", and the bare
// stream of some servers.
func deflateReader(r io.Reader) (io.Reader, func(), error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err != nil {
		return nil, nil, io.ErrUnexpectedEOF
	}
	if head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		z, err := zlib.NewReader(b)
		return z, func() {}, err
	}
	return flate.NewReader(b), func() {}, nil
}
