package console

import (
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// largeHarvest is one venue with a hundred thousand papers, with -short a tenth of
// everything: a fifth held, a fifth found, and of the others some with a match to settle,
// a link that failed, homepages that were crawled, or nothing at all.
const largeHarvest = "conf/large/2000-2009"

var ofTenThousands = regexp.MustCompile(`0000\b`)

func (d *desk) large() {
	d.t.Helper()
	for _, sql := range []string{
		`INSERT INTO harvests (id, venue, year_from, year_to, stage) VALUES ('` + largeHarvest + `', 'conf/large', 2000, 2009, 'crawl')`,
		`INSERT INTO authors (id, pid, name) SELECT 'pid:' || n, n::text, 'Author ' || n FROM generate_series(1, 60000) n`,
		`INSERT INTO papers (key, venue, year, title, authors) SELECT 'conf/large/P' || lpad(n::text, 6, '0'), 'conf/large', 2000 + n % 10,
			'The ' || md5(n::text) || ' method for ' || md5((n+7)::text),
			jsonb_build_array(jsonb_build_object('pid', (n % 60000 + 1)::text, 'name', 'Author ' || (n % 60000 + 1)), jsonb_build_object('pid', (n * 7 % 60000 + 1)::text, 'name', 'Author ' || (n * 7 % 60000 + 1)))
			FROM generate_series(1, 100000) n`,
		`INSERT INTO harvest_papers (harvest_id, paper_key, held, held_why) SELECT '` + largeHarvest + `', key, right(key, 1) IN ('0', '5'), CASE WHEN right(key, 1) IN ('0', '5') THEN 'same DOI' ELSE '' END FROM papers`,
		`INSERT INTO paper_authors (paper_key, author_id, position) SELECT p.key, 'pid:' || (a.v->>'pid'), min(a.n) FROM papers p CROSS JOIN jsonb_array_elements(p.authors) WITH ORDINALITY a(v, n) GROUP BY 1, 2`,
		`INSERT INTO sites (host, state) SELECT 'h' || n || '.example', 'done' FROM generate_series(1, 10000) n`,
		`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT '` + largeHarvest + `', id, 'homepage' FROM sites`,
		`INSERT INTO url_counts SELECT id, 1, 1, 20 FROM sites`,
		`INSERT INTO homepages (author_id, url, host, rank, source) SELECT 'pid:' || n, 'http://h' || (n % 10000 + 1) || '.example/~a' || n || '/', 'h' || (n % 10000 + 1) || '.example', 1, 'dblp' FROM generate_series(1, 40000) n`,
		`INSERT INTO homepage_decisions (author_id, decision, not_found) SELECT id, '{}', CASE WHEN pid::int > 40000 THEN 'nothing was like them' ELSE '' END FROM authors`,
		`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, class, outcome) SELECT encode(sha256(n::text::bytea), 'hex'), '', '', 1, 'pdf', 'accepted', 'paper', 'ok' FROM generate_series(1, 60000) n`,
		`INSERT INTO locations (hash, sha256, site_id, url, parent) SELECT sha256(('http://h' || (n % 10000 + 1) || '.example/~a' || n || '/p.pdf')::bytea), encode(sha256(n::text::bytea), 'hex'), (SELECT min(id) FROM sites) + n % 10000,
			'http://h' || (n % 10000 + 1) || '.example/~a' || n || '/p.pdf', 'http://h' || (n % 10000 + 1) || '.example/~a' || n || '/' FROM generate_series(1, 60000) n`,
		`INSERT INTO matches (paper_key, sha256, verdict, score) SELECT 'conf/large/P' || lpad(n::text, 6, '0'), encode(sha256((n % 60000 + 1)::text::bytea), 'hex'), CASE WHEN n % 5 = 1 THEN 'exact' ELSE 'ambiguous' END, .9
			FROM generate_series(1, 100000) n WHERE n % 5 = 1 OR n % 50 = 2`,
		`INSERT INTO urls (site_id, hash, url, state, wanted, parent, source, anchor, outcome, tries) SELECT (SELECT min(id) FROM sites) + n % 10000, sha256(('x' || n)::bytea), 'http://h' || (n % 10000 + 1) || '.example/x' || n || '.pdf', 4, .9,
			'http://h' || (n % 10000 + 1) || '.example/', 'anchor', (SELECT title FROM papers WHERE key='conf/large/P' || lpad(n::text, 6, '0')), 'not-found', 1 FROM generate_series(3, 100000, 5) n`,
		`INSERT INTO urls (site_id, hash, url, state, wanted) SELECT (SELECT min(id) FROM sites) + n % 10000, sha256(('y' || n)::bytea), 'http://h' || (n % 10000 + 1) || '.example/y' || n, 1, 0 FROM generate_series(1, 200000) n`,
		`ANALYZE`,
	} {
		if testing.Short() {
			sql = ofTenThousands.ReplaceAllLiteralString(sql, "000")
		}
		d.exec(sql)
	}
}

// explained has the reasons worked out, as the end of a harvest has.
func (d *desk) explained(harvest string) {
	d.t.Helper()
	_, err := d.reports.whole(d.t.Context(), harvest)
	require.NoError(d.t, err)
}

// TestAHundredThousandPapers: every page of a venue of that size says why papers are
// missing, at once; how long each takes is printed.
func TestAHundredThousandPapers(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	d.large()
	began := time.Now()
	d.explained(largeHarvest)
	t.Logf("%8d ms to work out the report", time.Since(began).Milliseconds())
	of, id := "/papers?harvest="+url.QueryEscape(largeHarvest), url.PathEscape(largeHarvest)
	for _, path := range []string{"/", "/harvests/" + id, of, of + "&state=missing&after=conf/large/P005000", of + "&state=found", of + "&reason=ambiguous", of + "&year=2004",
		"/reports/" + id, "/sites?harvest=" + url.QueryEscape(largeHarvest), "/documents", "/documents?venue=conf/large", "/documents?site=h7.example", "/review", "/statistics"} {
		for range 2 {
			began := time.Now()
			body := d.page(path)
			t.Logf("%8d ms %8d bytes %s", time.Since(began).Milliseconds(), len(body), path)
		}
	}
	seen := 0
	for path := of + "&reason=ambiguous"; path != ""; {
		p := answer[papersPage](d, path)
		for _, row := range p.Papers {
			require.Equal(t, "ambiguous", row.Reason)
			require.NotEmpty(t, row.Evidence)
		}
		seen += len(p.Papers)
		path = follow(of+"&reason=ambiguous", p.Next)
	}
	want := 2000
	if testing.Short() {
		want /= 10
	}
	require.Equal(t, want, seen)
}
