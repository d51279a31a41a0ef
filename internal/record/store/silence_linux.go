package store

import (
	"os"
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of tcp(7).
const tcpUserTimeout = 18

// endUnanswered ends a connection when what was sent is not acknowledged for so long.
func endUnanswered(fd uintptr, after time.Duration) error {
	return os.NewSyscallError("setsockopt", syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(after.Milliseconds())))
}
