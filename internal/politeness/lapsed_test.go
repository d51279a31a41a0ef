package politeness

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestALapsedLeaseIsRevokedOnce, and for good: its holder is told that it was lost. One
// that was renewed meanwhile, or given back, is not.
func TestALapsedLeaseIsRevokedOnce(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, unpaced, "a")
	leases := map[string]*Lease{}
	for _, host := range []string{"dead.test", "late.test", "done.test", "alive.test"} {
		l := acquire(t, k, host)
		leases[host] = l
		if host != "alive.test" {
			expire(t, db, host)
		}
	}
	lapsed, err := k.Lapsed(t.Context())
	require.NoError(t, err)
	require.Len(t, lapsed, 3)
	require.NoError(t, leases["late.test"].Renew(t.Context()))
	require.NoError(t, leases["done.test"].Release(t.Context()))
	lost := leases["dead.test"]
	tx, err := db.Pool.Begin(t.Context()) // of a machine that died in it
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM sites WHERE host = 'dead.test' FOR NO KEY UPDATE`)
	require.NoError(t, err)
	revoked, err := k.Revoke(t.Context(), lapsed)
	require.NoError(t, err)
	require.Empty(t, revoked, "and it is not waited for")
	require.NoError(t, tx.Rollback(t.Context()))
	for _, want := range [][]Lapsed{{{"dead.test", lost.Token, k.Holder()}}, {}} {
		revoked, err = k.Revoke(t.Context(), lapsed)
		require.NoError(t, err)
		require.Equal(t, want, revoked)
	}
	require.ErrorIs(t, lost.Renew(t.Context()), ErrLost)
	lapsed, err = k.Lapsed(t.Context())
	require.NoError(t, err)
	require.Empty(t, lapsed)

	// Who waited for a host may be first.
	other := NewKeeper(db.Pool, unpaced, "b")
	expire(t, db, "alive.test")
	acquire(t, other, "alive.test")
	require.Equal(t, []Lapsed{{"alive.test", leases["alive.test"].Token, k.Holder()}}, other.TookOver())
	require.Empty(t, other.TookOver())

	// What the holder knew of the host, and could not write, still holds for it.
	k.unreleased.put("dead.test", unreleasedLease{token: lost.Token, pacingState: pacingState{next: time.Now().Add(time.Hour), unsaved: true}})
	l := acquire(t, k, "dead.test")
	require.Greater(t, l.Ready(), 30*time.Minute)
	require.NoError(t, leases["late.test"].Renew(t.Context()))
}
