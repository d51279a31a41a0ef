//go:build linux

package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gleaner/internal/devstack/line"
	"gleaner/internal/fetch"
	"gleaner/internal/service/config"
)

// fault is something that goes wrong for a while; hit returns when it is over.
type fault struct {
	name   string
	weight int // 0 is made only where it is named
	hit    func(ctx context.Context, w *world, r *rand.Rand) error
}

// faults is the table of all kinds, with how often each is chosen.
func faults() []fault {
	return []fault{
		{"worker killed", 8, killWorker(syscall.SIGKILL)},
		{"worker stopped", 3, killWorker(syscall.SIGTERM)},
		{"all workers killed", 2, killAll},
		{"worker replaced by a changed one", 2, replaceWorker},
		{"worker frozen", 2, freeze(2*time.Second, 6*time.Second)},
		{"worker frozen past its leases", 1, freeze(35*time.Second, 40*time.Second)},
		{"Postgres killed", 3, killServer(func(w *world) *server { return w.postgres })},
		{"Temporal killed", 3, killServer(func(w *world) *server { return w.temporal })},
		{"connections to Postgres cut", 3, cut(func(w *world) *line.Line { return w.toPG })},
		{"connections to Temporal cut", 3, cut(func(w *world) *line.Line { return w.toTemp })},
		{"web answers nothing", 2, breakWeb},
		{"disk full", 2, fillDisk},
		{"blob folder replaced by an empty one", 2, hideBlobs},
		{"further harvest of the same sites", 1, harvestAgain},
		{"Postgres away", 0, outage(serverAway(func(w *world) *server { return w.postgres }))},
		{temporalAway, 0, outage(serverAway(func(w *world) *server { return w.temporal }))},
		{"disk full for long", 0, outage((*world).fillDisk)},
	}
}

// temporalAway is the fault of a long outage of Temporal.
const temporalAway = "Temporal away"

// between is a duration from least to most.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)))
}

func killWorker(s syscall.Signal) func(context.Context, *world, *rand.Rand) error {
	return func(ctx context.Context, w *world, r *rand.Rand) error {
		p := w.workers[r.IntN(len(w.workers))]
		p.end(s)
		if err := fetch.Wait(ctx, between(r, 0, 2*time.Second)); err != nil {
			return err
		}
		return p.start()
	}
}

// replaceWorker takes a worker down and starts one that cuts crawls up in
// another way, as a new release may.
func replaceWorker(_ context.Context, w *world, r *rand.Rand) error {
	p := w.workers[r.IntN(len(w.workers))]
	p.end(syscall.SIGTERM)
	policy, err := w.policy(p.name+".yaml", func(c *config.Policy) {
		c.Crawl.SlicePages, c.Crawl.SliceTime = 5+r.IntN(100), between(r, 3*time.Second, time.Minute)
	})
	if err != nil {
		return err
	}
	p.extra = []string{policy}
	return p.start()
}

func killAll(ctx context.Context, w *world, r *rand.Rand) error {
	for _, p := range w.workers {
		p.end(syscall.SIGKILL)
	}
	if err := fetch.Wait(ctx, between(r, 0, 2*time.Second)); err != nil {
		return err
	}
	for _, p := range w.workers {
		if err := p.start(); err != nil {
			return err
		}
	}
	return nil
}

func freeze(least, most time.Duration) func(context.Context, *world, *rand.Rand) error {
	return func(ctx context.Context, w *world, r *rand.Rand) error {
		p := w.workers[r.IntN(len(w.workers))]
		p.signal(syscall.SIGSTOP)
		err := fetch.Wait(ctx, between(r, least, most))
		p.signal(syscall.SIGCONT)
		return err
	}
}

func killServer(which func(*world) *server) func(context.Context, *world, *rand.Rand) error {
	return func(ctx context.Context, w *world, r *rand.Rand) error {
		s := which(w)
		if err := s.kill(); err != nil {
			return err
		}
		if err := fetch.Wait(ctx, between(r, 0, 2*time.Second)); err != nil {
			return err
		}
		return s.start(ctx)
	}
}

func cut(which func(*world) *line.Line) func(context.Context, *world, *rand.Rand) error {
	return func(ctx context.Context, w *world, r *rand.Rand) error {
		which(w).Cut()
		err := fetch.Wait(ctx, between(r, 0, 3*time.Second))
		which(w).Mend()
		return err
	}
}

func breakWeb(ctx context.Context, w *world, r *rand.Rand) error {
	w.web.Break(true)
	w.server.CloseClientConnections()
	err := fetch.Wait(ctx, between(r, 500*time.Millisecond, 3*time.Second))
	w.web.Break(false)
	return err
}

// outage takes something away for as long as the options say, once harvest,
// import and collection all work.
func outage(away func(*world) (back, error)) func(context.Context, *world, *rand.Rand) error {
	return func(ctx context.Context, w *world, _ *rand.Rand) error {
		if err := w.awaitWork(ctx); err != nil {
			return err
		}
		back, err := away(w)
		if err != nil {
			return err
		}
		return errors.Join(fetch.Wait(ctx, w.o.Outage), back(ctx))
	}
}

// back ends an outage.
type back func(ctx context.Context) error

func serverAway(which func(*world) *server) func(*world) (back, error) {
	return func(w *world) (back, error) { return which(w).start, which(w).kill() }
}

// fillDisk leaves no byte on the blobs' disk for a while.
func fillDisk(ctx context.Context, w *world, r *rand.Rand) error {
	empty, err := w.fillDisk()
	if err != nil {
		return err
	}
	return errors.Join(fetch.Wait(ctx, between(r, time.Second, 4*time.Second)), empty(ctx))
}

// fillDisk leaves no byte on the blobs' disk until empty is called.
func (w *world) fillDisk() (empty back, err error) {
	ballast, err := os.Create(filepath.Join(w.disk, "ballast"))
	if err != nil {
		return nil, err
	}
	block := make([]byte, 1<<20)
	for size := len(block); size > 0; {
		if _, err = ballast.Write(block[:size]); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			return nil, err
		}
	}
	return func(context.Context) error { return os.Remove(ballast.Name()) }, ballast.Close()
}

// hideBlobs puts an empty folder in the place of the blobs', as a disk that is
// not mounted does. What is written there is lost.
func hideBlobs(ctx context.Context, w *world, r *rand.Rand) error {
	aside := w.blobs + ".aside"
	if err := os.Rename(w.blobs, aside); err != nil {
		return err
	}
	err := os.Mkdir(w.blobs, 0o700)
	err = errors.Join(err, fetch.Wait(ctx, between(r, time.Second, 4*time.Second)))
	// The workers may be writing there at this moment: one step for both.
	if rerr := unix.Renameat2(unix.AT_FDCWD, aside, unix.AT_FDCWD, w.blobs, unix.RENAME_EXCHANGE); rerr != nil {
		return errors.Join(err, rerr)
	}
	return errors.Join(err, os.RemoveAll(aside))
}

func harvestAgain(ctx context.Context, w *world, r *rand.Rand) error {
	first, last := w.web.Years()
	year := first + r.IntN(last-first+1)
	if _, err := w.starter(ctx, "harvest", w.venue(), "--years", strconv.Itoa(year), "--again", "none"); err != nil {
		return nil // Temporal may be away at this moment: it was asked, that is all
	}
	return nil
}
