package collection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// What a copy of the test program does, and is killed at.
const (
	jobTake    = "take" // the files of the scenario
	jobPrune   = "prune"
	jobRejudge = "rejudge"
)

// steps counts the writes of a process, or the points that it passes, and kills it before one
// of them.
type steps struct {
	n, last int // last: 0 is never
}

func (s *steps) step() {
	if s.n++; s.n == s.last {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// bothTracers is what the record's own tracer is.
type bothTracers interface {
	pgx.QueryTracer
	pgx.BatchTracer
}

// stepped makes a step of each statement that may write.
type stepped struct {
	bothTracers
	*steps
}

var writing = regexp.MustCompile(`(?i)\b(insert|update|delete|commit)\b`)

func (s stepped) TraceQueryStart(ctx context.Context, c *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if writing.MatchString(q.SQL) {
		s.step()
	}
	return s.bothTracers.TraceQueryStart(ctx, c, q)
}

func (s stepped) TraceBatchStart(ctx context.Context, c *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	s.step()
	return s.bothTracers.TraceBatchStart(ctx, c, b)
}

// removing makes a step of each file that is removed.
type removing struct {
	store.Blobs
	*steps
}

func (r removing) Delete(ctx context.Context, sha string) error {
	r.step()
	return r.Blobs.Delete(ctx, sha)
}

// runJob does what a command does, and dies before the plan's nth step; it prints
// how many there were where it does not.
func (p crashPlan) runJob() error {
	c, shut, err := openCollection(p.DSN, p.Dir)
	if err != nil {
		return err
	}
	defer shut()
	ctx, s := context.Background(), &steps{last: p.Nth}
	c.reached = func(point) { s.step() }
	if p.Job == jobTake { // of which each point is a state of its own
		if err = scenario(c); err == nil {
			fmt.Println(s.n)
		}
		return err
	}
	cfg := c.db.Pool.Config()
	cfg.ConnConfig.Tracer = stepped{cfg.ConnConfig.Tracer.(bothTracers), s}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	c.db.Pool.Close()
	*c.db = *store.New(pool)
	switch p.Job {
	case jobPrune:
		_, err = c.db.Prune(ctx, prunesAll, removing{c.repo, s}, store.PruneOptions{})
	case jobRejudge:
		var found []store.Listed
		if found, err = c.db.FindDocuments(ctx, store.DocumentQuery{}); err != nil {
			return err
		}
		for _, d := range found {
			if _, err = c.Judge(ctx, Stored(d.SHA256), Again); err != nil {
				break
			}
		}
	}
	if err == nil {
		fmt.Println(s.n)
	}
	return err
}

// job runs a copy of the test program on a shop. It returns how many steps there
// were; 0 where it was killed before its nth.
func (s *shop) job(t *testing.T, name string, nth int) (n int) {
	self := devtest.Must(os.Executable())(t)
	plan := devtest.Must(json.Marshal(crashPlan{DSN: s.dsn, Dir: s.dir, Job: name, Nth: nth}))(t)
	var said strings.Builder
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), crashVariable+"="+string(plan))
	cmd.Stderr = &said
	out, err := cmd.Output()
	var exit *exec.ExitError
	require.True(t, errors.As(err, &exit), "%s", said.String())
	if nth > 0 {
		require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal(), "%s", said.String())
		return 0
	}
	_, err = fmt.Sscan(string(out), &n)
	require.NoError(t, err, "%s", said.String())
	return n
}

// killedAnywhere runs a job undisturbed, and then again and again with a process
// that is killed before one of its steps and another that does all anew: the
// latter must come to the same. With -short it kills before every third.
func killedAnywhere(t *testing.T, job string, prepare func(*shop), state func(*shop) string, between func(t *testing.T, s *shop)) {
	fresh := func(t *testing.T) *shop {
		s := openShop(t, devtest.Postgres(t), t.TempDir())
		prepare(s)
		return s
	}
	s := fresh(t)
	before := state(s)
	n := s.job(t, job, 0)
	want := state(s)
	require.NotEqual(t, before, want)
	require.Greater(t, n, 8)
	between(t, s)
	stride := 1
	if testing.Short() {
		stride = 3
	}
	for nth := 1; nth <= n; nth += stride {
		t.Run(fmt.Sprint("before step ", nth), func(t *testing.T) {
			t.Parallel()
			s := fresh(t)
			s.job(t, job, nth)
			between(t, s)
			s.job(t, job, 0)
			require.Equal(t, want, state(s))
			require.Empty(t, differences(t, s, true))
		})
	}
}

var prunesAll = store.Retention{Pages: time.Hour, Searches: time.Hour, Robots: time.Hour, Rejected: time.Hour, Harvests: time.Hour, Lines: time.Hour}

// TestPruneKilledAnywhere: no row promises a file that is not there, papers that
// nobody wants any more are known as such, and the next run removes the rest.
func TestPruneKilledAnywhere(t *testing.T) {
	t.Parallel()
	prepare := func(s *shop) {
		s.want(1)
		s.sheets("http://a.example/1.pdf", "http://a.example/2.pdf")
		s.take("http://a.example/kept.pdf", s.pile.File(1, sampleweb.AsPDF))
		storetest.Exec(s.t, s.db.Pool, `INSERT INTO page_cache (hash, host, url, final_url, outcome, status, header, body, fetched_at) VALUES ('\x01', 'a.example', 'u', 'u', 'success', 200, '{}', 'x', now() - interval '1 year');
			INSERT INTO searches (provider, query, wanted, results, asked_at) VALUES ('p', 'q', 10, '[]', now() - interval '1 year');
			INSERT INTO robots (host, status, available, failures, fetched_at, expires_at) VALUES ('a.example', 200, true, 0, now() - interval '1 year', now() - interval '1 year');
			INSERT INTO urls (site_id, hash, url) VALUES (77, '\x02', 'http://gone.example/');
			INSERT INTO harvests (id, venue, year_from, year_to, stage, completed_at) VALUES ('old', 'v', 2001, 2001, 'complete', now() - interval '1 year'), ('new', 'v', 2000, 2002, 'complete', now());
			UPDATE record SET wanted=100`)
	}
	state := func(s *shop) string {
		return s.dump() + storetest.Get[string](s.t, s.db.Pool, `SELECT concat_ws(' ', (SELECT count(*) FROM page_cache), (SELECT count(*) FROM searches), (SELECT count(*) FROM robots), (SELECT count(*) FROM urls),
			(SELECT string_agg(id, ',' ORDER BY id) FROM harvests), (SELECT wanted FROM record), (SELECT string_agg(concat_ws(',', sha256, blob_removed_at IS NULL, blob_left), ' ' ORDER BY sha256) FROM documents))`)
	}
	killedAnywhere(t, jobPrune, prepare, state, func(t *testing.T, s *shop) {
		for sha, what := range differences(t, s, true) {
			require.Equal(t, LeftOver, what, sha)
		}
		var wanted int
		var old bool
		require.NoError(t, s.db.Pool.QueryRow(context.Background(), `SELECT wanted, EXISTS (SELECT 1 FROM harvests WHERE id='old') FROM record`).Scan(&wanted, &old))
		require.Equal(t, old, wanted == 100, "workers compare documents with the papers of a harvest that is gone")
	})
}

// TestRejudgeKilledAnywhere: each document has its old verdict or its new one, in
// whole, and the next run gives all their new ones.
func TestRejudgeKilledAnywhere(t *testing.T) {
	t.Parallel()
	prepare := func(s *shop) {
		s.want(1)
		filter := s.filter
		s.filter = nil
		s.take("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF))
		s.take("http://a.example/2.pdf", s.pile.File(3, sampleweb.AsSheet))
		s.filter = filter
	}
	verdicts := func(s *shop) []string {
		return storetest.Column[string](s.t, s.db.Pool, `SELECT concat_ws('|', sha256, state, outcome, class, reader, score, reasons, pages, words, refs, md5(first_pages),
			(SELECT string_agg(concat_ws(',', paper_key, verdict, form, reasons), ' ') FROM matches m WHERE m.sha256=d.sha256)) FROM documents d ORDER BY sha256`)
	}
	was := map[string]bool{}
	killedAnywhere(t, jobRejudge, prepare, func(s *shop) string {
		if len(was) < 4 { // before and after the undisturbed run
			for _, v := range verdicts(s) {
				was[v] = true
			}
		}
		return s.dump()
	}, func(t *testing.T, s *shop) {
		require.Len(t, was, 4)
		for _, v := range verdicts(s) {
			require.True(t, was[v], "neither the old nor the new verdict: %s", v)
		}
	})
}
