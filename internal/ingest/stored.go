package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"gleaner/internal/ingest/source"
)

// stored is an archive file, on this machine or in a place elsewhere.
type stored struct {
	name  string // by which an import knows it: in UTF-8
	path  string // on this machine
	size  int64
	place source.Place // nil on this machine
	key   string       // in that place
}

// known is a path as it stands in a position, which is UTF-8: no two are the same.
func known(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return source.Escape(path)
}

// open opens the file at a byte.
func (f stored) open(ctx context.Context, offset int64) (io.ReadCloser, error) {
	if f.place != nil {
		return f.place.Open(ctx, f.key, offset)
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	if _, err = file.Seek(offset, io.SeekStart); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// find lists the archives of paths; who is named twice is read once.
func (a *archives) find(ctx context.Context, paths []string) error {
	named := map[string]bool{}
	for _, p := range paths {
		found, err := a.at(ctx, p)
		if err != nil {
			return err
		}
		for _, f := range found {
			if !named[f.name] {
				named[f.name] = true
				a.files = append(a.files, f)
			}
		}
	}
	return nil
}

// at lists the archives that a path names.
func (a *archives) at(ctx context.Context, path string) (files []stored, err error) {
	if source.Remote(path) {
		return a.elsewhere(ctx, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	names := []string{path}
	switch {
	case info.IsDir():
		if names, err = filesIn(path); err != nil {
			return nil, err
		}
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is neither a file nor a folder", ErrInput, path)
	}
	for _, n := range names {
		if info, err = os.Stat(n); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
		files = append(files, stored{name: known(n), path: n, size: info.Size()})
	}
	return files, nil
}

// elsewhere lists the archives of a place that is no folder of this machine.
func (a *archives) elsewhere(ctx context.Context, where string) (files []stored, err error) {
	place, err := openBucket(ctx, where)
	if err != nil {
		return nil, err
	}
	a.places = append(a.places, place)
	prefix, _, _ := strings.Cut(where, "?")
	for f, err := range place.List(ctx, "") {
		if err != nil {
			return nil, listed(err)
		}
		if path := prefix + f.Name; f.Name == "" || archiveName(filepath.Base(path)) {
			files = append(files, stored{name: known(path), size: f.Size, place: place, key: f.Name})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: %s holds no WARC or ARC files", ErrInput, where)
	}
	return files, nil
}

// openBucket opens a bucket. Who is refused may be let in later, where an import has
// begun.
func openBucket(ctx context.Context, where string) (source.Place, error) {
	place, err := source.OpenBucket(ctx, where)
	if err != nil && !errors.Is(err, source.ErrRefused) && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrInput, err)
	}
	return place, err
}

// listed says of an error of a listing whether it is its setting's.
func listed(err error) error {
	if errors.Is(err, source.ErrEndless) {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	return err
}

// filesIn lists the archives below a folder, those that it links to as well.
func filesIn(folder string) (files []string, err error) {
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !archiveName(d.Name()) {
			return err
		}
		kind := d.Type()
		if kind == fs.ModeSymlink {
			info, err := os.Stat(path)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrInput, err)
			}
			kind = info.Mode().Type()
		}
		if kind.IsRegular() {
			files = append(files, path)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%w: %s holds no WARC or ARC files", ErrInput, folder)
	}
	return files, err
}

// archiveName reports whether a file in a folder is named like an archive, as a
// whole one or as one that a crawler still writes.
func archiveName(name string) bool {
	name = strings.ToLower(name)
	for _, s := range []string{".warc", ".arc"} {
		if _, rest, ok := strings.Cut(name, s); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}
