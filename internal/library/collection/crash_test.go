package collection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/lab/packtest"
	"gleaner/internal/lab/sampleweb"
)

// crashPlan makes a copy of the test program kill itself: in the middle of the
// scenario, when a point is passed for the nth time.
type crashPlan struct {
	DSN, Dir string
	Point    point
	Nth      int
	Job      string // instead of the scenario, which is then killed before its nth write; 0 is never
}

const crashVariable = "GLEANER_TEST_CRASH"

// survived is the exit code of a copy that never came to its point.
const survived = 7

func maybeCrash() {
	raw := os.Getenv(crashVariable)
	if raw == "" {
		return
	}
	var p crashPlan
	err := json.Unmarshal([]byte(raw), &p)
	if err == nil {
		err = p.run()
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(survived)
}

func (p crashPlan) run() error {
	if p.Job != "" {
		return p.runJob()
	}
	c, shut, err := openCollection(p.DSN, p.Dir)
	if err != nil {
		return err
	}
	defer shut()
	n := 0
	c.reached = func(at point) {
		if at != p.Point {
			return
		}
		if n++; n == p.Nth {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	return scenario(c)
}

// scenario is what a crawl does with the files it meets: a paper, an archive
// with the same paper as PostScript and another one, a new version of the
// first, and the first one again elsewhere.
func scenario(c *Collection) error {
	ctx := context.Background()
	pile := sampleweb.NewPile(7)
	packed := archive(map[string][]byte{"a.ps": pile.File(1, sampleweb.AsPostScript), "b.pdf": pile.File(2, sampleweb.AsPDF), "notes.pdf": pile.File(3, sampleweb.AsSheet)})
	for _, f := range []File{
		fileAt("http://www.example.org/~ada/one.pdf", pile.File(1, sampleweb.AsPDF)),
		fileAt("http://www.example.org/~ada/all.zip", packed),
		fileAt("http://www.example.org/~ada/one.pdf", pile.File(1, sampleweb.AsRevisedPDF)),
		fileAt("http://mirror.example.org/one.pdf", pile.File(1, sampleweb.AsPDF)),
	} {
		shas, err := add(ctx, c, f)
		if err != nil {
			return err
		}
		for _, sha := range shas {
			if _, err := c.Judge(ctx, Stored(sha), Once); err != nil {
				return err
			}
		}
	}
	return nil
}

func archive(members map[string][]byte) []byte {
	var files []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		files = append(files, name, string(members[name]))
	}
	return packtest.Zip(files...)
}

// TestCrashAnywhere kills a process outright (SIGKILL) at every point between a
// download and its judgement. The next attempt, which begins anew as a slice
// does, must come to the very state of one that was never interrupted. With -short
// each point is met once, early or late.
func TestCrashAnywhere(t *testing.T) {
	t.Parallel()
	clean := newShop(t, 1, 2)
	require.NoError(t, scenario(clean.Collection))
	want := clean.dump()
	require.NoError(t, scenario(clean.Collection))
	// A second run of the scenario ends with the same current version.
	require.Equal(t, want, clean.dump(), "doing all of it twice changes something")

	self, err := os.Executable()
	require.NoError(t, err)
	type stop struct {
		at  point
		nth int
	}
	var stops []stop
	for i, p := range []point{fetched, stored, recorded, read, written, sketched, judged} {
		for j, nth := range []int{1, 2, 4} {
			if !testing.Short() || j == i%3 {
				stops = append(stops, stop{p, nth})
			}
		}
	}
	for _, s := range stops {
		t.Run(fmt.Sprintf("%s %d", s.at, s.nth), func(t *testing.T) {
			t.Parallel()
			shop := openShop(t, devtest.Postgres(t), t.TempDir())
			shop.want(1, 2)
			plan, err := json.Marshal(crashPlan{DSN: shop.dsn, Dir: shop.dir, Point: s.at, Nth: s.nth})
			require.NoError(t, err)
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), crashVariable+"="+string(plan))
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			require.True(t, errors.As(err, &exit), "%s", out)
			require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal(), "%s", out)

			// Whatever was left behind: no row without its blob.
			for _, sha := range storetest.Column[string](t, shop.db.Pool, "SELECT sha256 FROM documents") {
				require.NoError(t, shop.repo.Check(context.Background(), sha))
			}
			require.NoError(t, scenario(shop.Collection))
			require.Equal(t, want, shop.dump())
		})
	}
}
