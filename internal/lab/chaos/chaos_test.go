//go:build linux

package chaos

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/service/program"
)

// TestShort makes every kind of fault that takes no minute, once or twice, and
// wants the same outcome as without them. `make chaos` is the long form.
func TestShort(t *testing.T) {
	devtest.Soak(t, "starts servers of its own and breaks them for minutes")
	v, err := Run(t.Context(), Options{
		Bin:          devtest.Programs(t),
		Dir:          t.TempDir(),
		Faults:       14,
		PagesPerSite: 25,
		Patience:     12 * time.Minute,
		Log:          t.Output(),
		Kinds: []string{
			"worker killed", "worker stopped", "all workers killed", "worker replaced by a changed one",
			"Postgres killed", "Temporal killed", "connections to Postgres cut", "connections to Temporal cut",
			"web answers nothing", "disk full", "blob folder replaced by an empty one",
		},
	})
	require.NoError(t, err)
	require.Positive(t, v.Papers)
	require.Positive(t, v.Imported)
	require.Positive(t, v.Collected)
	require.Empty(t, v.Faulty())
}

// TestCommandsAreAccepted: each command of the harness fails for want of servers alone.
func TestCommandsAreAccepted(t *testing.T) {
	t.Parallel()
	dir, o := t.TempDir(), Options{Bin: devtest.Programs(t)}.withDefaults()
	w := &world{o: o, dir: dir, web: sampleweb.New(sampleweb.Options{Seed: o.Seed}), env: []string{"HOME=" + dir, "GLEANER_DATA_DIR=" + dir}}
	topics := filepath.Join(dir, "topics.yaml")
	require.NoError(t, w.writeTopics(topics))
	wrong := append(besideCommands(dir, topics), w.harvestCommand(), []string{"harvest", "--no-such-flag"})
	for i, args := range wrong {
		_, err := w.starter(t.Context(), args...)
		var ended *exec.ExitError
		require.ErrorAs(t, err, &ended)
		require.Equal(t, i == len(wrong)-1, ended.ExitCode() == program.ExitUsage, err)
	}
}

// TestJudgeSeesWhatIsWrong: a verdict that could not be bad would say nothing.
func TestJudgeSeesWhatIsWrong(t *testing.T) {
	t.Parallel()
	at := func(s float64) time.Time { return time.Unix(0, int64(s*1e9)) }
	ask := func(path string, begin float64, gap time.Duration) sampleweb.Request {
		return sampleweb.Request{Host: "a.example", Path: path, Status: 200, Time: at(begin), End: at(begin), InFlight: 1, Gap: gap}
	}
	good := outcome{
		papers:    map[string]string{"a": "1", "b": "2"},
		missing:   map[string]string{"c": "no homepage"},
		published: 3,
		found:     2,
		blobs:     map[string]bool{"1": true},
		rows:      map[string]bool{"1": true},
		imported:  map[string]bool{},
		collected: map[string]bool{"t u": true},
	}
	o := Options{Delay: time.Second}
	require.Empty(t, judge(o, good, good, nil).Faulty())

	for name, spoil := range map[string]func(*outcome){
		"paper lost":   func(b *outcome) { b.papers, b.found = map[string]string{"a": "1"}, 1 },
		"entry lost":   func(b *outcome) { b.collected = nil },
		"file changed": func(b *outcome) { b.imported = map[string]bool{"u failed": true} },
		"doubled":      func(b *outcome) { b.doubled = 1 },
		"other reason": func(b *outcome) { b.missing = map[string]string{"c": "fetch failed"} },
		"row missing":  func(b *outcome) { b.rows = nil },
		"blob missing": func(b *outcome) { b.blobs = nil },
		"count wrong":  func(b *outcome) { b.found = 1 },
		"stuck":        func(b *outcome) { b.open = []string{"site/a.example"} },
		"gave up":      func(b *outcome) { b.gaveUp = []string{"context deadline exceeded"} },
		"repeated":     func(b *outcome) { b.requests = []sampleweb.Request{ask("/", 0, -1), ask("/", 2, 2*time.Second)} },
		"too soon":     func(b *outcome) { b.requests = []sampleweb.Request{ask("/", 0, -1), ask("/b", 0.5, time.Second/2)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := good
			spoil(&bad)
			require.Len(t, judge(o, good, bad, nil).Faulty(), 1)
		})
	}
}

func TestJudgeSeesStalls(t *testing.T) {
	t.Parallel()
	at := func(s int) sampleweb.Request {
		return sampleweb.Request{Time: time.Unix(int64(s), 0), End: time.Unix(int64(s), 0)}
	}
	o := Options{Delay: time.Second}
	require.Empty(t, judge(o, outcome{}, outcome{all: []sampleweb.Request{at(0), at(9)}}, nil).Slow())
	for length, after := range map[int]string{11: "", 15: "Postgres away", 21: temporalAway} {
		broken := []window{{after, time.Unix(0, 0), time.Unix(0, 0)}}
		require.NotEmpty(t, judge(o, outcome{}, outcome{all: []sampleweb.Request{at(0), at(length)}}, broken).Slow(), after)
	}
	away := []window{{temporalAway, time.Unix(0, 0), time.Unix(0, 0)}}
	require.Empty(t, judge(o, outcome{}, outcome{all: []sampleweb.Request{at(0), at(15)}}, away).Slow())
}

// TestARestIsNoStall leaves out the pause after an answer of a server in trouble.
func TestARestIsNoStall(t *testing.T) {
	t.Parallel()
	for status, slow := range map[int]bool{200: true, 404: true, 429: false, 503: false} {
		log := make([]sampleweb.Request, before+after+2)
		for i := range log {
			at := time.Unix(int64(i), 0)
			if i > before {
				at = at.Add(30 * time.Second)
			}
			log[i] = sampleweb.Request{Host: "a.example", Status: 200, Time: at, End: at}
		}
		log[before].Status = status
		got := outcome{requests: log, harvested: map[string]bool{"a.example": true}}
		require.Equal(t, slow, judge(Options{}, outcome{}, got, nil).Slow() != "", status)
	}
}

// TestQuietTime leaves what was broken out of a pause.
func TestQuietTime(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	windows := []window{{"first", at(2), at(8)}, {"second", at(12), at(20)}}
	require.Equal(t, Stall{After: "first", Length: 4 * time.Second}, longestQuiet(at(0), at(23), windows))
	require.Equal(t, Stall{After: "second", Length: 10 * time.Second}, longestQuiet(at(10), at(30), windows))
	require.Equal(t, Stall{Length: 2 * time.Second}, longestQuiet(at(0), at(2), windows))
}
