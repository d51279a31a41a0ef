package store

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/store/migrations"
)

var writeSchema = flag.Bool("write-schema", false, "write schema.txt anew from what the migrations make")

// TestSchema: schema.txt is what the migrations make, so that the whole of it can
// be read in one place and a change of it is seen. To write it anew:
// go test ./internal/record/store -run TestSchema -args -write-schema
func TestSchema(t *testing.T) {
	t.Parallel()
	db := devtest.Must(Open(t.Context(), devtest.EmptyPostgres(t), 2))(t)
	defer db.Close()
	made := describe(t.Context(), t, db.Pool)
	if *writeSchema {
		require.NoError(t, os.WriteFile("schema.txt", []byte(made), 0o644))
	}
	kept := devtest.Must(os.ReadFile("schema.txt"))(t)
	require.Equal(t, string(kept), made, "what the migrations make is not schema.txt; -args -write-schema writes it anew")
}

// TestReferencesHaveTheTypeOfWhatTheyReferTo: a row that can be numbered can be
// referred to, and a join on it needs no cast. A column whose name says that it
// numbers a site is held to it also where no constraint does.
func TestReferencesHaveTheTypeOfWhatTheyReferTo(t *testing.T) {
	t.Parallel()
	db := devtest.Must(Open(t.Context(), devtest.Postgres(t), 2))(t)
	defer db.Close()
	rows, err := db.Pool.Query(t.Context(), `
WITH pairs AS (
	SELECT k.conrelid AS at, k.confrelid AS toward, unnest(k.conkey) AS mine, unnest(k.confkey) AS theirs
	FROM pg_constraint k WHERE k.contype = 'f' AND k.connamespace = current_schema::regnamespace
	UNION
	SELECT a.attrelid, 'sites'::regclass, a.attnum, s.attnum
	FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' AND c.relnamespace = current_schema::regnamespace
		JOIN pg_attribute s ON s.attrelid = 'sites'::regclass AND s.attname = 'id'
	WHERE a.attname ~ '(^|_)site(_id)?$' AND a.attnum > 0 AND NOT a.attisdropped
)
SELECT format('%s.%s %s', p.at::regclass, m.attname, format_type(m.atttypid, m.atttypmod)), format_type(o.atttypid, o.atttypmod)
FROM pairs p JOIN pg_attribute m ON m.attrelid = p.at AND m.attnum = p.mine JOIN pg_attribute o ON o.attrelid = p.toward AND o.attnum = p.theirs`)
	require.NoError(t, err)
	var column, want string
	var other []string
	_, err = pgx.ForEachRow(rows, []any{&column, &want}, func() error {
		if !strings.HasSuffix(column, " "+want) {
			other = append(other, column+" refers to a "+want)
		}
		return nil
	})
	require.NoError(t, err)
	require.Empty(t, other)
	require.Greater(t, rows.CommandTag().RowsAffected(), int64(20))
}

// describe reads a schema from the catalogue of Postgres: tables by name, each with
// its columns in their order, and what hangs on it.
func describe(ctx context.Context, t *testing.T, pool *pgxpool.Pool) string {
	rows := devtest.Must(pool.Query(ctx, catalogue, migrations.VersionTable))(t)
	lines := devtest.Must(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
	seeds, err := pool.Query(ctx, `SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema::regnamespace AND c.relkind = 'r' AND c.relname <> $1 ORDER BY 1`, migrations.VersionTable)
	require.NoError(t, err)
	tables := devtest.Must(pgx.CollectRows(seeds, pgx.RowTo[string]))(t)
	for _, table := range tables {
		rows, err := pool.Query(ctx, `SELECT regexp_replace(to_jsonb(r)::text, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'a UUID') FROM `+pgx.Identifier{table}.Sanitize()+` r ORDER BY 1`)
		require.NoError(t, err)
		seeded := devtest.Must(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
		for _, row := range seeded {
			lines = append(lines, "\nrow of "+table+": "+row)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n")) + "\n"
}

// catalogue lists in lines what there is: what is at its default is not said.
const catalogue = `
WITH ours AS (
	SELECT c.* FROM pg_class c WHERE c.relnamespace = current_schema::regnamespace AND c.relname <> $1 AND c.relname <> $1 || '_id_seq'
), lines (kind, subject, part, place, line) AS (
	SELECT 1, relname, 0, 0, E'\n' || CASE relkind WHEN 'r' THEN 'table ' ELSE relkind::text || ' ' END || relname
		|| coalesce(' with ' || array_to_string(reloptions, ', '), '') || CASE relpersistence WHEN 'p' THEN '' ELSE ', persistence ' || relpersistence::text END
		|| coalesce(' -- ' || obj_description(oid, 'pg_class'), '')
	FROM ours WHERE relkind NOT IN ('i', 'S')
	UNION ALL
	SELECT 1, c.relname, 1, a.attnum, '    ' || rpad(a.attname, 15) || ' ' || format_type(a.atttypid, a.atttypmod)
		|| CASE WHEN a.attcollation <> y.typcollation THEN ' collate ' || a.attcollation::regcollation ELSE '' END
		|| CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
		|| CASE a.attidentity WHEN '' THEN '' WHEN 'a' THEN ' identity' ELSE ' identity by default' END
		|| coalesce(CASE a.attgenerated WHEN '' THEN ' default ' ELSE ' generated ' END || pg_get_expr(d.adbin, d.adrelid), '')
		|| CASE WHEN a.attstorage <> y.typstorage THEN ' storage ' || a.attstorage::text ELSE '' END
		|| CASE WHEN coalesce(a.attstattarget, -1) <> -1 THEN ' statistics ' || a.attstattarget ELSE '' END
		|| coalesce(' compression ' || nullif(to_jsonb(a)->>'attcompression', ''), '')
		|| coalesce(' -- ' || col_description(c.oid, a.attnum), '')
	FROM ours c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type y ON y.oid = a.atttypid
		LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
	WHERE c.relkind NOT IN ('i', 'S') AND a.attnum > 0 AND NOT a.attisdropped
	UNION ALL
	SELECT 1, c.relname, 2, 0, '    constraint ' || k.conname || ' ' || pg_get_constraintdef(k.oid) || coalesce(' -- ' || obj_description(k.oid, 'pg_constraint'), '')
	FROM ours c JOIN pg_constraint k ON k.conrelid = c.oid WHERE k.contype NOT IN ('n', 't')
	UNION ALL
	SELECT 1, c.relname, 3, 0, '    ' || replace(replace(pg_get_indexdef(i.indexrelid), ' ON ' || current_schema || '.' || c.relname, ''), 'CREATE ', '')
		|| CASE WHEN i.indisvalid THEN '' ELSE ' invalid' END || coalesce(' -- ' || obj_description(i.indexrelid, 'pg_class'), '')
	FROM ours c JOIN pg_index i ON i.indrelid = c.oid
	WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
	UNION ALL
	SELECT 1, c.relname, 4, 0, '    ' || replace(replace(pg_get_triggerdef(g.oid), ' ON ' || current_schema || '.' || c.relname, ''), 'CREATE ', '')
		|| CASE g.tgenabled WHEN 'O' THEN '' ELSE ' enabled ' || g.tgenabled::text END
	FROM ours c JOIN pg_trigger g ON g.tgrelid = c.oid WHERE NOT g.tgisinternal
	UNION ALL
	SELECT 2, c.relname, 0, 0, E'\nsequence ' || c.relname || ' ' || format_type(s.seqtypid, NULL) || ' from ' || s.seqstart || ' by ' || s.seqincrement
		|| ' within ' || s.seqmin || ' to ' || s.seqmax || ' cache ' || s.seqcache || CASE WHEN s.seqcycle THEN ' cycle' ELSE '' END
		|| coalesce(' of ' || (SELECT d.refobjid::regclass || '.' || a.attname FROM pg_depend d JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
			WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i') AND d.refclassid = 'pg_class'::regclass), '')
	FROM ours c JOIN pg_sequence s ON s.seqrelid = c.oid
	UNION ALL
	SELECT 3, p.proname, 0, 0, E'\n' || rtrim(replace(pg_get_functiondef(p.oid), current_schema || '.', ''), E'\n') FROM pg_proc p WHERE p.pronamespace = current_schema::regnamespace AND p.prokind IN ('f', 'p')
	UNION ALL
	SELECT 4, y.typname, 0, 0, E'\ntype ' || y.typname FROM pg_type y WHERE y.typnamespace = current_schema::regnamespace AND y.typtype IN ('d', 'e', 'r')
	UNION ALL
	SELECT 5, e.extname, 0, 0, E'\nextension ' || e.extname FROM pg_extension e
)
SELECT line FROM lines ORDER BY kind, subject COLLATE "C", part, place, line COLLATE "C"`

// TestConnections: compiling statements takes longer than running them.
func TestConnections(t *testing.T) {
	t.Parallel()
	db := devtest.Must(Open(t.Context(), devtest.Postgres(t), 2))(t)
	defer db.Close()
	var jit string
	require.NoError(t, db.Pool.QueryRow(t.Context(), `SHOW jit`).Scan(&jit))
	require.Equal(t, "off", jit)
}
