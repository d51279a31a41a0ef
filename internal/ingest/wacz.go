package ingest

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
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

const (
	maxDirectory = 8 << 20 // bytes that are read of a zip file for its directory
	leastEntry   = 46      // bytes of an entry there
	maxInside    = 10_000  // archives in a WACZ file: all are held until its last is read
	maxName      = 1 << 10 // bytes of the name of an archive in it: each resource is noted with it
)

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
	a.zip.close()
	a.zip = &zipped{open: func(offset int64) (io.ReadCloser, error) { return a.get(file, offset) }, size: file.size, left: maxDirectory}
	z, err := zip.NewReader(a.zip, file.size)
	if a.zip.lost != nil {
		return a.zip.lost
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNoWACZ, err)
	}
	a.zip.left = math.MaxInt64
	var in []stored
	left, met := uint64(file.size), map[string]bool{}
	for _, f := range z.File {
		if !source.ArchiveName(path.Base(f.Name)) || strings.HasSuffix(strings.ToLower(f.Name), waczName) {
			continue
		}
		if met[f.Name] || len(f.Name) > maxName {
			return fmt.Errorf("%w: the name of an archive in it is there twice, or too long", errNoWACZ)
		}
		if met[f.Name] = true; len(met) > maxInside {
			return fmt.Errorf("%w: it holds more than %d archives", errNoWACZ, maxInside)
		}
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
	if f.inside.Method != zip.Store {
		r, err := f.inside.Open()
		if err == nil {
			_, err = io.CopyN(io.Discard, r, offset)
		}
		return unpacked{r, offset}, err
	}
	at, err := f.inside.DataOffset()
	return io.NopCloser(io.NewSectionReader(a.zip, at+offset, max(f.size-offset, 0))), err
}

// zipped reads a zip file at any byte, a part of it at a time. What follows a part is not
// asked for anew.
type zipped struct {
	open func(offset int64) (io.ReadCloser, error)
	in   io.ReadCloser // at the end of part; nil for none
	at   int64         // of part
	part []byte
	size int64
	left int64 // bytes that may be read yet
	lost error // of reading the file
}

func (z *zipped) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		from := off + int64(n)
		if from < z.at || from >= z.at+int64(len(z.part)) {
			if err := z.load(from); err != nil {
				return n, err
			}
		}
		n += copy(p[n:], z.part[from-z.at:])
	}
	// zip.NewReader makes room for as many entries as the end of a large file's directory says.
	if len(p) >= 56 && string(p[:4]) == "PK\x06\x06" && binary.LittleEndian.Uint64(p[32:]) > maxDirectory/leastEntry {
		return n, errLongDirectory
	}
	return n, nil
}

var errLongDirectory = fmt.Errorf("a directory of more than %d MiB", maxDirectory>>20)

// load reads the part at a byte; the last part of the file is read in one.
func (z *zipped) load(from int64) (err error) {
	const part = 256 << 10
	if z.left -= part; z.left < 0 {
		return errLongDirectory
	}
	if z.at += int64(len(z.part)); z.in == nil || z.at != from {
		z.close()
		z.at, z.part = max(0, min(from, z.size-part)), z.part[:0]
		if z.in, err = z.open(z.at); err != nil {
			z.lost = err
			return err
		}
	}
	z.part = slices.Grow(z.part[:0], part)[:part]
	n, err := io.ReadFull(z.in, z.part)
	if z.part = z.part[:n]; err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		z.lost = err
		return err
	}
	if from < z.at || from >= z.at+int64(n) {
		return io.EOF
	}
	return nil
}

func (z *zipped) close() {
	if z != nil && z.in != nil {
		_ = z.in.Close()
		z.in = nil
	}
}

// using has files opened and read until a context ends.
func (a *archives) using(ctx context.Context) {
	a.over = func() error { return context.Cause(ctx) }
	a.get = func(f stored, offset int64) (io.ReadCloser, error) { return f.open(ctx, offset) }
	a.measure = func(f *stored) error { return f.measure(ctx) }
}
