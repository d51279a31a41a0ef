// Package store is the record in Postgres: the pool, the migrations, and the
// queries of everything but the frontier (package frontier). Every write is
// idempotent on a natural key, so whatever calls it may run twice. The schema
// is migrations/*.sql; Open applies what is missing under an advisory lock, so
// whoever starts first migrates.
package store
