package ingest

import (
	"fmt"
	"io"
	"sync/atomic"

	"gleaner/internal/document"
	"gleaner/internal/ingest/archive"
	"gleaner/internal/ingest/source"
)

// A crawl has more bytes of each resource, and of each link to a file, than packedResource, as they
// are packed, beside some of each file. A file that has fewer was made to fill the record.
const (
	packedResource = 16
	freeResources  = 1000
	// What is unpacked of a file's payloads is unpackedRatio times its bytes, beside freeUnpacked of an
	// import: real archives unpack to thirteen times their bytes at most, documents hardly to more.
	unpackedRatio = 100
	freeUnpacked  = 64 << 20
)

var errTooMuch = fmt.Errorf("%s: its archive unpacks to more than %d times its bytes and %d MiB",
	document.TooLarge, unpackedRatio, freeUnpacked>>20)

// unpacksOf is how many bytes payloads of a log may unpack to yet: of one that is no archives, any number.
func unpacksOf(l Log) *atomic.Int64 {
	if a, is := l.(*archives); is {
		return &a.unpacks
	}
	return new(atomic.Int64)
}

// free is how many resources a file may give before its bytes are counted: fewer where it has
// few bytes.
func (f stored) free() float64 {
	size := f.size
	if f.inside != nil {
		size = int64(f.inside.CompressedSize64)
	}
	if size < 0 {
		return freeResources
	}
	return min(freeResources, float64(size/packedResource+packedResource))
}

// source opens a file at any byte.
func (a *archives) source(file stored) archive.Source {
	return func(offset int64) (io.ReadCloser, error) {
		get := a.get
		if file.inside != nil {
			get = a.openInside
		}
		r, err := get(file, offset)
		if err != nil {
			a.lost = err
			return nil, err
		}
		return &reading{r, a, offset}, nil
	}
}

// reading is a file that is read until reading is to stop: a few bytes of it may
// unpack to so many that a record has no end.
type reading struct {
	io.ReadCloser
	of *archives
	at int64
}

func (r *reading) Read(p []byte) (int, error) {
	if err := r.of.over(); err != nil || len(p) == 0 {
		r.of.came()
		return 0, err
	}
	n, err := r.ReadCloser.Read(p)
	r.at += int64(n)
	came := float64(max(r.at-r.of.read, 0)) / packedResource
	if f := r.of.files[r.of.i].inside; f != nil {
		came *= min(1, float64(f.CompressedSize64)/float64(max(f.UncompressedSize64, 1)))
	}
	r.of.room, r.of.links = r.of.room+came, r.of.links+came
	r.of.unpacks.Add(int64(came * packedResource * unpackedRatio))
	if r.of.read = max(r.of.read, r.at); n > 0 {
		r.of.came()
	}
	if err != nil && err != io.EOF {
		r.of.lost = err
	}
	return n, err
}

// unpacked is an archive of which all before a byte was unpacked.
type unpacked struct {
	io.ReadCloser
	passed int64
}

// Passed implements archive.Passer. Of a file elsewhere a piece is asked for at least.
func (r *reading) Passed() int64 {
	u, _ := r.ReadCloser.(unpacked)
	if f := r.of.files[r.of.i]; f.place != nil {
		u.passed += min(source.Piece, max(f.size-r.at, 0))
	}
	return u.passed
}

type payload struct {
	*archive.Payload
	unpacks *atomic.Int64
}

func (p payload) Read(b []byte) (int, error) {
	if p.unpacks.Load() < 0 {
		return 0, errTooMuch
	}
	n, err := p.Body.Read(b)
	p.unpacks.Add(-int64(n))
	return n, err
}

func (p payload) Close() error { p.Payload.Close(); return nil }

// mostInVain is how many archives in a row of a foreign host are asked for that cannot be opened.
const mostInVain = 10

// unopened counts an archive of the web that cannot be opened. Not all of them are recorded.
func (a *archives) unopened(r *Resource) (*Resource, error) {
	if host := a.files[a.i].foreign; host != "" {
		if a.vain[host]++; a.vain[host] == mostInVain {
			r.Detail += fmt.Sprintf("; no further archive of %s is asked for", host)
		}
	}
	if a.unread++; a.unread == freeResources {
		r.Detail += "; archives behind it that cannot be opened are passed over without a record"
	}
	if a.unread <= freeResources {
		return r, nil
	}
	if a.came(); a.late {
		r.Skip = nothingYet
		return r, nil
	}
	return nil, io.EOF
}
