package document

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	tempPrefix    = "gleaner-readers-"
	openingPrefix = "gleaner-opening-"
	lockName      = "lock"
)

// OpenTemp makes a folder for the temporary files of this process's readers within
// another one ("" is the system's), to be given to Options, and removes those that
// processes left which were killed. shut removes this one.
//
// A folder is known to be in use by the lock on a file in it, which the system
// takes back when its process dies, however it dies.
func OpenTemp(within string) (dir string, shut func(), err error) {
	if within == "" {
		within = os.TempDir()
	}
	// A reader works in a folder of its own, where a relative path would lead
	// elsewhere.
	if within, err = filepath.Abs(within); err != nil {
		return "", nil, fmt.Errorf("temporary folder: %w", err)
	}
	sweepTemp(within)
	opening, err := os.MkdirTemp(within, openingPrefix+"*")
	if err != nil {
		return "", nil, fmt.Errorf("temporary folder: %w", err)
	}
	// Another user may have to pass to his files.
	err = os.Chmod(opening, 0o711)
	var held *os.File
	if err == nil {
		held, err = os.OpenFile(filepath.Join(opening, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err == nil && !lockFile(held) {
		err = fmt.Errorf("%s is locked", opening)
	}
	// It has its name only once it is locked, so that nobody sweeps it before.
	dir = filepath.Join(within, tempPrefix+strings.TrimPrefix(filepath.Base(opening), openingPrefix))
	if err == nil {
		err = os.Rename(opening, dir)
	}
	if err != nil {
		if held != nil {
			_ = held.Close()
		}
		_ = os.RemoveAll(opening)
		return "", nil, fmt.Errorf("temporary folder: %w", err)
	}
	return dir, func() {
		removeAll(dir)
		_ = held.Close()
	}, nil
}

// sweepTemp removes what dead processes left. What cannot be removed is another
// user's.
func sweepTemp(within string) {
	entries, err := os.ReadDir(within)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(within, e.Name())
		switch {
		case !e.IsDir():
		case strings.HasPrefix(e.Name(), tempPrefix):
			if f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0); err == nil {
				free := lockFile(f)
				if free {
					removeAll(dir)
				}
				_ = f.Close()
			} else if os.IsNotExist(err) { // its removal was broken off
				removeAll(dir)
			}
		case strings.HasPrefix(e.Name(), openingPrefix):
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
				removeAll(dir)
			}
		}
	}
}

// lockFile reports whether the lock on a file could be had, which this process then
// holds until it closes the file or dies.
func lockFile(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// removeAll removes a folder, also what its programs closed to their own user.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	if up, err := os.OpenRoot(filepath.Dir(dir)); err == nil {
		reopen(up, filepath.Base(dir))
		_ = up.Close()
	}
	_ = os.RemoveAll(dir)
}

// reopen gives the user of a folder all rights to it and the folders in it. No link
// leads out of up.
func reopen(up *os.Root, name string) {
	_ = up.Chmod(name, 0o700)
	dir, err := up.OpenRoot(name)
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }()
	entries, _ := fs.ReadDir(dir.FS(), ".")
	for _, e := range entries {
		if e.IsDir() {
			reopen(dir, e.Name())
		}
	}
}
