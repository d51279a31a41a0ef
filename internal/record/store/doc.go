// Package store is the record in Postgres: the pool, the migrations, and the
// queries of everything but the frontier (package frontier). Every write is
// idempotent on a natural key, so whatever calls it may run twice. The schema
// is migrations/*.sql; Open applies what is missing under an advisory lock, so
// whoever starts first migrates. schema.txt shows what they come to; a test keeps
// it true, and writes it anew: go test ./internal/record/store -run TestSchema -args -write-schema
package store
