package store

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/store/migrations"
)

// Gauge is one number of the record for those who watch over it.
type Gauge struct {
	Name   string
	Labels []string
	Value  float64
}

// gaugesSQL counts by what is indexed, or by tables that are small.
const gaugesSQL = `
	SELECT 'documents', ARRAY[state, class], count(*)::float8 FROM documents GROUP BY state, class
	UNION ALL SELECT 'documents_bytes', '{}', coalesce(sum(bytes), 0)::float8 FROM documents
	UNION ALL SELECT 'sites', ARRAY[state], count(*)::float8 FROM sites GROUP BY state
	UNION ALL SELECT 'sites_parked', '{}', count(*)::float8 FROM sites WHERE parked_until > now()
	UNION ALL SELECT 'sites_leased', '{}', count(*)::float8 FROM sites WHERE holder <> '' AND expires_at > now()
	UNION ALL SELECT 'sites_due', '{}', count(*)::float8 FROM sites WHERE due_at <= now() AND parked_until <= now() AND state NOT IN ('new', 'crawling')
	UNION ALL SELECT 'frontier_waiting', ARRAY[queue::text], sum(n)::float8 FROM (
		SELECT queue, count(*) AS n FROM urls WHERE state = 0 GROUP BY queue UNION ALL SELECT 0, 0) w GROUP BY queue
	UNION ALL SELECT 'harvests', ARRAY[CASE WHEN paused AND completed_at IS NULL THEN 'paused' ELSE stage END], count(*)::float8 FROM harvests GROUP BY 2
	UNION ALL SELECT 'papers_published', '{}', count(DISTINCT paper_key)::float8 FROM harvest_papers
	UNION ALL SELECT 'papers_wanted', '{}', count(DISTINCT paper_key)::float8 FROM harvest_papers h WHERE ` + wantedSQL + `
	UNION ALL SELECT 'papers_found', '{}', count(DISTINCT m.paper_key)::float8 FROM matches m JOIN harvest_papers h ON h.paper_key=m.paper_key
		WHERE ` + wantedSQL + ` AND ` + FoundSQL + `
	UNION ALL SELECT 'documents_to_review', '{}', count(DISTINCT sha256)::float8 FROM matches WHERE verdict = 'ambiguous' AND settled = ''
	UNION ALL SELECT 'database_bytes', '{}', pg_database_size(current_database())::float8`

// Gauges computes the numbers of the record. It takes one connection and gives
// up when ctx ends.
func (db StatisticRecords) Gauges(ctx context.Context) ([]Gauge, error) {
	return List[Gauge](ctx, db, gaugesSQL)
}

// SharedGauges are the Gauges as one process computes them for all, at most once
// in Every and so seldom that the record has nineteen parts in twenty of its time
// for other work.
type SharedGauges struct {
	DB    *DB
	Every time.Duration
}

// sharedGauges is what the chore brings.
type sharedGauges struct {
	Took   time.Duration
	Gauges []Gauge
}

// gaugesWithin is how long computing the numbers may take: who scrapes them waits.
const gaugesWithin = 8 * time.Second

// Gauges gives the latest numbers. While another process computes them, it waits
// for them, for as long as ctx.
func (s SharedGauges) Gauges(ctx context.Context) ([]Gauge, error) {
	for {
		latest, fresh, err := s.latest(ctx)
		if err != nil || fresh {
			return latest, err
		}
		ran, err := s.DB.Chore(ctx, Chore{Name: "gauges", Every: s.Every, Within: gaugesWithin}, s.compute)
		if err != nil {
			return nil, err
		}
		if ran {
			continue
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("store: another process does not come to an end with the record's numbers: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (s SharedGauges) compute(ctx context.Context) (any, error) {
	began := time.Now()
	gauges, err := s.DB.Gauges(ctx)
	return sharedGauges{Took: time.Since(began), Gauges: gauges}, err
}

func (s SharedGauges) latest(ctx context.Context) (_ []Gauge, fresh bool, err error) {
	var age time.Duration
	var known *sharedGauges
	err = s.DB.Pool.QueryRow(ctx, `SELECT least(now() - last, interval '1 day'), result FROM chores WHERE name = 'gauges' AND last > '-infinity'
		UNION ALL SELECT interval '1 day', NULL LIMIT 1`).Scan(&age, &known)
	if err != nil || known == nil || age >= max(s.Every, 19*known.Took) {
		return nil, false, err
	}
	return known.Gauges, true, nil
}

// Inspection is what can be said of a database from outside.
type Inspection struct {
	Version    string        // of the server, such as 16.4
	VersionNum int           // 160004
	Bytes      int64         // of the database
	Applied    int64         // the latest migration applied; 0 in an empty database
	Known      int64         // the latest migration that this program has
	Skew       time.Duration // its clock less ours, within the time of a round trip
	MaxConns   int
	Conns      int
}

// Inspect looks at a database and changes nothing: unlike Open it applies no
// migration.
func Inspect(ctx context.Context, dsn string) (Inspection, error) {
	i := Inspection{Known: latest()}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return i, fmt.Errorf("store: %w: %w", ErrUnreachable, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var now time.Time
	before := time.Now()
	if err := conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return i, err
	}
	i.Skew = now.Sub(before.Add(time.Since(before) / 2))
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('server_version_num')::int, pg_database_size(current_database()),
		current_setting('max_connections')::int, (SELECT count(*) FROM pg_stat_activity)`).Scan(&i.Version, &i.VersionNum, &i.Bytes, &i.MaxConns, &i.Conns)
	if err != nil {
		return i, err
	}
	i.Applied, err = migrations.Applied(ctx, conn)
	return i, err
}

// latest is the latest migration that this program has.
func latest() (most int64) {
	names, _ := fs.Glob(migrations.Files, "*.sql") // fails for a bad pattern alone
	for _, n := range names {
		var number int64
		if _, err := fmt.Sscanf(n, "%d_", &number); err == nil {
			most = max(most, number)
		}
	}
	return most
}
