package ingest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"gleaner/internal/ingest/source"
)

// disk is what an import may reach of this machine's files: all of them, or those within a
// folder. There a path is opened below that folder each time, so that no link leads out of
// it, whatever became of the path since the import was set up.
type disk struct{ within string }

// below does something with a path below the folder.
func (d disk) below(path string, do func(root *os.Root, name string) error) error {
	root, err := os.OpenRoot(d.within)
	if err != nil {
		return err
	}
	defer root.Close()
	name, err := filepath.Rel(d.within, path)
	if err == nil && !filepath.IsLocal(name) {
		err = fmt.Errorf("%w: %s", source.ErrOutside, path)
	}
	if err == nil {
		err = do(root, name)
	}
	return source.Named(err)
}

// open opens a file. It may have become another thing since it was found: a pipe is not
// waited for.
func (d disk) open(path string) (file *os.File, err error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if d.within == "" {
		file, err = os.OpenFile(path, flags, 0)
	} else {
		err = d.below(path, func(root *os.Root, name string) (err error) {
			file, err = root.OpenFile(name, flags, 0)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, source.ErrNoFile)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// stat says what is at a path, links followed.
func (d disk) stat(path string) (info fs.FileInfo, err error) {
	if d.within == "" {
		return os.Stat(path)
	}
	err = d.below(path, func(root *os.Root, name string) (err error) {
		info, err = root.Stat(name)
		return err
	})
	return info, err
}

// folder opens a folder, or a file as its folder with this file alone.
func (d disk) folder(path string) (folder *source.Folder, err error) {
	if info, err := d.stat(path); err == nil && info.Mode().IsRegular() {
		if folder, err = d.folder(filepath.Dir(path)); err == nil {
			folder.Only = filepath.Base(path)
		}
		return folder, err
	}
	if d.within == "" {
		return source.OpenFolder(path)
	}
	err = d.below(path, func(root *os.Root, name string) error {
		at, err := root.OpenRoot(name)
		folder = source.FolderOf(at)
		return err
	})
	return folder, err
}

// firstThere is the first path at which there is something; "" is none.
func (d disk) firstThere(paths ...string) string {
	for _, p := range paths {
		if _, err := d.stat(p); err == nil {
			return p
		}
	}
	return ""
}
