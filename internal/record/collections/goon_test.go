package collections_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	. "gleaner/internal/record/collections"
)

// TestGoOn puts out what the rules do not allow any more, the best of a site and the first
// of texts nearly the same staying, and has that wait for which there is a place then.
func TestGoOn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var seeds []URL
	for _, at := range []string{"a", "a2", "b", "c", "d"} {
		seeds = append(seeds, url(at[:1]+".example", at[1:], 1))
	}
	q := open(t, Rules{Size: 4}, seeds)
	for i, correlation := range []float64{0.4, 0.6, 0.5, 0.7, 0.5} {
		v := &Visit{URL: &seeds[i], At: time.Now(), Kind: Page, Best: Member{"math", correlation}, Print: int64(0xFF) << (8 * i), Entries: []Member{{"math", correlation}}}
		switch i {
		case 3: // nearly the text of b.example
			v.Print = 0xFF<<16 | 1
		case 4:
			v.Outcome, v.Entries = NoPlace, nil
		}
		require.NoError(t, q.Write(ctx, v))
	}
	in := func() (urls []string) {
		entries := devtest.Must(q.Entries(ctx, q.ID, ""))(t)
		for _, e := range entries {
			urls = append(urls, e.URL)
		}
		return urls
	}
	require.Equal(t, []string{seeds[3].URL, seeds[1].URL, seeds[2].URL, seeds[0].URL}, in())
	require.NoError(t, q.Continue(ctx, q.ID, Rules{Size: 4}))
	none(t, q, "it is full")
	for range 2 {
		require.NoError(t, q.Continue(ctx, q.ID, Rules{Size: 4, OnePerSite: true, Distinct: true}))
	}
	require.Equal(t, []string{seeds[1].URL, seeds[2].URL}, in())
	u := take(t, q)
	require.Equal(t, seeds[4].URL, u.URL)
	read := devtest.Must(q.PagesRead(ctx, q.ID))(t)
	require.Equal(t, 5, read, "what is asked for again was read")

	// Of two slices that read nearly the same text at a time the second enters nothing.
	q.Rules.Distinct = true
	require.NoError(t, q.Write(ctx, &Visit{URL: u, At: time.Now(), Print: 0xFF<<16 | 2, Entries: []Member{{"math", 0.9}}, Links: []URL{url("e.example", "", 1)}}))
	require.Equal(t, []string{seeds[1].URL, seeds[2].URL}, in())
	none(t, q)
}
