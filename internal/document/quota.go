package document

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"gleaner/internal/guard"
)

// Bounds of a job's folder beside its bytes: how many files it may hold, and how often
// it is looked at. What is written between two looks is more than it may hold, and
// short-lived programs are never looked at.
const (
	maxFiles  = 6_000
	lookEvery = 200 * time.Millisecond
)

// watchFolder ends the session when its folder holds more than its limits allow. The
// returned function ends the watch and reports whether that happened.
func (s *session) watchFolder() (full func() bool) {
	var over atomic.Bool
	done := make(chan struct{})
	guard.Go(func() {
		for tick := time.Tick(lookEvery); !over.Load(); {
			select {
			case <-done:
				return
			case <-tick:
			}
			if overfull(s.dir, s.lim.folder) {
				over.Store(true)
				s.kill()
			}
		}
	})
	return func() bool {
		close(done)
		return over.Load()
	}
}

// overfull reports whether a folder holds more files or bytes than it may. What cannot
// be looked at, though it is there, is too much.
func overfull(dir string, most int64) bool {
	files := 0
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
			return nil
		}
		if err != nil {
			return err
		}
		if files++; info.Mode().IsRegular() {
			most -= info.Size()
			if s, is := info.Sys().(*syscall.Stat_t); is { // a file may be given room that is not in its size
				most -= max(0, 512*s.Blocks-info.Size())
			}
		}
		if files > maxFiles || most < 0 {
			return errFlood
		}
		return nil
	})
	return err != nil
}
