package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"gleaner/internal/gleaner"
)

// StreamRequest asks for a file, or for a part of it, that is read as it comes.
type StreamRequest struct {
	URL  string
	From int64 // the first byte that is wanted
	Most int64 // how many of them; 0 is all
	// Of the file as it was when a part of it was read before: another is not given.
	ETag, LastModified string
}

// Streamed is an answer whose body is to be read.
type Streamed struct {
	URL    string // after redirects, canonical
	Header http.Header
	Part   bool  // the server gives parts of it; else Body is the whole file
	Size   int64 // of the whole file; -1: not said
	Body   io.Reader
}

// longestStream is how long one answer may be read; it is the pace that bounds it.
const longestStream = 6 * time.Hour

// Stream asks for a file by the same chain as Fetch does, and has use read it in the
// host's turn. No limit of sizes holds: who uses it holds no more of it than fits.
// Content codings are neither asked for nor undone: a part is one of the file as it
// lies there. A file that is not what it was is the outcome Changed. The error is
// use's own, or an *Error.
func (c *Client) Stream(ctx context.Context, req StreamRequest, use func(*Streamed) error) error {
	x := c.exchange()
	x.URL, x.FollowOffHost, x.stored, x.memory = req.URL, true, true, nil
	x.limits.Total = longestStream
	x.limits.PageBytes, x.limits.DocumentBytes, x.limits.MediaBytes = math.MaxInt64/2, math.MaxInt64/2, math.MaxInt64/2
	r, err := http.NewRequestWithContext(x.in(ctx), http.MethodGet, req.URL, nil)
	if err != nil {
		return &Error{Outcome: BadURL, URL: req.URL, Err: err}
	}
	r.Header = c.header.Clone()
	r.Header.Set("Accept", "*/*")
	r.Header.Set("Accept-Encoding", "identity")
	if !strings.HasPrefix(req.ETag, "W/") { // a weak one tells nothing of bytes
		setIf(r.Header, "If-Match", req.ETag)
	}
	setIf(r.Header, "If-Unmodified-Since", req.LastModified)
	if req.From > 0 || req.Most > 0 {
		r.Header.Set("Range", byteRange(req))
	}
	resp, err := (&http.Client{Transport: c.chain, CheckRedirect: followed}).Do(r)
	if err != nil {
		return asError(ctx, req.URL, err)
	}
	defer func() { _ = resp.Body.Close() }()
	s, err := x.streamed(req, resp)
	if err != nil {
		return err
	}
	return use(s)
}

func byteRange(req StreamRequest) string {
	if req.Most == 0 {
		return fmt.Sprintf("bytes=%d-", req.From)
	}
	return fmt.Sprintf("bytes=%d-%d", req.From, req.From+req.Most-1)
}

// streamed reads the head of an answer.
func (x *exchange) streamed(req StreamRequest, resp *http.Response) (*Streamed, error) {
	s := &Streamed{URL: canonical(x.raw), Header: x.answer, Size: resp.ContentLength, Body: resp.Body}
	switch outcome := x.statusOutcome(); {
	case x.status == http.StatusPreconditionFailed, x.status == http.StatusRequestedRangeNotSatisfiable && req.From > 0:
		return nil, x.fail(Changed, errors.New("it was changed since its beginning was read"))
	case x.status == http.StatusRequestedRangeNotSatisfiable:
		return nil, x.fail(EmptyBody, nil)
	case outcome != gleaner.OK:
		return nil, x.fail(outcome, nil)
	}
	if x.status == http.StatusPartialContent {
		from, size, ok := contentRange(x.answer.Get("Content-Range"))
		if !ok || from != req.From {
			return nil, x.fail(BadAnswer, fmt.Errorf("asked for bytes from %d on, it gives %.60q", req.From, x.answer.Get("Content-Range")))
		}
		s.Part, s.Size = true, size
	}
	if differs(req.ETag, x.answer.Get("ETag")) || differs(req.LastModified, x.answer.Get("Last-Modified")) {
		return nil, x.fail(Changed, errors.New("it was changed since its beginning was read"))
	}
	return s, nil
}

// contentRange reads the header of a part; one that does not say how large the whole
// is says too little.
func contentRange(said string) (from, size int64, ok bool) {
	var to int64
	n, err := fmt.Sscanf(said, "bytes %d-%d/%d", &from, &to, &size)
	return from, size, err == nil && n == 3 && 0 <= from && from <= to && to < size
}

func differs(was, is string) bool { return was != "" && is != "" && was != is }
