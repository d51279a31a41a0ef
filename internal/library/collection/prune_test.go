package collection

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// duringDelete is a store in which something happens when a file is about to be
// removed.
type duringDelete struct {
	store.Blobs
	once func(sha string)
}

func (d *duringDelete) Delete(ctx context.Context, sha string) error {
	if f := d.once; f != nil {
		d.once = nil
		f(sha)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.Blobs.Delete(ctx, sha)
}

var prunesRejected = store.Retention{Rejected: 30 * 24 * time.Hour}

// sheets takes rejected documents that are old enough to be pruned.
func (s *shop) sheets(urls ...string) (files []File, shas []string) {
	s.t.Helper()
	for i, url := range urls {
		f := fileAt(url, s.pile.File(3+i, sampleweb.AsSheet))
		sha, js := s.takeFile(f)
		require.Equal(s.t, gleaner.DocumentRejected, js[0].State)
		files, shas = append(files, f), append(shas, sha...)
	}
	storetest.Exec(s.t, s.db.Pool, "UPDATE documents SET updated_at = now() - interval '1 year'")
	return files, shas
}

// TestPruneAgainstACrawl: a crawl that finds a document again while prune removes
// its file ends with the file in place, whichever of both comes first.
func TestPruneAgainstACrawl(t *testing.T) {
	t.Parallel()
	for name, removed := range map[string]bool{"the one being removed": true, "one marked for removal": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			ctx := t.Context()
			files, shas := s.sheets("http://a.example/1.pdf", "http://a.example/2.pdf")
			added := make(chan error, 1)
			back := 0
			blobs := &duringDelete{Blobs: s.repo, once: func(sha string) {
				if (sha == shas[0]) != removed {
					back = 1
				}
				go func() { _, err := s.Add(ctx, files[back]); added <- err }()
				s.waitFor(added) // it is done, or waits for prune
			}}
			_, err := s.db.Prune(ctx, prunesRejected, blobs, store.PruneOptions{})
			require.NoError(t, err)
			require.NoError(t, <-added)
			require.Nil(t, s.document(shas[back]).Removed)
			require.NoError(t, s.repo.Check(ctx, shas[back]))
			s.mustJudge(Stored(shas[back]), Once)
			require.Empty(t, differences(t, s, true))
			require.NotNil(t, s.document(shas[1-back]).Removed)
		})
	}
}

// waitFor waits until something is sent, which is then sent again, or until
// somebody waits for a lock in the database.
func (s *shop) waitFor(done chan error) {
	for {
		select {
		case err := <-done:
			done <- err
			return
		default:
		}
		var waits bool
		err := s.db.Pool.QueryRow(context.Background(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname=current_database() AND wait_event_type='Lock')`).Scan(&waits)
		if err != nil || waits {
			return
		}
	}
}

// TestPruneGoesOn: what an interrupted prune marked and did not remove the next
// one removes.
func TestPruneGoesOn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx, stop := context.WithCancel(t.Context())
	_, shas := s.sheets("http://a.example/1.pdf", "http://a.example/2.pdf")
	_, err := s.db.Prune(ctx, prunesRejected, &duringDelete{Blobs: s.repo, once: func(string) { stop() }}, store.PruneOptions{})
	require.Error(t, err)
	require.Equal(t, map[string]string{shas[0]: LeftOver, shas[1]: LeftOver}, differences(t, s, true))
	done := devtest.Must(s.db.Prune(t.Context(), prunesRejected, s.repo, store.PruneOptions{}))(t)
	require.Equal(t, 2, done[len(done)-1].Rows)
	require.Empty(t, differences(t, s, true))
}

// TestWantedWhilePruned: a document that turns out to be wanted after its file was
// marked is asked for again, not accepted without a file.
func TestWantedWhilePruned(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	_, shas := s.sheets("http://a.example/1.pdf")
	s.want(1)
	_, version, err := s.wanted.get(ctx)
	require.NoError(t, err)
	_, err = s.db.Prune(ctx, prunesRejected, s.repo, store.PruneOptions{})
	require.NoError(t, err)
	found := []store.Found{{Paper: s.pile.Paper(1).Key, Verdict: "strong", Form: "paper"}}
	require.NoError(t, s.db.SaveMatches(ctx, shas[0], found, true, version))
	require.Equal(t, gleaner.DocumentRejected, s.document(shas[0]).State)
	require.NoError(t, s.db.Settle(ctx, found[0].Paper, shas[0], "yes"))
	require.Equal(t, gleaner.DocumentRejected, s.document(shas[0]).State)
	d := s.document(shas[0])
	d.State = "accepted"
	require.ErrorIs(t, s.db.SaveJudgement(ctx, d, found, store.Kin{}, version), store.ErrPruned)
	require.Empty(t, differences(t, s, true))
}
