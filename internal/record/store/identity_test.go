package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// TestAPaperOfASiteKeepsItsIdentity when a better file of it is found, and when it is
// found to be a paper that somebody wants: who harvested it would have it twice.
func TestAPaperOfASiteKeepsItsIdentity(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := open(t)
	const goal = "site:http://a.example/"
	exec := func(sql string, args ...any) { storetest.Exec(t, db.Pool, sql, args...) }
	exec(`INSERT INTO sites (id, host) OVERRIDING SYSTEM VALUE VALUES (1, 'a.example')`)
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: goal, Venue: goal, Options: []byte("{}"), Stage: "complete"}))
	exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ($1, 1, 'homepage')`, goal)
	file := func(sha, kind, name, day string) {
		exec(`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, outcome, updated_at) VALUES ($1, $1, $1, 1, $2, 'accepted', 'ok', $3::timestamptz)`, sha, kind, day)
		exec(`INSERT INTO locations (hash, sha256, site_id, url, found_at) VALUES ($1::text::bytea, $1, 1, 'http://a.example/' || $2, $3::timestamptz)`, sha, name, day)
	}
	only := func() store.Exported {
		all, err := db.ExportAcademic(ctx, goal)
		require.NoError(t, err)
		require.Len(t, all, 1)
		return all[0]
	}
	file("b", "postscript", "p.ps", "2026-03-02Z")
	require.Equal(t, "b", only().Identity)
	file("a", "pdf", "p.pdf", "2026-02-02Z") // as a worker dates it whose clock is late
	got := only()
	require.Equal(t, "a", got.SHA256)
	require.Equal(t, "b", got.Identity)
	require.Equal(t, time.March, got.ChangedAt.UTC().Month())
	require.NoError(t, db.SavePapers(ctx, []gleaner.Paper{{Key: "conf/x/1", Venue: "conf/x", Year: 2001, Title: "Sorting"}}, nil))
	exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/x/1', 'a', 'exact', 1)`)
	got = only()
	require.Equal(t, []string{"conf/x/1", "b"}, []string{got.Paper, got.Identity})

	of, err := db.Export(ctx, "conf/x", gleaner.Years{})
	require.NoError(t, err)
	require.Equal(t, "conf/x/1", of[0].Identity)
}

// TestFilesOfASiteAreItsOwn counts and exports what lies in the directory of a site, and
// nothing that others found on its host, unless the whole host was asked for.
func TestFilesOfASiteAreItsOwn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := open(t)
	const goal = "site:http://a.example/ada/"
	exec := func(sql string, args ...any) { storetest.Exec(t, db.Pool, sql, args...) }
	exec(`INSERT INTO sites (id, host) OVERRIDING SYSTEM VALUE VALUES (1, 'a.example'), (2, 'files.example')`)
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: goal, Venue: goal, Options: []byte(`{"scope":"prefix"}`), Stage: "complete"}))
	exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ($1, 1, 'homepage'), ($1, 2, 'link')`, goal)
	for i, f := range []struct{ url, parent, state string }{
		{"http://a.example/ada/1.pdf", "", "accepted"},
		{"http://a.example/pdf/2.pdf", "http://a.example/ada/", "rejected"},
		{"http://files.example/3.pdf", "", "new"},
		{"http://a.example/bob/4.pdf", "http://a.example/bob/", "accepted"},
	} {
		sha := fmt.Sprint(i)
		exec(`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, outcome) VALUES ($1, $1, $1, 1, 'pdf', $2, 'ok')`, sha, f.state)
		exec(`INSERT INTO locations (hash, sha256, site_id, url, parent) VALUES ($1::text::bytea, $1, CASE WHEN $2::text LIKE '%files%' THEN 2 ELSE 1 END, $2, $3)`, sha, f.url, f.parent)
	}
	counts := func() [4]int {
		t.Helper()
		c, err := db.HarvestCounts(ctx, goal)
		require.NoError(t, err)
		papers, err := db.AcademicPapers(ctx, goal)
		require.NoError(t, err)
		return [4]int{c.Documents, c.Accepted, c.Unexamined, papers}
	}
	require.Equal(t, [4]int{3, 1, 1, 1}, counts())
	exec(`UPDATE harvests SET options='{"scope":"host"}'`)
	require.Equal(t, [4]int{4, 2, 1, 2}, counts())

	hash := []byte("of the address")
	answer := func() string {
		t.Helper()
		said, err := db.AnswerOf(ctx, "a.example", hash)
		require.NoError(t, err)
		return said
	}
	require.Empty(t, answer(), "not asked yet")
	exec(`INSERT INTO urls (site_id, hash, url, state, outcome, status) VALUES (1, $1, 'http://a.example/ada/', 4, 'not-found', 404)`, hash)
	require.Equal(t, "404, not-found", answer())
	exec(`UPDATE urls SET status=0, outcome='address-denied'`)
	require.Equal(t, "address-denied", answer())
	exec(`UPDATE urls SET state=1, status=200, outcome='ok'`)
	require.Empty(t, answer(), "a page")
}
