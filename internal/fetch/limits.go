package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"gleaner/internal/gleaner"
	"gleaner/internal/web/weburl"
)

const (
	firstRead = 16 << 10
	ratioFrom = 1 << 20 // inflated bytes from which the ratio counts
)

// sizeError reports a body beyond its limit.
type sizeError struct {
	limit int64
	what  string
}

func (e *sizeError) Error() string {
	return fmt.Sprintf("%s is beyond the limit of %d", e.what, e.limit)
}

// limited is the part of the chain that limits the decoded size of answers by kind, and waits for
// their memory. It sets the outcome of a body that is cut off.
type limited struct{ next http.RoundTripper }

func (l *limited) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(r)
	if err != nil || resp.Body == http.NoBody {
		return resp, err
	}
	x := exchangeOf(r)
	b := &bounded{ReadCloser: resp.Body, ctx: r.Context(), x: x, coded: resp.Uncompressed, promised: resp.ContentLength, kind: kindOf(resp.Header.Get("Content-Type"))}
	b.setLimit(x.limits.bodyBytes(b.kind))
	if b.promisesTooMuch() {
		size, outcome := b.checkSize()
		x.refused = x.fail(outcome, size)
	} else if why := x.unwanted(resp, b.coded); why != nil {
		x.refused = x.fail(Unwanted, why)
	}
	resp.Body = b
	return resp, nil
}

// bounded is a body with limits.
type bounded struct {
	io.ReadCloser
	ctx      context.Context
	x        *exchange
	kind     Kind
	limit    int64
	promised int64 // on the wire; -1: unknown
	coded    bool
	n        int64 // bytes read
}

// packedBytes returns the greatest packed size of a body: its plain size plus framing.
func packedBytes(plain int64) int64 { return plain + plain/8 + firstRead }

// setLimit limits the body, and a packed body on the wire too, even if it decodes to few bytes.
func (b *bounded) setLimit(limit int64) {
	if most := b.x.Largest; most > 0 {
		limit = min(limit, most)
	}
	b.limit = limit
	if b.coded {
		if b.x.prefix > 0 {
			limit = min(limit, b.x.prefix)
		}
		b.x.most = packedBytes(limit)
	}
}

// promisesTooMuch reports whether the promised length is above the limit. A page is allowed that
// of a document, since only its head shows the kind.
func (b *bounded) promisesTooMuch() bool {
	return b.kind != KindPage && !b.coded && b.x.prefix == 0 && b.promised > b.limit
}

// Read implements io.Reader; its errors are *Error.
func (b *bounded) Read(p []byte) (int, error) {
	prefix := b.x.prefix
	if prefix > 0 {
		p = p[:min(int64(len(p)), prefix-b.n)]
	}
	n, err := b.ReadCloser.Read(p)
	if b.n == 0 && b.kind == KindPage && looksLikeDocument(p[:n]) {
		b.setLimit(b.x.limits.DocumentBytes)
	}
	b.n += int64(n)
	if prefix > 0 && b.n >= prefix {
		return n, io.EOF
	}
	if held := b.hold(); held != nil {
		return n, held
	}
	if size, outcome := b.checkSize(); size != nil {
		return n, b.x.fail(outcome, size)
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, b.cut(err)
}

// cut returns the error of a failed read as an *Error.
func (b *bounded) cut(err error) *Error {
	switch cause := context.Cause(b.ctx); {
	case b.x.cut != nil:
		return b.x.cut
	case cause != nil:
		return b.x.fail(causeOutcome(cause), err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return b.x.fail(Truncated, err) // complete on the wire, but the packed data is not
	default:
		return b.x.fail(BadAnswer, err)
	}
}

// hold takes memory for a large body: for all of it if its length is known, else for its first
// part, and then for the rest.
func (b *bounded) hold() error {
	x := b.x
	if x.memory == nil || b.n <= max(smallBody, x.held) || x.held == b.limit {
		return nil
	}
	most := b.limit
	if b.promised > 0 && !b.coded {
		most = min(most, b.promised)
	} else if x.held == 0 {
		most = min(most, x.memory.first())
	}
	owner, before := weburl.Owner(x.host), x.release
	more, err := x.await(b.ctx, func() (func(), error) { return x.memory.take(b.ctx, owner, x.held, most) })
	if err != nil {
		return err
	}
	if first := x.memory.first(); most > first && !b.coded { // others wait for its memory
		x.watch.least = float64(first) / x.limits.Total.Seconds()
	}
	x.held, x.release = most, more
	if before != nil {
		x.release = func() { more(); before() }
	}
	return nil
}

func (b *bounded) checkSize() (*sizeError, gleaner.Outcome) {
	switch {
	case !b.coded && b.x.prefix == 0 && b.promised > b.limit:
		return &sizeError{b.limit, fmt.Sprintf("a body of %d bytes", b.promised)}, TooLarge
	case !b.coded && b.n > b.limit:
		return &sizeError{b.limit, "the body"}, TooLarge
	case b.coded && b.n > b.limit:
		return &sizeError{b.limit, "the inflated body"}, Inflated
	case b.coded && b.n > ratioFrom && b.n > b.x.wire*maxRatio:
		return &sizeError{maxRatio, "the ratio of the inflated body"}, Inflated
	default:
		return nil, ""
	}
}
