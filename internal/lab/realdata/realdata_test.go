package realdata

import (
	"flag"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// ending notes how a test ended.
type ending struct {
	testing.TB
	failed, skipped bool
}

func (e *ending) Fatal(...any) { e.failed = true; runtime.Goexit() }
func (e *ending) Skip(...any)  { e.skipped = true; runtime.Goexit() }

// TestWhoAsksByNameFails: a measurement that cannot be made is left out of a run of all
// tests; where it was asked for, by -run or by naming a folder, it fails.
func TestWhoAsksByNameFails(t *testing.T) {
	run := flag.Lookup("test.run").Value.String()
	t.Cleanup(func() { require.NoError(t, flag.Set("test.run", run)) })
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		folder, run string
		fails       bool
	}{{"", "", false}, {"none", "", false}, {"none", "X", false}, {"", "X", true}, {t.TempDir(), "", true}} {
		t.Setenv(Variable, c.folder)
		require.NoError(t, flag.Set("test.run", c.run))
		for _, missing := range []func(testing.TB){
			func(tb testing.TB) { Path(tb, "no such data") },
			func(tb testing.TB) { Skip(tb, "poppler is not installed") },
		} {
			e, done := &ending{TB: t}, make(chan struct{})
			go func() { defer close(done); missing(e) }()
			<-done
			require.Equal(t, c.fails, e.failed, c)
			require.Equal(t, !c.fails, e.skipped, c)
		}
	}
}
