package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Folder is a folder of this machine. Links within it are followed to files, and not
// to folders.
type Folder struct {
	root *os.Root
	Only string // the one file of it that is listed; "" for all
}

// OpenFolder opens a folder.
func OpenFolder(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return FolderOf(root), nil
}

// FolderOf is a folder that is open.
func FolderOf(root *os.Root) *Folder { return &Folder{root: root} }

func (f *Folder) Close() error { return f.root.Close() }

// List implements Place. A file that goes away meanwhile is not given, nor is a folder.
func (f *Folder) List(ctx context.Context, from string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		if f.Only != "" {
			one, err := f.Stat(ctx, f.Only)
			if one.Err = err; !Before(f.Only, from) && !errors.Is(err, fs.ErrNotExist) {
				yield(one, nil)
			}
			return
		}
		_ = fs.WalkDir(f.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if cause := context.Cause(ctx); cause != nil {
				yield(File{}, cause)
				return fs.SkipAll
			}
			if name == "." && err != nil {
				yield(File{}, err)
				return fs.SkipAll
			}
			if name != "." && Before(name, from) && !strings.HasPrefix(from, name+"/") {
				return skip(d)
			}
			if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
				return nil
			}
			one, serr := File{Name: name, Err: err}, err
			if err == nil {
				one, serr = f.Stat(ctx, name)
			}
			if errors.Is(serr, fs.ErrNotExist) && d.Type() != fs.ModeSymlink {
				return nil
			}
			if one.Err = serr; !yield(one, nil) {
				return fs.SkipAll
			}
			return nil
		})
	}
}

// skip passes over what a folder holds, with all in it.
func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (f *Folder) Stat(_ context.Context, name string) (File, error) {
	one := File{Name: name}
	if !local(name) {
		return one, ErrOutside
	}
	info, err := f.root.Stat(name)
	if err != nil {
		return one, Named(err)
	}
	if !info.Mode().IsRegular() {
		return one, ErrNoFile
	}
	one.Size, one.Modified = info.Size(), info.ModTime()
	return one, nil
}

func (f *Folder) Open(_ context.Context, name string, offset int64) (io.ReadCloser, error) {
	if !local(name) {
		return nil, ErrOutside
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // or a pipe would be waited for
	if err != nil {
		return nil, Named(err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNoFile
	}
	if err == nil {
		_, err = file.Seek(offset, io.SeekStart)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// local reports whether a name stays where it is.
func local(name string) bool {
	return name != "" && path.Clean(name) != "." && filepath.IsLocal(name) && !strings.ContainsRune(name, 0)
}

// Named says of a link that leads out that it does: the package os has no name for it.
func Named(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && strings.Contains(e.Err.Error(), "escapes") {
		return fmt.Errorf("%w: %s", ErrOutside, e.Path)
	}
	return err
}
