package store

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/store/migrations"
)

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
