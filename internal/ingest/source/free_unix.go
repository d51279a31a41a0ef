//go:build unix

package source

import "golang.org/x/sys/unix"

// FreeBytes is what an ordinary user may still write below a folder.
func FreeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
