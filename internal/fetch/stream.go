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

// StreamRequest requests a file, or a part of it, to be read as it arrives.
type StreamRequest struct {
	URL  string
	From int64 // the first byte
	Most int64 // the number of bytes; 0 is all
	// Validators of the file from an earlier part: a changed file is an error.
	ETag, LastModified string
}

// Streamed is an answer whose body is to be read.
type Streamed struct {
	URL    string // after redirects, canonical
	Header http.Header
	Part   bool  // the server supports ranges; else Body is the whole file
	Size   int64 // of the whole file; -1: unknown
	Body   io.Reader
}

// longestStream is the time limit of one answer; its least speed bounds it earlier.
const longestStream = 6 * time.Hour

// Stream requests a file through the chain of Fetch, and calls use to read it in the host's turn.
// There is no size limit: use must not hold more than fits into memory. Content codings are
// neither requested nor decoded, since a part belongs to the stored file. A changed file has the
// outcome Changed. The error is that of use, or an *Error.
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
	if !strings.HasPrefix(req.ETag, "W/") { // a weak one does not compare bytes
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

// contentRange reads the header of a part. ok is false without the size of the whole.
func contentRange(said string) (from, size int64, ok bool) {
	var to int64
	n, err := fmt.Sscanf(said, "bytes %d-%d/%d", &from, &to, &size)
	return from, size, err == nil && n == 3 && 0 <= from && from <= to && to < size
}

func differs(was, is string) bool { return was != "" && is != "" && was != is }
