package repository

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gleaner/internal/guard"
)

// folder writes files that survive a crash of the machine. gocloud's fileblob
// renames without fsync, after which a power cut can leave an empty file under
// the final name.
type folder struct {
	root, temp string
}

// staleAfter is the age at which a temporary file belongs to no running process.
const staleAfter = 24 * time.Hour

func openFolder(root string) (*folder, error) {
	f := &folder{root: root, temp: filepath.Join(root, ".partial")}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	left, err := os.ReadDir(f.temp)
	if err != nil && !errors.Is(err, os.ErrNotExist) { // the first write makes it
		return nil, err
	}
	for _, e := range left {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(filepath.Join(f.temp, e.Name()))
		}
	}
	return f, nil
}

// file is what is stored under a key.
type file struct {
	key  string
	body io.Reader
}

// write stores files, each whole or not at all.
func (f *folder) write(ctx context.Context, files ...file) error {
	temps := make([]*os.File, len(files))
	defer func() {
		for _, tmp := range temps {
			if tmp != nil {
				_ = tmp.Close()
				_ = os.Remove(tmp.Name()) // gone already where it was renamed
			}
		}
	}()
	if err := os.Mkdir(f.temp, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	for i := range files {
		var err error
		if temps[i], err = os.CreateTemp(f.temp, "put-*"); err != nil {
			return err
		}
		if _, err = io.Copy(temps[i], files[i].body); err != nil {
			return err
		}
	}
	return f.commit(ctx, temps, files)
}

// commit makes temporary files those of the keys of files: first all bytes reach the
// disk, then all names do.
func (f *folder) commit(ctx context.Context, temps []*os.File, files []file) error {
	if err := guard.Several(ctx, atOnce, len(temps), func(_ context.Context, i int) error { return temps[i].Sync() }); err != nil {
		return err
	}
	var dirs []string
	for i, tmp := range temps {
		if err := tmp.Close(); err != nil {
			return err
		}
		path := filepath.Join(f.root, filepath.FromSlash(files[i].key))
		dir := filepath.Dir(path)
		made, err := f.makeDir(dir)
		if err == nil {
			err = os.Rename(tmp.Name(), path)
		}
		if err != nil {
			return err
		}
		dirs = append(dirs, dir)
		for ; made && dir != f.root; dir = filepath.Dir(dir) {
			dirs = append(dirs, filepath.Dir(dir))
		}
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	return guard.Several(ctx, atOnce, len(dirs), func(_ context.Context, i int) error { return syncDir(dirs[i]) })
}

func (f *folder) makeDir(dir string) (made bool, err error) {
	if _, err := os.Stat(dir); err == nil {
		return false, nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	return true, os.MkdirAll(dir, 0o700)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}
