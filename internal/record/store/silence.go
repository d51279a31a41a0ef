package store

import (
	"cmp"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// silence is for how long a line may say nothing at all, be it only that what was
// sent has arrived, before it counts as dead. Where packets are lost nobody says
// that the server is gone: by itself the kernel would wait for it for a quarter of
// an hour, and ask again at last only every second minute.
const silence = 6 * time.Second

// hearSilence makes connections end that lead nowhere any more: those under a query,
// those that wait in the pool, and those that are being made. A query may take as
// long as it likes while its server is there.
func hearSilence(cfg *pgxpool.Config) {
	cfg.PingTimeout = cmp.Or(cfg.PingTimeout, silence)
	c := cfg.ConnConfig
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, silence)
	c.DialFunc = dialer(c.ConnectTimeout).DialContext
}

func dialer(within time.Duration) *net.Dialer {
	return &net.Dialer{Timeout: within, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 3, Interval: silence / 3, Count: 2},
		Control: func(network, _ string, line syscall.RawConn) (err error) {
			if !strings.HasPrefix(network, "tcp") {
				return nil // a socket of this machine
			}
			failed := line.Control(func(fd uintptr) { err = endUnanswered(fd, silence) })
			return cmp.Or(failed, err)
		}}
}
