package store

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
)

// TestPagesOfLongListsAreReadAlone: a page of a hundred thousand papers, or of
// many sites, documents or lines, is found by an index, and what comes after it is not read.
func TestPagesOfLongListsAreReadAlone(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), devtest.Postgres(t), 2)
	require.NoError(t, err)
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
		`INSERT INTO url_counts SELECT id, 1, 5 FROM sites`,
		`INSERT INTO locations (hash, sha256, site_id, url) SELECT sha256(sha256::bytea), sha256, 1, 'http://h1.example/' || sha256 FROM documents`,
		`INSERT INTO whitelist (url, domain, position, documents) SELECT 'http://h' || n || '.example/', 'h' || n || '.example', n, 1 FROM generate_series(1, 20000) n`,
		`INSERT INTO blacklist (host) SELECT 'h' || n || '.example' FROM generate_series(1, 20000) n`,
		`INSERT INTO missing_papers (harvest_id, paper_key, reason, evidence) SELECT 'conf/x', 'conf/x/' || n, CASE WHEN n % 1000 = 0 THEN 'ambiguous' ELSE 'nothing linked' END, '[]' FROM generate_series(2, 100000, 2) n`,
		`ANALYZE`,
	} {
		_, err := db.Pool.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	waits := ReviewQuery{After: &Review{Score: .7, Paper: "conf/x/5", SHA256: "d5"}, Limit: 51}
	settled := ReviewQuery{Settled: true, After: waits.After, Limit: 51}
	documents := DocumentQuery{After: 10000, Limit: 51}
	accepted := DocumentQuery{States: []string{"accepted"}, After: 10000, Limit: 51}
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
		"documents":          {documents.sql(), documents.args(), []string{"documents_id", "locations_sha256", "matches_sha256"}},
		"accepted documents": {accepted.sql(), accepted.args(), []string{"documents_id"}},
		"review":             {waits.sql(), waits.args(), []string{"matches_waiting", "papers_pkey", "documents_pkey", "locations_sha256"}},
		"settled":            {settled.sql(), settled.args(), []string{"matches_settled_ones", "papers_pkey", "documents_pkey"}},
		"blacklist":          {blacklistSQL, []any{"h5", 51}, []string{"blacklist_pkey"}},
		"whitelist":          {whitelistSQL, []any{10000, "http://h10000.example/", 51}, []string{"whitelist_position"}},
	} {
		rows, err := db.Pool.Query(t.Context(), "EXPLAIN "+q.sql, append([]any{pgx.QueryExecModeExec}, q.args...)...)
		require.NoError(t, err, name)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err, name)
		plan := strings.Join(lines, "\n")
		require.NotContains(t, plan, "Seq Scan", "%s: %s", name, plan)
		for _, index := range q.uses {
			require.Contains(t, plan, index, "%s: %s", name, plan)
		}
	}
}
