package store

import (
	"fmt"
	"io/fs"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/store/migrations"
)

// atFirst is what a database of the first version holds.
const atFirst = `
INSERT INTO sites (host) VALUES ('a.example');
INSERT INTO urls (site_id, hash, url, state) SELECT 1, int4send(n), 'http://a.example/' || n, n % 7 FROM generate_series(1, 70) n;
INSERT INTO leads (from_site, hash, to_site, wanted) VALUES (1, '\x02', 1, 0.5);
INSERT INTO papers (key, venue, year, title) VALUES ('p', 'v', 2003, 'A Paper');
INSERT INTO harvests (id, venue, year_from, year_to) VALUES ('v/all', 'v', 0, 0);
INSERT INTO harvest_papers (harvest_id, paper_key) VALUES ('v/all', 'p');
INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ('v/all', 1, 'homepage');
INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) VALUES ('aa', '', '', 1, 'pdf', 'accepted');
INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, blob_removed_at) VALUES ('bb', '', '', 1, 'pdf', 'rejected', now());
INSERT INTO locations (hash, sha256, site_id, url) VALUES ('\x01', 'aa', 1, 'http://a.example/1');
INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('p', 'aa', 'exact', 1);`

// migrating is a database without a table, and what takes it from version to version.
func migrating(t *testing.T) (dsn string, pool *pgxpool.Pool, p *goose.Provider) {
	t.Helper()
	dsn = devtest.EmptyPostgres(t)
	pool, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	sqlDB := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { _ = sqlDB.Close() })
	p, err = goose.NewProvider(goose.DialectPostgres, sqlDB, migrations.Files, goose.WithTableName(migrations.VersionTable))
	require.NoError(t, err)
	return dsn, pool, p
}

// TestMigration: a database of each version there was, with rows in it, becomes one
// of this version, and nothing of it is lost; what goes up comes down.
func TestMigration(t *testing.T) {
	t.Parallel()
	newest, err := fs.Glob(migrations.Files, "*.sql")
	require.NoError(t, err)
	for version := 1; version <= len(newest); version++ {
		t.Run(fmt.Sprint("from ", version), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			dsn, pool, p := migrating(t)
			_, err := p.UpTo(ctx, 1)
			require.NoError(t, err)
			_, err = pool.Exec(ctx, atFirst)
			require.NoError(t, err)
			_, err = p.UpTo(ctx, int64(version))
			require.NoError(t, err)

			db, err := Open(ctx, dsn, 4)
			require.NoError(t, err)
			defer db.Close()
			c, err := db.HarvestCounts(ctx, "v/all")
			require.NoError(t, err)
			require.Equal(t, Counts{Published: 1, Wanted: 1, Found: 1, Sites: 1, Pages: 20, Waiting: 10, Failures: 20, Documents: 1, Accepted: 1, FoundNow: 1}, c)
			d, _, err := db.Document(ctx, "bb")
			require.NoError(t, err)
			require.NotNil(t, d.Removed)
			i, err := Inspect(ctx, dsn)
			require.NoError(t, err)
			require.Equal(t, i.Known, i.Applied)

			_, err = p.DownTo(ctx, 0)
			require.NoError(t, err)
			require.Equal(t, "extension plpgsql\n", describe(ctx, t, pool))
			_, err = p.Up(ctx)
			require.NoError(t, err)
		})
	}
}
