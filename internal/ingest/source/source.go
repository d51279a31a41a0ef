// Package source gives the files of a place from which something is imported: a
// folder of this machine, or what lies elsewhere. It names them in an order that does
// not change, so that one who was interrupted goes on behind the last one, and opens
// each at any byte.
//
// A place is not trusted: no name leads out of it, neither by ".." nor by a link, and
// what is no file (a pipe, a device) is never opened.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Errors about files.
var (
	// ErrOutside marks a name that leads out of its place.
	ErrOutside = errors.New("it leads out of its folder")
	// ErrNoFile marks what is neither a file nor a folder.
	ErrNoFile = errors.New("it is neither a file nor a folder")
	// ErrChanged marks a file that is another than when its beginning was read.
	ErrChanged = errors.New("it was changed while it was read")
)

// Errors about places.
var (
	// ErrAway marks that a place does not answer now: nothing is known of its files, and
	// whoever asked is to ask again later.
	ErrAway = errors.New("it cannot be read now")
	// ErrUnanswered marks an ErrAway of a server that nobody can reach.
	ErrUnanswered = errors.New("nobody answers: check the address, or run the import again when the server is there")
	// ErrRefused marks a place that lets nobody in as it is asked, by the credentials that
	// there are for one: it would not the next time either.
	ErrRefused = errors.New("it is not to be read so")
	// ErrEndless marks a list of files that does not go on from name to name: nobody would
	// come to its end, or find the place again where he was.
	ErrEndless = errors.New("its listing has no end")
)

// away marks an error as that of a place that does not answer. It is no io.EOF whatever
// a connection met: a server that hangs up ends neither a file nor a list.
func away(err error) error { return awayError{err} }

type awayError struct{ error }

func (e awayError) Error() string { return ErrAway.Error() + ": " + e.error.Error() }

// Is and As look for all but that in its chain.
func (e awayError) Is(target error) bool {
	return target == ErrAway || target != io.EOF && errors.Is(e.error, target)
}

func (e awayError) As(target any) bool { return errors.As(e.error, target) }

// File is a file of a place.
type File struct {
	Name     string    // with slashes, as the place has it: it need not be UTF-8
	Size     int64     // -1 where the place does not say before it is opened
	Modified time.Time // zero where the place does not say
	Version  string    // changes with the file; "" where nobody knows
	Err      error     // why it is not to be read; nil where it is
}

// Place has files.
type Place interface {
	// List gives the files from a name on, by their names; "" gives all.
	List(ctx context.Context, from string) iter.Seq2[File, error]
	// Stat is what List says of one file.
	Stat(ctx context.Context, name string) (File, error)
	// Open opens a file at a byte of it.
	Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error)
	Close() error
}

// version is that of a file of which no more is known than its size and time.
func version(size int64, at time.Time) string {
	if at.IsZero() {
		return strconv.FormatInt(size, 10)
	}
	return fmt.Sprintf("%d %s", size, at.UTC().Format(time.RFC3339))
}

// Before reports whether one name comes before another in a list: folder by folder.
func Before(a, b string) bool {
	for a != "" && b != "" {
		x, restA, _ := strings.Cut(a, "/")
		y, restB, _ := strings.Cut(b, "/")
		if x != y {
			return x < y
		}
		a, b = restA, restB
	}
	return a == "" && b != ""
}

// Escape writes a name as the path of a URL, whatever bytes it has; Unescape undoes it.
func Escape(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// Unescape gives the name that was escaped.
func Unescape(escaped string) string {
	name, err := url.PathUnescape(escaped)
	if err != nil {
		return escaped
	}
	return name
}
