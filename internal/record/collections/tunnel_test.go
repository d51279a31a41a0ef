package collections_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	. "gleaner/internal/record/collections"
)

// TestTunnel: a crawl tunnels from when nothing of high priority waits on any host, also on
// one that is not to be asked yet, but for hosts that are not asked again; and until enough
// sites were met on which nothing on topic had been.
func TestTunnel(t *testing.T) {
	t.Parallel()
	rules := Rules{Size: 100, HostPages: 2, Tunnel: Tunnel{High: 1, Sites: 2}}
	inBoth(t, rules, []URL{url("a.example", "", 1)}, func(t *testing.T, q queue) {
		visit := func(want string, v Visit) {
			t.Helper()
			u := take(t, q)
			require.Equal(t, "http://"+want, u.URL)
			v.URL, v.At = u, time.Now()
			require.NoError(t, q.Write(t.Context(), &v))
		}
		tunnels := func(want, begins bool) {
			t.Helper()
			require.Equal(t, want, devtest.Must(q.State(t.Context()))(t).Tunnels)
			require.Equal(t, begins, devtest.Must(q.Tunnel(t.Context()))(t))
		}
		visit("a.example/", Visit{About: true, Links: []URL{url("a.example", "1", 1), url("b.example", "", 0.5), url("a.example", "2", 1)}})
		tunnels(false, false)
		visit("a.example/1", Visit{About: true, Links: []URL{url("c.example", "", 0.5), url("d.example", "", 0.5), url("e.example", "", 0.5)}})
		tunnels(false, true) // what waits of a.example is beyond its pages
		visit("b.example/", Visit{About: true, Links: []URL{url("b.example", "1", 0.5)}})
		tunnels(true, true)
		visit("c.example/", Visit{})
		visit("d.example/", Visit{About: true, Links: []URL{url("f.example", "", 1)}})
		tunnels(false, false)
		visit("f.example/", Visit{About: true})
		tunnels(false, true) // again, and from no site on
		visit("e.example/", Visit{About: true})
		tunnels(true, true)
	})
}

// TestTunnelHeedsWhatIsNotDue: a link of high priority that is asked for again later waits,
// too.
func TestTunnelHeedsWhatIsNotDue(t *testing.T) {
	t.Parallel()
	q := open(t, Rules{Size: 100, Tunnel: Tunnel{High: 1, Sites: 2}}, []URL{url("a.example", "", 1), url("a.example", "low", 0.5)})
	u := take(t, q)
	require.NoError(t, q.Write(t.Context(), &Visit{URL: u, At: time.Now(), Again: time.Now().Add(time.Hour)}))
	u = take(t, q)
	require.Equal(t, "http://a.example/low", u.URL)
	require.False(t, devtest.Must(q.Tunnel(t.Context()))(t))
}
