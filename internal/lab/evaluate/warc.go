package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"

	"gleaner/internal/ingest/archive"
	"gleaner/internal/web/weburl"
)

// maxRecord bounds one record of an archive, in bytes. Larger ones are passed
// over.
const maxRecord = 64 << 20

// ErrTruncated is wrapped by ReadWARC when the file ends within a record. What
// came before is in the archive.
var ErrTruncated = errors.New("evaluate: the WARC file ends within a record")

// ReadWARC reads the responses of a WARC or ARC file into an archive.
func (a *Archive) ReadWARC(r io.Reader) error {
	in, err := archive.New(archive.Once(r), archive.Position{})
	if err != nil {
		return fmt.Errorf("evaluate: WARC: %w", err)
	}
	defer in.Close()
	for {
		record, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return ErrTruncated
		case err != nil:
			return fmt.Errorf("evaluate: WARC: %w", err)
		}
		if answer, ok := recordedOf(record); ok {
			if record.Cut() {
				return ErrTruncated
			}
			a.Add(answer)
		}
	}
}

// recordedOf is the answer in a record. A body that ends too early is kept as far
// as it came.
func recordedOf(r *archive.Record) (Recorded, bool) {
	target, err := weburl.Canonical("", r.URL)
	if err != nil || r.Length > maxRecord || r.Type != archive.Response && r.Type != archive.Resource { // dns: and the like
		return Recorded{}, false
	}
	p, err := r.Payload()
	if err != nil {
		return Recorded{}, false
	}
	defer p.Close()
	p.Status = cmp.Or(p.Status, http.StatusOK)
	body, _ := io.ReadAll(io.LimitReader(p.Body, maxRecord))
	_, _ = io.Copy(io.Discard, r.Block)
	return Recorded{URL: target, Status: p.Status, Header: p.Header, Body: body}, true
}
