package document

import (
	"io/fs"
	"path/filepath"
	"sync/atomic"
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
// be looked at is gone.
func overfull(dir string, most int64) bool {
	files := 0
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it was removed meanwhile
		}
		if files++; files > maxFiles {
			return errFlood
		}
		if info, err := d.Info(); err == nil && d.Type().IsRegular() {
			if most -= info.Size(); most < 0 {
				return errFlood
			}
		}
		return nil
	})
	return err != nil
}
