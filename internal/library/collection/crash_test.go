package collection

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/lab/packtest"
	"gleaner/internal/lab/sampleweb"
)

// crashPlan makes a copy of the test program kill itself before the nth step of a job; 0 is
// never.
type crashPlan struct {
	DSN, Dir string
	Job      string
	Nth      int
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
		err = p.runJob()
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(survived)
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
// download and its judgement. No row is left without its blob, and the next attempt,
// which begins anew as a slice does, comes to the very state of one that was never
// interrupted, also where that had done all.
func TestCrashAnywhere(t *testing.T) {
	t.Parallel()
	killedAnywhere(t, jobTake, func(s *shop) { s.want(1, 2) }, (*shop).dump, func(t *testing.T, s *shop) {
		for _, sha := range storetest.Column[string](t, s.db.Pool, "SELECT sha256 FROM documents") {
			require.NoError(t, s.repo.Check(t.Context(), sha))
		}
	})
}
