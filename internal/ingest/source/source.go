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
	"io"
	"iter"
	"net/url"
	"strings"
	"time"
)

// Errors about files.
var (
	// ErrOutside marks a name that leads out of its place.
	ErrOutside = errors.New("it leads out of its folder")
	// ErrNoFile marks what is neither a file nor a folder.
	ErrNoFile = errors.New("it is neither a file nor a folder")
)

// File is a file of a place.
type File struct {
	Name     string // with slashes, as the place has it: it need not be UTF-8
	Size     int64
	Modified time.Time // zero where the place does not say
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
