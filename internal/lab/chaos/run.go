//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gleaner/internal/fetch"
)

// window is the time of one fault.
type window struct {
	name       string
	begin, end time.Time
}

// Run harvests the web undisturbed, then a second time with faults, and returns
// what differs. The error is of the harness itself.
func Run(ctx context.Context, o Options) (Verdict, error) {
	o = o.withDefaults()
	for _, path := range []*string{&o.Dir, &o.Bin} { // the programs run elsewhere
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return Verdict{}, err
		}
	}
	quiet := o
	quiet.Delay, quiet.Faults = 20*time.Millisecond, 0
	fmt.Fprintln(o.Log, "a harvest that nothing disturbs")
	want, _, err := harvest(ctx, quiet, filepath.Join(o.Dir, "undisturbed"))
	if err != nil {
		return Verdict{}, fmt.Errorf("the undisturbed harvest: %w", err)
	}
	fmt.Fprintf(o.Log, "  %d papers found, %d files imported, %d pages collected in %d requests\na harvest with %d faults\n",
		len(want.papers), len(want.imported), len(want.collected), len(want.requests), o.Faults)
	got, windows, err := harvest(ctx, o, filepath.Join(o.Dir, "disturbed"))
	if err != nil {
		return Verdict{}, fmt.Errorf("the disturbed harvest: %w", err)
	}
	return judge(o, want, got, windows), nil
}

// harvest runs one from the command line to its end and looks at what it left.
func harvest(ctx context.Context, o Options, dir string) (outcome, []window, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return outcome{}, nil, err
	}
	w, err := newWorld(ctx, o, dir)
	if err != nil {
		return outcome{}, nil, err
	}
	if err := w.beginBeside(ctx); err != nil {
		return outcome{}, nil, errors.Join(err, w.close())
	}
	var out outcome
	waited := make(chan error, 1)
	go func() { waited <- w.watch(ctx, &out) }()
	windows, err := w.disturb(ctx, waited)
	if err == nil {
		fmt.Fprintln(o.Log, "  waiting for the end")
		err = w.await(ctx, waited)
	}
	if err != nil {
		return outcome{}, nil, errors.Join(err, w.close())
	}
	err = w.look(ctx, &out)
	return out, windows, errors.Join(err, w.close())
}

// startTime is how long a command may take to say that it cannot begin.
const startTime = 15 * time.Second

// watch harvests as a person would, who asks again where the command gives up.
func (w *world) watch(ctx context.Context, out *outcome) error {
	for {
		began := time.Now()
		_, err := w.starter(ctx, w.harvestCommand()...)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) > startTime { // else it says that a server is away, as it should
			out.gaveUp = append(out.gaveUp, err.Error())
		}
		if err := fetch.Wait(ctx, time.Second); err != nil {
			return err
		}
	}
}

// disturb makes one fault after another until there were enough, or the harvest
// is over.
func (w *world) disturb(ctx context.Context, over chan error) ([]window, error) {
	r := rand.New(rand.NewPCG(w.o.Seed, uint64(w.o.Faults)))
	var deck []fault
	for _, f := range faults() {
		if len(w.o.Kinds) > 0 && !slices.Contains(w.o.Kinds, f.name) ||
			w.disk == "" && strings.HasPrefix(f.name, "disk full") {
			continue
		}
		weight := f.weight
		if len(w.o.Kinds) > 0 {
			weight = max(weight, 1)
		}
		for range weight {
			deck = append(deck, f)
		}
	}
	var done []window
	for len(w.web.Log()) == 0 { // it has begun
		if err := fetch.Wait(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
	for len(done) < w.o.Faults {
		select {
		case err := <-over:
			over <- err
			return done, nil
		case <-ctx.Done():
			return done, ctx.Err()
		case <-time.After(rest(r)):
		}
		f := deck[r.IntN(len(deck))]
		hit := window{name: f.name, begin: time.Now()}
		if err := f.hit(ctx, w, r); err != nil {
			return done, fmt.Errorf("%s: %w", f.name, err)
		}
		hit.end = time.Now()
		done = append(done, hit)
		fmt.Fprintf(w.o.Log, "  %3d  %-38s %5.1f s  %d requests so far\n", len(done), hit.name, hit.end.Sub(hit.begin).Seconds(), len(w.requests()))
	}
	return done, nil
}

// rest is the time between two faults: mostly short, so that they meet, and now
// and then long enough to see that all work goes on.
func rest(r *rand.Rand) time.Duration {
	if r.IntN(4) == 0 {
		return between(r, 12*time.Second, 15*time.Second)
	}
	return between(r, time.Second, 4*time.Second)
}

// await waits for the harvest's end, as long as patience lasts.
func (w *world) await(ctx context.Context, waited chan error) error {
	select {
	case err := <-waited:
		return err
	case <-time.After(w.o.Patience):
		return fmt.Errorf("still going on %s after the last fault", w.o.Patience)
	case <-ctx.Done():
		return ctx.Err()
	}
}
