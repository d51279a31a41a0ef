package fetch

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// begun sends so many bytes of a document at once, and all that there is of it.
func begun(w http.ResponseWriter, n int) {
	w.Header().Set("Content-Type", "application/pdf")
	_, _ = w.Write(make([]byte, n))
	_ = http.NewResponseController(w).Flush()
}

// TestTarpitsHoldAShareOfTheMemory: documents of unknown length that never end, at hosts of one
// owner, leave room for those of others, and one after the other what waited for them is read.
func TestTarpitsHoldAShareOfTheMemory(t *testing.T) {
	t.Parallel()
	const limit = 32 << 20
	held, over := make(chan bool, 9), make(chan bool)
	tarpit := func(w http.ResponseWriter, r *http.Request) {
		begun(w, 3<<20)
		if r.URL.Path == "/tarpit" {
			held <- true
			<-over
		}
	}
	memory := NewMemory(2 * limit * inUse)
	c := testClient(t, func(cfg *Config) {
		cfg.Memory, cfg.Limits.DocumentBytes, cfg.Limits.Idle = memory, limit, 20*time.Second
	})
	ended := make(chan error, 9)
	fetch := func(url string) {
		r, err := c.Fetch(context.Background(), Request{URL: url})
		r.Release()
		ended <- err
	}
	const tarpits = 4
	for range tarpits {
		go fetch(site(t, tarpit).URL + "/tarpit")
	}
	for range tarpits {
		<-held
	}
	time.Sleep(200 * time.Millisecond) // for what waits to wait
	go fetch(strings.Replace(site(t, tarpit).URL, "127.0.0.1", "localhost", 1) + "/paper")
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Error("nothing is left for others")
	}
	close(over)
	for range tarpits {
		require.NoError(t, <-ended)
	}
	requireFree(t, memory)
}

// TestKeptAnswersOfAnOwnerLeaveRoom for those of others, unless it is one, or nobody else
// has any.
func TestKeptAnswersOfAnOwnerLeaveRoom(t *testing.T) {
	t.Parallel()
	m := NewMemory(12 * 16)
	keeps := func(owner string) (n int64) {
		for m.Keep(owner, 1) {
			n++
		}
		return n
	}
	require.EqualValues(t, 8, keeps("ada.example"), "alone")
	require.EqualValues(t, 16/ownersShare, keeps("bob.example"))
	require.False(t, m.Keep("eve.example", 5), "there is no room at all")
	m.Forget("ada.example", 8)
	require.True(t, m.Keep("eve.example", 10))
	require.Zero(t, keeps("eve.example")+keeps("bob.example"))
	m.Forget("bob.example", 4)
	m.Forget("eve.example", 10)
	require.Zero(t, m.kept.all)
	require.Empty(t, m.kept.owners)
}

// requireFree sees that nothing is held.
func requireFree(t *testing.T, m *Memory) {
	for _, p := range []*pool{m.bodies, m.large, m.windows} {
		require.True(t, p.all.TryAcquire(p.size), "all is given back")
		p.all.Release(p.size)
		require.Empty(t, p.owners)
	}
}

// TestBodiesGrowWithinTheMemory: a few at once, each larger than what is first held for one of
// unknown length, come to their ends beside those whose length is known.
func TestBodiesGrowWithinTheMemory(t *testing.T) {
	t.Parallel()
	const size = 20 << 20
	memory := NewMemory(size * inUse)
	c := testClient(t, func(cfg *Config) { cfg.Memory, cfg.Limits.DocumentBytes = memory, 2*size })
	ended := make(chan error, 9)
	for i := range 6 {
		url := site(t, func(w http.ResponseWriter, _ *http.Request) {
			if i%2 == 0 {
				w.Header().Set("Content-Length", strconv.Itoa(size))
			}
			begun(w, size)
		}).URL
		go func() {
			r, err := c.Fetch(context.Background(), Request{URL: url + "/"})
			if err == nil && len(r.Body) != size {
				err = http.ErrContentLength
			}
			r.Release()
			ended <- err
		}()
	}
	for range 6 {
		require.NoError(t, <-ended)
	}
	requireFree(t, memory)
}

// TestABodyThatDripsIsEnded, however fast it began.
func TestABodyThatDripsIsEnded(t *testing.T) {
	t.Parallel()
	for bytes, memory := range map[int]int64{2: 64 << 20, 100: 6 << 20} { // a large body has to come faster
		s := site(t, func(w http.ResponseWriter, r *http.Request) {
			begun(w, 2<<20)
			trickle(w, r, bytes)
		})
		c := testClient(t, func(cfg *Config) { cfg.Memory, cfg.Limits.Total = NewMemory(memory), 30*time.Second })
		from := time.Now()
		require.Equal(t, SlowBody, outcome(c, s.URL+"/"))
		require.Less(t, time.Since(from), 10*time.Second)
	}
}

// TestAWaitForMemoryIsNotTheHosts: neither its length nor a connection that broke over it.
func TestAWaitForMemoryIsNotTheHosts(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(3<<20))
		begun(w, 2<<20) // and closes
	})
	memory, g := NewMemory(16<<20), &recordingGate{}
	others, err := memory.Hold(t.Context(), "", 16<<20)
	require.NoError(t, err)
	c := testClient(t, func(cfg *Config) { cfg.Memory, cfg.Gate = memory, g })
	time.AfterFunc(longWait+time.Second, others)
	require.Equal(t, Truncated, outcome(c, s.URL+"/"))
	visit := g.visits[len(g.visits)-1]
	require.False(t, visit.Failed)
	require.True(t, visit.Void)
	require.Less(t, visit.Elapsed, longWait)
	requireFree(t, memory)
}

// TestWhatIsUnpackedLeavesRoom: of what one owner's hosts have packed, as of what others have, one
// large file is unpacked at a time; another owner's is next, and small ones do not wait.
func TestWhatIsUnpackedLeavesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const archive, paper = 256 << 20, 30 << 20
		memory, had := NewMemory(512<<20), map[string]int{}
		first, err := memory.Hold(t.Context(), "a.example", archive)
		require.NoError(t, err)
		for _, owner := range []string{"a.example", "a.example", "a.example", "b.example", "c.example", "d.example"} {
			go func() {
				if _, err := memory.Hold(t.Context(), owner, archive); err == nil {
					had[owner]++
				}
			}()
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = memory.Hold(ctx, "e.example", paper)
		require.NoError(t, err)
		first()
		synctest.Wait()
		require.Equal(t, map[string]int{"b.example": 1}, had)
	})
}

// TestAllOfTheMemoryIsHeld by who asks for all of it: another waits.
func TestAllOfTheMemoryIsHeld(t *testing.T) {
	t.Parallel()
	memory := NewMemory(256 << 20)
	release, err := memory.Hold(t.Context(), "", 256<<20)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = memory.Hold(ctx, "", 1<<20)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	release()
	_, err = memory.Hold(t.Context(), "", 1<<20)
	require.NoError(t, err)
}
