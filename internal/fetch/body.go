package fetch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	firstRead  = 16 << 10 // most pages fit
	firstTrust = 1 << 20  // of a promised length, for the first buffer
	ratioFrom  = 1 << 20  // inflated bytes from which the ratio counts
	drainBytes = 64 << 10 // read of an answer that is not wanted, to keep its connection
)

// sizeError is a body beyond its limit.
type sizeError struct {
	outcome Outcome
	limit   int64
	what    string
}

func (e *sizeError) Error() string {
	return fmt.Sprintf("%s is beyond the limit of %d", e.what, e.limit)
}

// body reads the body of one answer within its limits.
type body struct {
	ctx    context.Context
	resp   *http.Response
	limits Limits
	kind   Kind
	coded  []string

	watch *watch
	start time.Time // of the body
	wire  int64
	most  int64 // bytes on the wire that may come
	raw   error // what the connection said, but for io.EOF

	memory  *Memory
	release func() // what is held of memory; nil for nothing
}

func newBody(ctx context.Context, resp *http.Response, l Limits, w *watch) *body {
	return &body{
		ctx: ctx, resp: resp, limits: l,
		kind:  kindOf(resp.Header.Get("Content-Type")),
		coded: codings(resp.Header),
		watch: w,
		start: time.Now(),
	}
}

// Read reads from the connection, watching its pace.
func (b *body) Read(p []byte) (int, error) {
	b.watch.reading(time.Now())
	n, err := b.resp.Body.Read(p)
	b.wire += int64(n)
	if len(b.coded) > 0 && b.most > 0 && b.wire > b.most {
		b.raw = &sizeError{TooLarge, b.most, "the packed body"}
		return 0, b.raw // with bytes beside it a decoder may pass it over
	}
	if err != nil && err != io.EOF {
		b.raw = err
		return n, err
	}
	if took := time.Since(b.start); err == nil && took > b.limits.Grace && float64(b.wire) < took.Seconds()*float64(b.limits.MinRate) {
		b.raw = errSlow
		return n, errSlow
	}
	return n, err
}

// drain reads the rest of a short answer that nobody wants.
func (b *body) drain() {
	if b.resp.ContentLength <= drainBytes {
		_, _ = io.CopyN(io.Discard, b, drainBytes)
	}
}

// read returns the inflated body, or its first prefix bytes if prefix is not 0.
func (b *body) read(prefix int64) ([]byte, error) {
	packed, free, err := b.holdWindows()
	if err != nil {
		return nil, err
	}
	defer free()
	r, done, err := inflater(packed, b.coded)
	if err != nil {
		if b.wire == 0 && (err == io.EOF || err == io.ErrUnexpectedEOF) {
			return nil, nil // nothing at all, however it was meant to be packed
		}
		return nil, err
	}
	defer done()
	limit := b.limits.bodyBytes(b.kind)
	b.most = b.mostPacked(limit, prefix)
	buf := make([]byte, 0, b.firstSize(prefix))
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		first := len(buf) == 0
		buf = buf[:len(buf)+n]
		if prefix > 0 && int64(len(buf)) >= prefix {
			return buf[:prefix], nil
		}
		if first && b.kind == KindPage && looksLikeDocument(buf) {
			limit = b.limits.DocumentBytes
			b.most = b.mostPacked(limit, prefix)
		}
		if err := b.hold(int64(len(buf)), limit); err != nil {
			return nil, err
		}
		if sizeErr := b.checkSize(int64(len(buf)), limit, prefix > 0); sizeErr != nil {
			return nil, sizeErr
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if len(b.coded) > 0 { // up to the end, so that the connection can be used again
		_, _ = io.CopyN(io.Discard, b, 4096)
	}
	return buf, nil
}

// mostPacked is how much of a packed body is read, however little comes out of
// it: what is packed is not larger than what was, but for its frame.
func (b *body) mostPacked(limit, prefix int64) int64 {
	if prefix > 0 {
		limit = min(limit, prefix)
	}
	return limit + limit/8 + firstRead
}

// hold asks for memory when a body turns out to be large, once and for all of it.
func (b *body) hold(n, limit int64) error {
	if n <= smallBody || b.release != nil || b.memory == nil {
		return nil
	}
	if promised := b.resp.ContentLength; promised > 0 && len(b.coded) == 0 {
		limit = min(limit, promised)
	}
	var err error
	b.release, err = b.wait(func() (func(), error) { return b.memory.take(b.ctx, limit) })
	return err
}

// holdWindows asks for the memory of decoders' windows before there are any, and
// returns where the packed body is read from.
func (b *body) holdWindows() (packed io.Reader, free func(), err error) {
	if len(b.coded) == 0 || b.memory == nil {
		return b, func() {}, nil
	}
	in := bufio.NewReader(b)
	var first byte
	if head, err := in.Peek(1); err == nil { // what is wrong with it, the decoder says
		first = head[0]
	}
	n := windows(b.coded, first)
	if n <= smallWindow {
		return in, func() {}, nil
	}
	free, err = b.wait(func() (func(), error) { return b.memory.window(b.ctx, n) })
	return in, free, err
}

// wait waits for memory, which is not the host's fault.
func (b *body) wait(take func() (func(), error)) (release func(), err error) {
	from, resume := time.Now(), b.watch.pause()
	if release, err = take(); err != nil {
		return nil, err
	}
	b.start = b.start.Add(time.Since(from))
	resume()
	return release, nil
}

// giveBack releases what is held for a body that nobody gets.
func (b *body) giveBack() {
	if b.release != nil {
		b.release()
	}
}

func (b *body) firstSize(prefix int64) int64 {
	if n := b.resp.ContentLength; n > 0 && len(b.coded) == 0 {
		return min(n, firstTrust) + 1 // one more, to see the end without growing
	}
	if prefix > 0 {
		return min(prefix, firstRead)
	}
	return firstRead
}

func (b *body) checkSize(n, limit int64, prefix bool) error {
	coded := len(b.coded) > 0
	switch {
	case !coded && !prefix && b.resp.ContentLength > limit:
		return &sizeError{TooLarge, limit, fmt.Sprintf("a body of %d bytes", b.resp.ContentLength)}
	case !coded && n > limit:
		return &sizeError{TooLarge, limit, "the body"}
	case coded && n > limit:
		return &sizeError{Inflated, limit, "the inflated body"}
	case coded && n > ratioFrom && n > b.wire*b.limits.MaxRatio:
		return &sizeError{Inflated, b.limits.MaxRatio, "the ratio of the inflated body"}
	default:
		return nil
	}
}

// outcome names an error of read.
func (b *body) outcome(err error) Outcome {
	var size *sizeError
	switch cause := context.Cause(b.ctx); {
	case errors.As(err, &size), errors.As(b.raw, &size):
		return size.outcome
	case b.raw == errSlow:
		return SlowBody
	case cause != nil:
		return causeOutcome(cause)
	case b.raw != nil:
		return Truncated
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Truncated // whole on the wire, but packed without its end
	default:
		return BadAnswer
	}
}
