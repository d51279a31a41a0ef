package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// TestOnlyTheHolderSaysWhatIsCurrent: a worker that stood still between the answer
// and the record, while another took its site over and fetched a newer version, does
// not put the older one in its place.
func TestOnlyTheHolderSaysWhatIsCurrent(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 4)
	site, err := store.EnsureSite(t.Context(), db.Pool, "a.example")
	require.NoError(t, err)
	none := func() error { return nil }
	save := func(sha string, token int64) error {
		return db.SaveFetched(t.Context(), store.Document{SHA256: sha, Kind: "pdf"},
			store.Location{Hash: []byte{1}, SiteID: site, URL: "http://a.example/1.pdf", Found: time.Now(), Token: token}, none)
	}
	hold := func(token int64) {
		storetest.Exec(t, db.Pool, `UPDATE sites SET token=$2 WHERE id=$1`, site, token)
	}
	hold(7)
	require.NoError(t, save("first", 7))
	hold(8) // another takes over
	require.NoError(t, save("second", 8))
	require.ErrorIs(t, save("old", 7), store.ErrNotHeld)
	current := storetest.Get[string](t, db.Pool, `SELECT string_agg(sha256, ' ') FROM locations WHERE current`)
	require.Equal(t, "second", current)
	_, _, err = db.Document(t.Context(), "old")
	require.ErrorIs(t, err, store.ErrNoDocument, "nothing of it is on record")
	require.NoError(t, save("by hand", 0), "what no crawl brings has no lease")
}

// TestManyLinksHoldNoOtherHost: while a slice enters the many links of a page that leads to
// another host, or a harvest takes links that were kept, that host's lease is renewed. What
// a slice enters is known to be new, and of kept links those before are on record already.
func TestManyLinksHoldNoOtherHost(t *testing.T) {
	t.Parallel()
	at := func(host string, n int) (e frontier.Entry) {
		e.Link.URL = fmt.Sprintf("http://%s/%d", host, n)
		return e
	}
	leads := map[string][]frontier.Entry{"b.example": {at("b.example", 0)}}
	slice := func(t *testing.T, db *store.DB, site int, links []frontier.Entry) {
		batch := &frontier.Batch{Visits: []frontier.Visit{{Entry: &links[0], State: frontier.Page}}, Links: links, Leads: leads}
		w, err := db.WriteSlice(t.Context(), store.Slice{SiteID: site, Crawl: 1}, store.SliceWrite{Batch: batch})
		assert.NoError(t, err)
		assert.Len(t, w.Added, 599, "all but the one that another added")
		assert.True(t, w.Added[links[1].Hash()].New)
	}
	kept := func(t *testing.T, db *store.DB, site int, links []frontier.Entry) {
		n, err := db.TakeKeptLinks(t.Context(), store.KeptLinks{Site: site, Links: links, Leads: leads})
		assert.NoError(t, err)
		assert.Equal(t, 600, n, "the lead, and all but the one that another added")
	}
	for name, c := range map[string]struct {
		write  func(*testing.T, *store.DB, int, []frontier.Entry)
		before int
	}{"a slice": {slice, 0}, "kept links": {kept, 500}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			db := storetest.Open(t, 4)
			site, err := store.EnsureSite(ctx, db.Pool, "a.example")
			require.NoError(t, err)
			lead, err := store.EnsureSite(ctx, db.Pool, "b.example")
			require.NoError(t, err)
			var links []frontier.Entry
			for n := range 600 {
				links = append(links, at("a.example", n))
			}
			other, err := db.Pool.Begin(ctx) // is adding a link of the page, too
			require.NoError(t, err)
			_, err = frontier.Add(ctx, other, site, links[599:])
			require.NoError(t, err)
			written := make(chan bool)
			go func() { defer close(written); c.write(t, db, site, links) }()
			blocked(t, db, 1)
			_, err = db.Pool.Exec(ctx, `SELECT FROM sites WHERE id=$1 FOR NO KEY UPDATE NOWAIT`, lead)
			require.NoError(t, err, "its row is held")
			require.Equal(t, c.before, storetest.Get[int](t, db.Pool, `SELECT count(*) FROM urls`))
			require.NoError(t, other.Commit(ctx))
			<-written
		})
	}
}

// TestPapersWithoutATitleAreToldByTheirIdentifiers, as in a list of DOIs.
func TestPapersWithoutATitleAreToldByTheirIdentifiers(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	papers := []gleaner.Paper{{DOI: "10.1145/1.2"}, {DOI: "10.1145/3.4"}, {ArXiv: "2001.00001"}, {DOI: "10.1145/1.2"}}
	done, err := db.SaveHoldings(t.Context(), papers, "list", false, nil)
	require.NoError(t, err)
	require.Equal(t, 3, done.New)
}
