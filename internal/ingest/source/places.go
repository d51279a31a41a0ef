package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"gleaner/internal/fetch"
)

// Asker asks servers: a fetch.Client.
type Asker interface {
	Stream(ctx context.Context, req fetch.StreamRequest, use func(*fetch.Streamed) error) error
}

// Places opens what imports name. The zero value opens folders and buckets.
type Places struct {
	Asker Asker // nil asks no server
}

// Remote reports whether a path names a place that is no folder of this machine.
func Remote(where string) bool {
	scheme, _, is := strings.Cut(where, "://")
	return is && (scheme == "s3" || Web(where))
}

// Web reports whether a path names a file of a web server, which may be a list of
// others.
func Web(where string) bool {
	scheme, _, is := strings.Cut(strings.ToLower(where), "://")
	return is && (scheme == "http" || scheme == "https")
}

// Shown is what stands before the names of a place's files.
func Shown(where string) string {
	if Web(where) {
		return "" // they are whole addresses
	}
	prefix, _, _ := strings.Cut(where, "?")
	if !strings.HasPrefix(where, "s3://") {
		prefix = strings.TrimSuffix(prefix, "/") + "/"
	}
	return prefix
}

// Check reports what is wrong with the address of a place.
func Check(where string) error {
	if scheme, _, is := strings.Cut(where, "://"); is && !Remote(where) {
		return fmt.Errorf("%.20s:// is not read: archives and folders come from this machine, s3://, http:// or https://; rclone copies or mounts what is elsewhere", scheme)
	}
	u, err := url.Parse(where)
	switch {
	case Web(where) && (err != nil || u.Host == "" || u.User != nil):
		return errors.New("it is no address of a file of a web server")
	case strings.HasPrefix(where, "s3:") && (err != nil || u.Host == ""):
		return fmt.Errorf("%.100q names no bucket: s3://BUCKET/PREFIX", where)
	case strings.HasPrefix(where, "s3:") && u.User != nil:
		return errors.New("credentials do not belong in an address: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY where the worker runs")
	}
	return nil
}

// Open opens a place that is no folder of this machine; tree says that all files below
// a folder are wanted, and of a bucket not what only begins like it.
func (p Places) Open(ctx context.Context, where string, tree bool) (Place, error) {
	if strings.HasPrefix(where, "s3://") {
		if tree {
			prefix, more, asked := strings.Cut(where, "?")
			if where = strings.TrimSuffix(prefix, "/") + "/"; asked {
				where += "?" + more
			}
		}
		return openBucket(ctx, where)
	}
	if p.Asker == nil {
		return nil, fmt.Errorf("%w: servers are not asked here", ErrRefused)
	}
	return openWeb(ctx, p.Asker, where)
}

// typed says of an error of the polite client whether a file is not there, is another
// by now, is not to be had, or nothing is known.
func typed(err error) error {
	var e *fetch.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Outcome == fetch.NotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case e.Outcome == fetch.Changed:
		return fmt.Errorf("%w: %w", ErrChanged, err)
	case e.Outcome == fetch.ConnectFailure, e.Outcome == fetch.DNSFailure:
		return away(fmt.Errorf("%w: %w", ErrUnanswered, err))
	case e.Outcome == fetch.NoContact || !fetch.Retryable(e.Outcome):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return away(err)
}
