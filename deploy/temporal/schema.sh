#!/bin/sh
# Creates or upgrades Temporal's two databases. Safe to run again: an existing
# database stays, and a schema is only ever taken forward.
set -eu
for db in temporal temporal_visibility; do
    schema=temporal
    [ "$db" = temporal_visibility ] && schema=visibility
    sql() {
        temporal-sql-tool --plugin postgres12 --ep "$POSTGRES_SEEDS" -p "$DB_PORT" -u "$POSTGRES_USER" --db "$db" "$@"
    }
    sql create
    sql setup-schema -v 0.0
    sql update-schema -d "/etc/temporal/schema/postgresql/v12/$schema/versioned"
done
