package repository

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
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
	if err := os.MkdirAll(f.temp, 0o700); err != nil {
		return nil, err
	}
	left, err := os.ReadDir(f.temp)
	if err != nil {
		return nil, err
	}
	for _, e := range left {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(filepath.Join(f.temp, e.Name()))
		}
	}
	return f, nil
}

// write stores body under key, or nothing.
func (f *folder) write(key string, body io.Reader) error {
	tmp, err := os.CreateTemp(f.temp, "put-*")
	if err != nil {
		return err
	}
	defer func() {
		_ = tmp.Close()
		_ = os.Remove(tmp.Name()) // gone already where it was renamed
	}()
	if _, err := io.Copy(tmp, body); err != nil {
		return err
	}
	return f.commit(tmp, key)
}

// commit makes a temporary file the one of key: first its bytes reach the disk,
// then its name does.
func (f *folder) commit(tmp *os.File, key string) error {
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Chmod(0o600); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	path := filepath.Join(f.root, filepath.FromSlash(key))
	dir := filepath.Dir(path)
	made, err := f.makeDir(dir)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	for ; made && dir != f.root; dir = filepath.Dir(dir) {
		if err := syncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
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
