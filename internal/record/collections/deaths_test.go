package collections_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	. "gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// TestWhatIsTakenAndNeverWritten is charged with a death each time that the host's next
// holder comes, and set aside in the end; what was given back, or is written, is not.
func TestWhatIsTakenAndNeverWritten(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	q := open(t, Rules{Size: 1}, []URL{url("a.example", "killer", 1), url("a.example", "other", 0.5)})
	by := q.fence(ctx, "a.example")
	take := func(want string) *URL {
		u := devtest.Must(q.Take(ctx, by, "a.example", 0))(t)
		require.Equal(t, "http://a.example/"+want, u.URL)
		return u
	}
	for range 10 {
		require.NoError(t, q.Leave(ctx, by, take("killer")))
	}
	for range frontier.MaxDeaths - 1 {
		take("killer")
	}
	require.NoError(t, q.Write(ctx, &Visit{URL: take("killer"), At: time.Now(), Again: time.Now()}))
	for range frontier.MaxDeaths {
		take("killer") // counted anew: it came to an end meanwhile
	}
	_, err := q.Take(ctx, store.Slice{SiteID: by.SiteID, Token: by.Token + 1}, "a.example", 0)
	require.ErrorIs(t, err, store.ErrNotHeld)
	other := take("other")
	require.ErrorIs(t, q.Leave(ctx, store.Slice{SiteID: by.SiteID, Token: by.Token + 1}, other), store.ErrNotHeld)
	require.NoError(t, q.Write(ctx, &Visit{URL: other, At: time.Now()}))
	asked, err := store.Column[string](ctx, q.db.Pool, `SELECT concat_ws(' ', n, outcome, reason) FROM collection_urls WHERE collection=$1 AND NOT waiting ORDER BY n`, q.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"2 crawler-killed the process that was at it ended, each time", "3  "}, asked)
	host, wait, err := q.Host(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, host)
	require.Zero(t, wait, "nothing waits")
}

// TestWhatADeathLeft rests, so that pages which one process was at are asked for each at
// its own time; the host is asked for others meanwhile.
func TestWhatADeathLeft(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	q := open(t, Rules{Size: 1}, []URL{url("a.example", "killer", 1), url("a.example", "other", 0.5)})
	by := q.fence(ctx, "a.example")
	_, err := q.Take(ctx, by, "a.example", 1e6*time.Hour)
	require.NoError(t, err)
	u := devtest.Must(q.Take(ctx, by, "a.example", 1e6*time.Hour))(t)
	require.Equal(t, "http://a.example/other", u.URL)
	require.NoError(t, q.Write(ctx, &Visit{URL: u, At: time.Now()}))
	_, wait, err := q.Host(ctx, nil)
	require.NoError(t, err)
	require.Positive(t, wait)
}
