#!/bin/sh
# Run once, when the database's volume is empty: a role for Gleaner that owns its
# database and nothing else, and one for Temporal that may create its two.
set -eu
psql --set=ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    --set=gleaner="$GLEANER_PASSWORD" --set=temporal="$TEMPORAL_PASSWORD" <<'SQL'
CREATE ROLE gleaner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'gleaner';
CREATE DATABASE gleaner OWNER gleaner;
REVOKE CONNECT ON DATABASE gleaner FROM PUBLIC;
CREATE ROLE temporal LOGIN NOSUPERUSER CREATEDB NOCREATEROLE PASSWORD :'temporal';
SQL
