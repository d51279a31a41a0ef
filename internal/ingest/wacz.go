package ingest

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"gleaner/internal/ingest/source"
)

// waczName ends the names of WACZ files: zip files of archives, their index and pages, as
// Browsertrix writes them (Webrecorder, "Web Archive Collection Zipped 1.1.1").
const waczName = ".wacz"

// withinWACZ stands between the name of a WACZ file and that of an archive in it.
const withinWACZ = "!/"

// maxDirectory bounds what is read of a zip file for its directory, in bytes.
const maxDirectory = 64 << 20

// maxName bounds the name of an archive in a WACZ file, in bytes: each resource is noted with it.
const maxName = 1 << 10

// isWACZ reports whether a file is a WACZ that is not opened yet.
func (f stored) isWACZ() bool {
	return f.inside == nil && strings.HasSuffix(strings.ToLower(f.name), waczName)
}

// unzip puts the archives of a WACZ file in its place.
func (a *archives) unzip(i int) error {
	if err := a.measure(&a.files[i]); err != nil {
		return err
	}
	file := a.files[i]
	z, err := zip.NewReader(&directory{open: a.source(file)}, file.size)
	if a.lost != nil {
		return a.lost
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNoWACZ, err)
	}
	var in []stored
	left, met := uint64(file.size), map[string]bool{}
	for _, f := range z.File {
		if !source.ArchiveName(path.Base(f.Name)) || strings.HasSuffix(strings.ToLower(f.Name), waczName) {
			continue
		}
		if met[f.Name] || len(f.Name) > maxName {
			return fmt.Errorf("%w: the name of an archive in it is there twice, or too long", errNoWACZ)
		}
		met[f.Name] = true
		size := max(f.CompressedSize64, 1)
		if f.Method == zip.Store {
			size = max(size, f.UncompressedSize64)
		}
		if size > left {
			return fmt.Errorf("%w: its archives overlap", errNoWACZ)
		}
		left -= size
		one := file
		one.name, one.inside, one.size = file.name+withinWACZ+known(f.Name), f, int64(f.UncompressedSize64)
		in = append(in, one)
	}
	if len(in) == 0 {
		return fmt.Errorf("%w: it holds no WARC or ARC files", errNoWACZ)
	}
	a.files = slices.Replace(a.files, i, i+1, in...)
	return nil
}

var errNoWACZ = errors.New("no WACZ file")

// openInside opens an archive of a WACZ file at a byte: in place where it is stored, else
// all before that byte is unpacked.
func (a *archives) openInside(f stored, offset int64) (io.ReadCloser, error) {
	whole := f
	whole.inside = nil
	if f.inside.Method != zip.Store {
		r, err := f.inside.Open()
		if err == nil {
			_, err = io.CopyN(io.Discard, r, offset)
		}
		return unpacked{r, offset}, err
	}
	at, err := f.inside.DataOffset()
	if err != nil {
		return nil, err
	}
	r, err := a.get(whole, at+offset)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(r, max(f.size-offset, 0)), r}, nil
}

// directory reads a zip file at any byte, a part of it at a time.
type directory struct {
	open func(offset int64) (io.ReadCloser, error)
	at   int64
	part []byte
	read int64
}

func (d *directory) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		from := off + int64(n)
		if from < d.at || from >= d.at+int64(len(d.part)) {
			if err := d.load(from); err != nil {
				return n, err
			}
		}
		n += copy(p[n:], d.part[from-d.at:])
	}
	return n, nil
}

func (d *directory) load(from int64) error {
	const part = 256 << 10
	if d.read += part; d.read > maxDirectory {
		return fmt.Errorf("a directory of more than %d MiB", maxDirectory>>20)
	}
	r, err := d.open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err = io.CopyN(&b, r, part); err != nil && err != io.EOF {
		return err
	}
	if d.at, d.part = from, b.Bytes(); b.Len() == 0 {
		return io.EOF
	}
	return nil
}

// using has files opened and read until a context ends.
func (a *archives) using(ctx context.Context) {
	a.over = func() error { return context.Cause(ctx) }
	a.get = func(f stored, offset int64) (io.ReadCloser, error) { return f.open(ctx, offset) }
	a.measure = func(f *stored) error { return f.measure(ctx) }
}
