package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
)

// TestPagesOfLongListsAreReadAlone: a page of a hundred thousand papers, or of
// many sites, documents or lines, is found by an index, and what comes after it is not read.
func TestPagesOfLongListsAreReadAlone(t *testing.T) {
	t.Parallel()
	db := devtest.Must(Open(t.Context(), devtest.Postgres(t), 2))(t)
	defer db.Close()
	for _, sql := range []string{
		`INSERT INTO harvests (id, venue, year_from, year_to) VALUES ('conf/x', 'conf/x', 2000, 2009), ('conf/y', 'conf/y', 2000, 2009)`,
		`INSERT INTO papers (key, venue, year, title) SELECT 'conf/x/' || n, 'conf/x', 2000 + n % 10, 'Title ' || n FROM generate_series(1, 100000) n`,
		`INSERT INTO harvest_papers (harvest_id, paper_key, held) SELECT 'conf/x', key, false FROM papers`,
		`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) SELECT 'd' || n, '', '', 1, 'pdf', 'accepted' FROM generate_series(1, 20000) n`,
		`INSERT INTO matches (paper_key, sha256, verdict, score) SELECT 'conf/x/' || n, 'd' || n, 'exact', 1 FROM generate_series(1, 20000, 2) n`,
		`INSERT INTO matches (paper_key, sha256, verdict, score) SELECT 'conf/x/' || n, 'd' || n, 'ambiguous', n % 100 / 100.0 FROM generate_series(2, 20000, 2) n`,
		`UPDATE matches SET settled='no' WHERE sha256 LIKE 'd19%'`,
		`INSERT INTO sites (host) SELECT 'h' || n || '.example' FROM generate_series(1, 20000) n`,
		`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT 'conf/x', id, '' FROM sites WHERE id % 2 = 0`,
		`INSERT INTO url_counts SELECT id, 1, 1, 5 FROM sites`,
		`INSERT INTO crawls (site_id, crawl, started_at, finished_at, requests, fetched)
			SELECT id, 1, now(), now(), 1, 1 FROM sites`,
		`INSERT INTO locations (hash, sha256, site_id, url) SELECT sha256(sha256::bytea), sha256, 1, 'http://h1.example/' || sha256 FROM documents`,
		`INSERT INTO whitelist (url, domain, position, documents) SELECT 'http://h' || n || '.example/', 'h' || n || '.example', n, 1 FROM generate_series(1, 20000) n`,
		`INSERT INTO blacklist (host) SELECT 'h' || n || '.example' FROM generate_series(1, 20000) n`,
		`INSERT INTO missing_papers (harvest_id, paper_key, reason, evidence) SELECT 'conf/x', 'conf/x/' || n, CASE WHEN n % 1000 = 0 THEN 'ambiguous' ELSE 'nothing linked' END, '[]' FROM generate_series(2, 100000, 2) n`,
		`UPDATE documents SET class='paper', first_pages='It begins ' || repeat(md5(sha256), 40)`,
		`UPDATE documents SET class='thesis', state='rejected' WHERE id % 1000 = 7`,
		`INSERT INTO papers (key, venue, year, title) SELECT 'conf/z/' || n, 'conf/z', 2000, '' FROM generate_series(1, 40) n`,
		`INSERT INTO matches (paper_key, sha256, verdict, score) SELECT 'conf/z/' || n, 'd' || 19000 + n, 'exact', 1 FROM generate_series(1, 40) n`,
		`UPDATE locations SET site_id=2 WHERE sha256 LIKE 'd1999%'`,
		`INSERT INTO harvests (id, venue, year_from, year_to, started_at) SELECT 'h' || n, 'h', 2000, 2009, now() - n * interval '1 minute' FROM generate_series(1, 20000) n`,
		`INSERT INTO jobs (kind, options) SELECT 'retrieve', '{}' FROM generate_series(1, 100000) n`,
		`INSERT INTO parents (page, url, host, first_crawl, last_crawl) SELECT sha256(n::text::bytea), 'http://h' || n % 20000 + 1 || '.example/' || n, 'h' || n % 20000 + 1 || '.example', current_date, current_date FROM generate_series(1, 100000) n`,
		`INSERT INTO links (site_id, page, target, first_seen, last_seen) SELECT n % 20000 + 1, sha256(n::text::bytea), sha256(('d' || n % 20000 + 1)::bytea), current_date, current_date FROM generate_series(1, 100000) n`,
		`INSERT INTO urls (site_id, hash, url, state) SELECT n % 20000 + 1, sha256(n::text::bytea), 'http://h' || n % 20000 + 1 || '.example/' || n, 1 FROM generate_series(1, 50000) n`,
		`UPDATE locations l SET asked=l.hash, parent=CASE WHEN d.id % 2 = 0 THEN 'http://h' || d.id % 20000 + 1 || '.example/' || d.id ELSE '' END FROM documents d WHERE d.sha256=l.sha256`,
		`INSERT INTO import_records (job, n, outcome, url, difference) SELECT 1, n, 'saved-new', '', CASE WHEN n % 1000 = 0 THEN 'gone' ELSE '' END FROM generate_series(1, 100000) n`,
		`ANALYZE`,
	} {
		_, err := db.Pool.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	waits := ReviewQuery{After: &Review{Score: .7, Paper: "conf/x/5", SHA256: "d5"}, Limit: 51}
	settled := ReviewQuery{Settled: true, After: waits.After, Limit: 51}
	sites, sitesOf, site := SiteQuery{After: "h5", Limit: 51}, SiteQuery{Harvest: "conf/x", After: "h5", Limit: 51}, SiteQuery{Host: "h7.example", Limit: 1}
	for name, q := range map[string]struct {
		sql  string
		args []any
		uses []string
	}{
		"papers":             {harvestPapersSQL, PaperQuery{Harvest: "conf/x", After: "conf/x/5", Limit: 51}.args(), []string{"harvest_papers_p", "papers_pkey", "matches_pkey"}},
		"missing papers":     {harvestPapersSQL, PaperQuery{Harvest: "conf/x", State: PaperMissing, After: "conf/x/5", Limit: 51}.args(), []string{"harvest_papers_p", "papers_pkey", "matches_pkey", "missing_papers_pkey"}},
		"missing for one":    {missingForSQL, []any{"conf/x", "conf/x/5", "ambiguous", nil, 51}, []string{"missing_papers_reason", "harvest_papers_p", "papers_pkey", "matches_pkey"}},
		"sites":              {sites.sql(), sites.args(), []string{"sites_host", "url_counts_site"}},
		"sites of a harvest": {sitesOf.sql(), sitesOf.args(), []string{"sites_host", "harvest_sites", "url_counts_site"}},
		"a site":             {site.sql(), site.args(), []string{"sites_host", "url_counts_site"}},
		"review":             {waits.sql(), waits.args(), []string{"matches_waiting", "papers_pkey", "documents_pkey", "locations_sha256"}},
		"settled":            {settled.sql(), settled.args(), []string{"matches_settled_ones", "papers_pkey", "documents_pkey"}},
		"blacklist":          {blacklistSQL, []any{"h5", 51}, []string{"blacklist_pkey"}},
		"whitelist":          {whitelistSQL, []any{10000, "http://h10000.example/", 51}, []string{"whitelist_position"}},
		"harvests":           {harvestsSQL, []any{"h5000", 21}, []string{"harvests_started", "harvests_pkey"}},
		"parents":            {parentsOfSQL(behindSQL), []any{"h5.example", []byte{1}, 51}, []string{"parents_host", "links_pkey", "locations_asked", "locations_parent"}},
		"parents of a site":  {parentsOfSQL(onHostSQL), []any{"h5.example", []byte{}, 51}, []string{"parents_host", "links_pkey", "locations_asked", "locations_parent"}},
		"jobs":               {jobsBeforeSQL, []any{10000, 51}, []string{"jobs_pkey"}},
		"lines of a job":     {importRecordsSQL, []any{1, 50000, false, 51}, []string{"import_records_pkey"}},
		"differing lines":    {importRecordsSQL, []any{1, 50000, true, 51}, []string{"import_records_differ"}},
	} {
		readsAlone(t, db, name, 2000, q.sql, q.args, q.uses...)
	}
	for name, q := range map[string]struct {
		DocumentQuery
		uses []string
	}{
		"documents":          {DocumentQuery{After: 10000}, []string{"documents_id", "locations_sha256", "matches_sha256"}},
		"accepted documents": {DocumentQuery{States: []string{"accepted"}, After: 10000}, []string{"documents_"}},
		"rejected documents": {DocumentQuery{States: []string{"rejected"}}, []string{"documents_state"}},
		"failed documents":   {DocumentQuery{States: []string{"failed"}}, []string{"documents_state"}},
		"papers":             {DocumentQuery{Classes: []string{"paper"}}, []string{"documents_"}},
		"theses":             {DocumentQuery{Classes: []string{"thesis"}}, []string{"documents_class"}},
		"no slides":          {DocumentQuery{Classes: []string{"slides"}}, []string{"documents_class"}},
		"of a large site":    {DocumentQuery{Host: "h1.example", After: 10000}, []string{"locations_"}},
		"of a small site":    {DocumentQuery{Host: "h2.example"}, []string{"locations_site"}},
		"of no site":         {DocumentQuery{Host: "none.example"}, []string{"locations_site"}},
		"of a small venue":   {DocumentQuery{Venue: "conf/z"}, []string{"matches_"}},
		"of a large venue":   {DocumentQuery{Venue: "conf/x"}, []string{"matches_"}},
	} {
		q.Limit = 51
		require.NoError(t, db.placed(t.Context(), &q.DocumentQuery))
		sql, args := q.sql()
		readsAlone(t, db, name, 2000, sql, args, q.uses...)
	}
	words := DocumentQuery{Text: "no such words", Limit: 51}
	last, n, err := db.DocumentsThrough(t.Context(), words, 500)
	require.NoError(t, err)
	require.Equal(t, 500, n)
	sql, args := words.throughSQL(500)
	readsAlone(t, db, "through 500 texts", 2000, sql, args, "documents_id")
	words.Until = last
	sql, args = words.sql()
	readsAlone(t, db, "words in 500 texts", 2000, sql, args, "documents_id")
}

// TestNewDocumentsOfASiteAreReadAlone, and neither those of other sites, of which there are many,
// nor those of the site that were examined long ago.
func TestNewDocumentsOfASiteAreReadAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows []string
		most map[int]float64 // rows that are read, by site
		uses []string
	}{
		"many sites": {[]string{
			`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) SELECT 'd'||i, '', '', 1, 'pdf', 'new' FROM generate_series(1, 200000) i`,
			`INSERT INTO locations (hash, sha256, site_id, url, parent, asked) SELECT int4send(i), 'd'||i, 2 + i % 400, 'http://x/'||i, '', int4send(i) FROM generate_series(1, 200000) i`,
			`UPDATE locations SET site_id=1 WHERE sha256 IN ('d1000', 'd19000')`,
		}, map[int]float64{1: 50, 500: 50, 2: 2500}, []string{"locations_site"}},
		"an old site": {[]string{
			`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) SELECT 'd'||i, '', '', 1, 'pdf', CASE WHEN i % 200 = 0 THEN 'new' ELSE 'accepted' END FROM generate_series(1, 20000) i`,
			`INSERT INTO locations (hash, sha256, site_id, url, parent, asked) SELECT int4send(i), 'd'||i, 1, 'http://x/'||i, '', int4send(i) FROM generate_series(1, 20000) i`,
		}, map[int]float64{1: 1000}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := devtest.Must(Open(t.Context(), devtest.Postgres(t), 2))(t)
			t.Cleanup(db.Close)
			sites := `INSERT INTO sites (host) SELECT 'h'||i||'.example' FROM generate_series(1, 500) i`
			for _, sql := range append([]string{sites}, append(c.rows, `ANALYZE`)...) {
				_, err := db.Pool.Exec(t.Context(), sql)
				require.NoError(t, err, sql)
			}
			for site, most := range c.most {
				u := Unexamined{Site: site}
				readsAlone(t, db, fmt.Sprint("site ", site), most, u.takeSQL(``), []any{site, "", 4, time.Minute, int64(7)}, c.uses...)
				readsAlone(t, db, fmt.Sprint("waiting of ", site), most, `SELECT count(*) FROM documents d WHERE `+u.sql(), []any{site, ""}, c.uses...)
			}
		})
	}
}

// TestDocumentsOfAHostAreCountedOnce, and not for each author who has a homepage there.
func TestDocumentsOfAHostAreCountedOnce(t *testing.T) {
	t.Parallel()
	db := devtest.Must(Open(t.Context(), devtest.Postgres(t), 2))(t)
	t.Cleanup(db.Close)
	for _, sql := range []string{
		`INSERT INTO sites (host) VALUES ('a.example')`,
		`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) SELECT 'd'||i, '', '', 1, 'pdf', 'accepted' FROM generate_series(1, 2000) i`,
		`INSERT INTO locations (hash, sha256, site_id, url) SELECT int4send(i), 'd'||i, 1, 'http://a.example/'||i FROM generate_series(1, 2000) i`,
		`INSERT INTO harvests (id, venue, year_from, year_to) VALUES ('conf/x', 'conf/x', 2000, 2009)`,
		`INSERT INTO papers (key, venue, year, title) SELECT 'p'||i, 'conf/x', 2000, 'Title '||i FROM generate_series(1, 300) i`,
		`INSERT INTO harvest_papers (harvest_id, paper_key) SELECT 'conf/x', key FROM papers`,
		`INSERT INTO authors (id, name) SELECT 'a'||i, 'Author '||i FROM generate_series(1, 300) i`,
		`INSERT INTO paper_authors (paper_key, author_id, position) SELECT 'p'||i, 'a'||i, 1 FROM generate_series(1, 300) i`,
		`INSERT INTO homepages (author_id, url, host, rank, source) SELECT id, 'http://a.example/~'||id, 'a.example', 0, '' FROM authors`,
		`ANALYZE`,
	} {
		_, err := db.Pool.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	plan, _, said := planOf(t, db, authorCluesSQL, []any{"conf/x", ""})
	require.Less(t, plan.looked(), 20000., said)
	of := devtest.Must(db.AuthorClues(t.Context(), "conf/x", false))(t)
	require.Len(t, of, 300)
	require.Equal(t, 2000, of["a7"].Sites[0].Documents)
}

// readsAlone has a statement done, and holds it to the indexes that it is to use and to
// how many rows it may look at.
func readsAlone(t *testing.T, db *DB, name string, most float64, sql string, args []any, uses ...string) {
	plan, raw, said := planOf(t, db, sql, args)
	assert.NotContains(t, raw, "Seq Scan", name, said)
	for _, index := range uses {
		assert.True(t, strings.Contains(raw, index), "no %s in %s: %s", index, name, said)
	}
	assert.Less(t, plan.looked(), most, "rows that are looked at: %s: %s", name, said)
	assert.Less(t, plan.Hit+plan.Read, 3*most, "blocks that are read: %s: %s", name, said)
}

// planOf has a statement done, and returns how: as it is, in JSON and for people.
func planOf(t *testing.T, db *DB, sql string, args []any) (plan planNode, raw, said string) {
	require.NoError(t, db.Pool.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+sql, append([]any{pgx.QueryExecModeExec}, args...)...).Scan(&raw), sql)
	var plans []struct{ Plan planNode }
	require.NoError(t, json.Unmarshal([]byte(raw), &plans))
	lines, err := Column[string](t.Context(), db, "EXPLAIN "+sql, append([]any{pgx.QueryExecModeExec}, args...)...)
	require.NoError(t, err)
	return plans[0].Plan, raw, strings.Join(lines, "\n")
}

// planNode is a step of a plan that was carried out.
type planNode struct {
	Rows      float64    `json:"Actual Rows"`
	Filtered  float64    `json:"Rows Removed by Filter"`
	Rechecked float64    `json:"Rows Removed by Index Recheck"`
	Loops     float64    `json:"Actual Loops"`
	Hit       float64    `json:"Shared Hit Blocks"`
	Read      float64    `json:"Shared Read Blocks"`
	Plans     []planNode `json:"Plans"`
}

// looked is how many rows were read from tables and indexes.
func (n planNode) looked() float64 {
	if len(n.Plans) == 0 {
		return (n.Rows + n.Filtered + n.Rechecked) * n.Loops
	}
	sum := n.Filtered * n.Loops
	for _, below := range n.Plans {
		sum += below.looked()
	}
	return sum
}

// TestCellsOfImportsAreNoFormulas where a spreadsheet opens the record of an import.
func TestCellsOfImportsAreNoFormulas(t *testing.T) {
	t.Parallel()
	for _, sign := range []string{"=", "+", "-", "@", "\t", "\r"} {
		row := ImportRecord{URL: sign + "1", Detail: sign + "cmd", Source: sign + "x"}.row()
		for _, cell := range []string{row[1], row[4], row[8]} {
			require.Equal(t, "'"+sign, cell[:2])
		}
	}
}

// TestRowsOfImports have all that is kept of a resource, under the heads of its columns.
func TestRowsOfImports(t *testing.T) {
	t.Parallel()
	depth, at := 2, time.Date(2005, 1, 2, 3, 4, 5, 0, time.UTC)
	row := ImportRecord{N: 1, Parent: "http://a.example/", Depth: &depth, Seed: true, Crawled: &at}.row()
	require.Len(t, row, len(RecordHeads()))
	require.Equal(t, []string{"http://a.example/", "2", "yes", "2005-01-02T03:04:05Z"}, row[10:])
	require.Equal(t, []string{"", "", "", ""}, ImportRecord{}.row()[10:])
}
