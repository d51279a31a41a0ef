package devstack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// dirLock is an flock on a file of the data folder. The kernel gives it free
// when its process dies, however it dies.
type dirLock struct{ file *os.File }

func lockDir(dataDir string) (*dirLock, error) {
	f, err := os.OpenFile(filepath.Join(dataDir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("devstack: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("devstack: locking %s: %w", f.Name(), err)
		}
		who := ""
		if info, ok := readInfo(dataDir); ok {
			who = fmt.Sprintf(" (process %d)", info.PID)
		}
		return nil, fmt.Errorf("a stack is %w in %s%s: stop it first, or choose another data folder", ErrRunning, dataDir, who)
	}
	return &dirLock{file: f}, nil
}

// locked tells whether some process holds the folder. The attempt itself takes
// the lock for an instant, shared, which only another lockDir could notice.
func locked(dataDir string) bool {
	f, err := os.Open(filepath.Join(dataDir, lockFile))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

func (l *dirLock) unlock() error { return l.file.Close() }
