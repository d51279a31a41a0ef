//go:build linux

package chaos

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"gleaner/internal/devstack"
	"gleaner/internal/fetch"
)

// server is a Postgres or a Temporal server that can be killed and started
// again on its data and its port.
type server struct {
	options devstack.Options
	stack   *devstack.Stack
}

func (s *server) start(ctx context.Context) error {
	// A server that was killed may hold its memory or its port for a moment.
	var err error
	for range 20 {
		if s.stack, err = devstack.Start(ctx, s.options); err == nil {
			return nil
		}
		if err := fetch.Wait(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("start again: %w", err)
}

// kill ends the server as a crash would.
func (s *server) kill() error {
	pg, temporal := s.stack.PIDs()
	for _, pid := range []int{pg, temporal} {
		if pid > 0 {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				return err
			}
		}
	}
	<-s.stack.Failed()
	return s.stack.Stop()
}

func (s *server) stop() error {
	if s.stack == nil {
		return nil
	}
	return s.stack.Stop()
}
