package store

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
)

// TestALineThatGoesSilentEnds: what was sent and is not taken ends the line. That
// nothing is heard while an answer is waited for cannot be had without losing
// packets; there the kernel is to ask, and to end the line in as short a time.
func TestALineThatGoesSilentEnds(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody reads what comes
	require.NoError(t, err)
	defer l.Close()
	c := devtest.Must(dialer(silence).DialContext(t.Context(), "tcp", l.Addr().String()))(t)
	defer c.Close()
	line := devtest.Must(c.(*net.TCPConn).SyscallConn())(t)
	option := func(name int) (value int) {
		require.NoError(t, line.Control(func(fd uintptr) { value, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, name) }))
		require.NoError(t, err)
		return value
	}
	asks := option(syscall.TCP_KEEPIDLE) + option(syscall.TCP_KEEPINTVL)*option(syscall.TCP_KEEPCNT)
	require.LessOrEqual(t, time.Duration(asks)*time.Second, silence)
	for part := make([]byte, 1<<20); err == nil; {
		_, err = c.Write(part)
	}
	require.ErrorIs(t, err, syscall.ETIMEDOUT)
}
