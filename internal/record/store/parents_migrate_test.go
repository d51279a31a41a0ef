package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParentsOfAnEarlierVersion: pages that linked to files, of a crawl or an import, and
// those by which documents were found become the table of parents.
func TestParentsOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, pool, p := migrating(t)
	_, err := p.UpTo(ctx, 33)
	require.NoError(t, err)
	_, err = pool.Exec(ctx, `
INSERT INTO sites (host) VALUES ('a.example');
INSERT INTO urls (site_id, hash, url, state, fetched_at) VALUES (1, '\x01', 'http://a.example/', 1, '2026-03-04 12:00'), (1, '\x02', 'http://a.example/gone', 4, '2026-03-04 12:00'), (1, '\x03', 'http://a.example/named', 0, NULL);
INSERT INTO imported_pages (site_id, hash, url) VALUES (1, '\x04', 'http://a.example/imported');
INSERT INTO links (site_id, page, target, first_seen, last_seen) VALUES (1, '\x01', '\x09', '2026-01-02', '2026-02-03'), (1, '\x01', '\x0a', '2025-01-02', '2025-02-03'), (1, '\x02', '\x09', '2026-01-02', '2026-02-03'),
	(1, '\x04', '\x09', '2005-06-30', '2005-06-30'), (1, '\x05', '\x09', '2026-01-02', '2026-02-03');
INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) VALUES ('aa', '', '', 1, 'pdf', 'accepted');
INSERT INTO locations (hash, sha256, site_id, url, parent) VALUES ('\x09', 'aa', 1, 'http://a.example/a.pdf', 'http://a.example/named');`)
	require.NoError(t, err)
	_, err = p.UpTo(ctx, 34)
	require.NoError(t, err)
	db := &DB{Pool: pool}
	got, err := list1[string](ctx, db, `SELECT url || ' ' || coalesce(first_crawl || ' ' || last_crawl, 'never') FROM parents ORDER BY url`)
	require.NoError(t, err)
	require.Equal(t, []string{"http://a.example/ 2025-01-02 2026-03-04", "http://a.example/gone 2026-01-02 2026-02-03", "http://a.example/imported 2005-06-30 2005-06-30", "http://a.example/named never"}, got)
	_, err = p.DownTo(ctx, 33)
	require.NoError(t, err)
	back, err := list1[string](ctx, db, `SELECT url FROM imported_pages ORDER BY url`)
	require.NoError(t, err)
	require.Len(t, back, 4)
}
