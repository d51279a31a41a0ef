package ingest

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"gleaner/internal/ingest/source"
	"gleaner/internal/web/weburl"
)

// stored is an archive file, on this machine or in a place elsewhere.
type stored struct {
	name     string       // by which an import knows it: in UTF-8
	path     string       // on this machine
	disk     disk         // that path is of
	size     int64        // -1 where nobody knows yet
	version  string       // "" where nobody knows
	place    source.Place // nil on this machine
	key      string       // in that place
	foreign  string       // its host, where a list of another one names it
	inside   *zip.File    // of a WACZ file, that place and path are of; else nil
	err      error        // why it cannot be read
	modified time.Time    // zero where nobody knows
}

// known is a path as it stands in a position, which is UTF-8: no two are the same.
func known(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return source.Escape(path)
}

// measure asks the place of a file how large it is, where nobody knows yet.
func (f *stored) measure(ctx context.Context) error {
	if f.size >= 0 || f.err != nil {
		return f.err
	}
	one, err := f.place.Stat(ctx, f.key)
	if err == nil {
		f.size, f.version, f.modified = one.Size, one.Version, one.Modified
	}
	return err
}

// open opens the file at a byte.
func (f stored) open(ctx context.Context, offset int64) (io.ReadCloser, error) {
	if f.place != nil {
		return f.place.Open(ctx, f.key, offset)
	}
	file, err := f.disk.open(f.path)
	if err != nil {
		return nil, local(err)
	}
	if _, err = file.Seek(offset, io.SeekStart); err != nil {
		_ = file.Close()
		return nil, local(err)
	}
	return localFile{file}, nil
}

// local marks an error of this machine's files that passes: too many are open, or the
// server that they lie on does not answer.
func local(err error) error {
	for _, passing := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EIO, syscall.ESTALE, syscall.ENOMEM, syscall.ETIMEDOUT, syscall.EHOSTDOWN} {
		if errors.Is(err, passing) {
			return fmt.Errorf("%w: %w", source.ErrAway, err)
		}
	}
	return err
}

type localFile struct{ *os.File }

func (f localFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	return n, local(err)
}

// setting says of an error of this machine's files whether trying again does not help.
func setting(err error) error {
	for _, lasts := range []error{fs.ErrNotExist, fs.ErrPermission, source.ErrNoFile, source.ErrOutside, syscall.ENAMETOOLONG, syscall.ELOOP} {
		if errors.Is(err, lasts) {
			return fmt.Errorf("%w: %w", ErrInput, err)
		}
	}
	return err
}

// find lists the archives of paths. One that is named twice is listed once.
func (a *archives) find(ctx context.Context, paths []string) (files []stored, err error) {
	named := map[string]bool{}
	for _, p := range paths {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		found, err := a.at(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !named[f.name] {
				named[f.name] = true
				files = append(files, f)
			}
		}
	}
	return files, nil
}

// at lists the archives that a path names.
func (a *archives) at(ctx context.Context, where string) (files []stored, err error) {
	if source.Remote(where) {
		return a.elsewhere(ctx, where)
	}
	info, err := a.disk.stat(where)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	switch {
	case info.IsDir():
		return a.disk.files(where)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is neither a file nor a folder", ErrInput, where)
	}
	if source.ListName(info.Name()) {
		return a.ofList(ctx, where)
	}
	return []stored{a.disk.file(where, info)}, nil
}

// ofList lists the archives that a file names, one a line: paths from its folder on.
func (a *archives) ofList(ctx context.Context, list string) (files []stored, err error) {
	in, err := a.disk.open(list)
	if err != nil {
		return nil, setting(err)
	}
	defer in.Close()
	names, err := source.Listed(list, bufio.NewReader(in), func(line string) (string, error) {
		if name := path.Base(line); source.Remote(line) || !source.ArchiveName(name) || source.ListName(name) {
			return "", source.ErrNoFile
		}
		if filepath.IsAbs(line) {
			return filepath.Clean(line), nil
		}
		return filepath.Join(filepath.Dir(list), line), nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return a.find(ctx, names)
}

func (d disk) file(path string, info fs.FileInfo) stored {
	return stored{disk: d, name: known(path), path: path, size: info.Size(), modified: info.ModTime()}
}

// elsewhere lists the archives of a place that is no folder of this machine.
func (a *archives) elsewhere(ctx context.Context, where string) (files []stored, err error) {
	place, err := openRemote(ctx, a.where, where, false)
	if err != nil {
		return nil, err
	}
	a.places = append(a.places, place)
	prefix := source.Shown(where)
	for f, err := range place.List(ctx, "") {
		if err != nil {
			return nil, listed(err)
		}
		if at := shown(prefix, f.Name); f.Err == nil && (f.Name == "" || source.Web(where) || source.ArchiveName(path.Base(at))) {
			one := stored{name: known(at), size: f.Size, version: f.Version, modified: f.Modified, place: place, key: f.Name}
			if host := weburl.Host(at); source.Web(where) && host != weburl.Host(where) {
				one.foreign = host
			}
			files = append(files, one)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: %s holds no WARC or ARC files", ErrInput, where)
	}
	return files, nil
}

// openRemote opens a place elsewhere. Who is refused may be let in later, where an
// import has begun.
func openRemote(ctx context.Context, places source.Places, where string, tree bool) (source.Place, error) {
	place, err := places.Open(ctx, where, tree)
	if err == nil || errors.Is(err, source.ErrRefused) || errors.Is(err, source.ErrAway) || ctx.Err() != nil {
		return place, err
	}
	return nil, fmt.Errorf("%w: %w", ErrInput, err)
}

// listed says of an error of a listing whether it is its setting's.
func listed(err error) error {
	if errors.Is(err, source.ErrEndless) {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	return err
}

// files lists the archives below a folder, those that it links to as well. What the
// worker may not look into is one of them.
func (d disk) files(folder string) (files []stored, err error) {
	root := folder
	if d.within == "" {
		if root, err = filepath.EvalSymlinks(folder); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) && path != root {
			files = append(files, stored{name: known(path), path: path, err: err})
			return nil
		}
		if err != nil || !source.ArchiveName(entry.Name()) {
			return setting(err)
		}
		info, err := d.stat(path)
		if errors.Is(err, source.ErrOutside) {
			files = append(files, stored{name: known(path), path: path, err: err})
			return nil
		}
		if err != nil {
			return setting(err)
		}
		if info.Mode().IsRegular() {
			files = append(files, d.file(path, info))
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%w: %s holds no WARC or ARC files; --format says what else is in it", ErrInput, folder)
	}
	return files, err
}

// Archives counts the archives below a folder, and their bytes.
func Archives(folder string) (n int, size int64, err error) {
	files, err := disk{}.files(folder)
	for _, f := range files {
		size += f.size
	}
	return len(files), size, err
}

// shown is a file of a place, as the record has it.
func shown(prefix, name string) string {
	if name == "" {
		prefix = strings.TrimSuffix(prefix, "/")
	}
	return prefix + name
}
