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
		l, err := k.Acquire(t.Context(), host)
		require.NoError(t, err)
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
	for _, l := range append(lapsed, lapsed...) {
		was := leases[l.Host] != nil && l.Host == "dead.test"
		is, err := k.Revoke(t.Context(), l)
		require.NoError(t, err)
		require.Equal(t, was, is, l.Host)
		if is {
			require.ErrorIs(t, leases[l.Host].Renew(t.Context()), ErrLost)
			delete(leases, l.Host)
		}
	}
	lapsed, err = k.Lapsed(t.Context())
	require.NoError(t, err)
	require.Empty(t, lapsed)

	// Who waited for a host may be first.
	other := NewKeeper(db.Pool, unpaced, "b")
	expire(t, db, "alive.test")
	_, err = other.Acquire(t.Context(), "alive.test")
	require.NoError(t, err)
	require.Equal(t, []string{"alive.test"}, other.TookOver())
	require.Empty(t, other.TookOver())

	// What the holder knew of the host, and could not write, still holds for it.
	k.left.put("dead.test", leftover{token: lost.Token, told: told{next: time.Now().Add(time.Hour), unsaved: true}})
	l, err := k.Acquire(t.Context(), "dead.test")
	require.NoError(t, err)
	require.Greater(t, l.Ready(), 30*time.Minute)
	require.NoError(t, leases["late.test"].Renew(t.Context()))
}
