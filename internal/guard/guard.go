// Package guard keeps a panic over foreign data from ending the process: it becomes
// the error of the work that met it. All goroutines of the program start here.
package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Panic is the error of work that panicked.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Panicked reports whether an error is a panic that Run recovered.
func Panicked(err error) bool {
	var p *Panic
	return errors.As(err, &p)
}

// Run does some work. If the work panics, its error is a *Panic.
func Run(work func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{v, debug.Stack()}
		}
	}()
	return work()
}

// Logged is Run that logs a panic; which names the URL or the file that was at work.
func Logged(ctx context.Context, log *slog.Logger, which string, work func() error) error {
	err := Run(work)
	if p, ok := errors.AsType[*Panic](err); ok {
		log.ErrorContext(ctx, "panic over foreign data", "which", which, "panic", p.Value, "stack", string(p.Stack))
	}
	return err
}

// Go runs f in a goroutine of its own, and closes done when f ends. A panic is logged.
func Go(f func()) (done <-chan struct{}) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = Logged(context.Background(), slog.Default(), "background work", func() error { f(); return nil })
	}()
	return over
}

// Mutex is a lock for which a caller may stop waiting. The zero value is free.
type Mutex struct {
	once sync.Once
	held chan struct{}
}

// Lock takes the lock, or returns the cause of the end of ctx.
func (m *Mutex) Lock(ctx context.Context) error {
	m.once.Do(func() { m.held = make(chan struct{}, 1) })
	select {
	case m.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Unlock frees the lock.
func (m *Mutex) Unlock() { <-m.held }

// Group is an errgroup.Group in which a panic is the error of the function that met it.
type Group struct{ *errgroup.Group }

// WithContext is errgroup.WithContext.
func WithContext(ctx context.Context) (Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return Group{g}, ctx
}

// Several calls do with each number below n, most of them at a time, until one fails.
func Several(ctx context.Context, most, n int, do func(ctx context.Context, i int) error) error {
	g, ctx := WithContext(ctx)
	var taken atomic.Int64
	for range min(most, n) {
		g.Go(func() (err error) {
			for i := int(taken.Add(1)) - 1; i < n && err == nil; i = int(taken.Add(1)) - 1 {
				if err = context.Cause(ctx); err == nil {
					err = do(ctx, i)
				}
			}
			return err
		})
	}
	return g.Wait()
}

// Go is errgroup.Group.Go.
func (g Group) Go(f func() error) { g.Group.Go(func() error { return Run(f) }) }
