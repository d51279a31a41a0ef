package synthesis_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl"
	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/politeness"
	"gleaner/internal/record/frontier"
)

// TestACollectionNamesThePausedHosts that it would ask where nothing else waits.
func TestACollectionNamesThePausedHosts(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/": primes + " far>c.example/", "b.example/": verses, "c.example/": primes + " lattice",
	}})
	s.opens(t, "some", twoTopics, func(*Request) {})
	require.NoError(t, politeness.Pause(t.Context(), s.tools.DB.Pool, "c.example", "by its owner's wish"))
	r := s.ends(t, "some")
	require.Equal(t, Exhausted, r.Ending)
	require.Equal(t, "these hosts are paused, and pages of theirs wait: c.example", r.Reason)
}

// foreign is a record with a document that no store has.
type foreign struct{}

func (foreign) RecordID(context.Context) (string, error) { return "foreign", nil }
func (foreign) SomeFiles(context.Context) ([]string, error) {
	return []string{strings.Repeat("a", 64)}, nil
}

// TestAPausedCollectionRests though the blob store is away.
func TestAPausedCollectionRests(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{"a.example/": primes, "b.example/": verses}})
	s.opens(t, "some", twoTopics, func(*Request) {})
	repo := devtest.Must(repository.Open(t.Context(), t.TempDir()))(t)
	repo.BelongTo(foreign{})
	_, err := repo.Put(t.Context(), []byte("a document"))
	require.ErrorIs(t, err, repository.ErrAway)
	s.tools.Coll = collection.New(collection.Parts{DB: s.tools.DB, Repo: repo})
	for _, paused := range []bool{false, true} {
		require.NoError(t, s.record.Pause(t.Context(), "some", paused))
		r, err := New(s.tools).Slice(t.Context(), "some", func(crawl.Progress) {})
		if !paused {
			require.ErrorIs(t, err, repository.ErrAway)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, crawl.Paused, r.Ending)
	}
}

// TestStoppedAtAnyRequest: a worker that is told to stop while a request is under way
// finishes it, and writes what came: no URL is asked for twice.
func TestStoppedAtAnyRequest(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{
		pages: map[string]string{
			"a.example/":      primes + " one>a.example/one paper>a.example/p.pdf old>a.example/old none>a.example/none far>c.example/moved",
			"a.example/one":   primes + " ring two>a.example/two",
			"a.example/two":   primes + " field",
			"a.example/old":   "redirects to a.example/new",
			"a.example/new":   primes + " ideal",
			"b.example/":      verses,
			"c.example/":      primes + " lattice",
			"c.example/moved": "redirects to c.example/",
		},
		files: map[string]string{"a.example/p.pdf": pdfOf(t, primes+" portable")},
	})
	all := func(a *Request) { a.WARC = true }
	whole := s.collected(t, "whole", all)
	require.Len(t, whole.entries["primes"], 6)
	for k := range whole.asked {
		name := string(rune('a' + k))
		id := s.opens(t, name, twoTopics, all)
		before := len(s.web.asked())
		ctx, cancel := context.WithCancel(t.Context())
		s.web.at = func(n int) {
			if n == before+k+1 {
				cancel()
			}
		}
		for ctx.Err() == nil {
			_, err := New(s.tools).Slice(ctx, name, func(crawl.Progress) {})
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
			}
		}
		require.Equal(t, Exhausted, s.ends(t, name).Ending)
		require.ElementsMatch(t, whole.asked, s.web.asked()[before:], "stopped at %d", k)
		require.Len(t, devtest.Must(s.record.Entries(t.Context(), id, "primes"))(t), 6, "stopped at %d", k)
	}
}

// TestAPauseIsNoTry: a person pauses a host between the moment when its URL is taken and the
// request. After the resume it is asked for at once, as often as any.
func TestAPauseIsNoTry(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{"a.example/": primes + " one>a.example/one", "a.example/one": primes, "b.example/": verses}})
	s.tools.Keeper = politeness.NewKeeper(s.db.Pool, fetch.Pacing{MinDelay: time.Millisecond, MaxDelay: time.Millisecond}, "paced")
	id := s.opens(t, "some", twoTopics, func(*Request) {})
	storetest.Exec(t, s.db.Pool, fmt.Sprintf(`CREATE FUNCTION pause() RETURNS trigger AS $$ BEGIN
			UPDATE sites SET paused='paused by a person' WHERE host=NEW.host; RETURN NULL; END $$ LANGUAGE plpgsql;
		CREATE TRIGGER taken AFTER UPDATE OF deaths ON collection_urls FOR EACH ROW WHEN (NEW.hash = '\x%x') EXECUTE FUNCTION pause()`,
		frontier.HashOf("http://a.example/one")))
	r := devtest.Must(New(s.tools).Slice(t.Context(), "some", func(crawl.Progress) {}))(t)
	require.Equal(t, []any{Exhausted, 2, 0}, []any{r.Ending, r.Requests, s.asksFor("a.example/one")}, "nothing else is left to ask for")
	require.Equal(t, 1, storetest.Get[int](t, s.db.Pool, `SELECT count(*) FROM collection_urls WHERE waiting AND tries+deaths=0 AND next_try <= now()`))
	storetest.Exec(t, s.db.Pool, `DROP TRIGGER taken ON collection_urls`)
	_, err := politeness.Resume(t.Context(), s.db.Pool, "a.example")
	require.NoError(t, err)
	s.ends(t, "some")
	require.Equal(t, 1, s.asksFor("a.example/one"))
	require.Len(t, s.outcomes(t, id), 3)
}
