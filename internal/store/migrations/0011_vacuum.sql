-- +goose Up

-- Every URL that is taken leaves a dead entry at the head of urls_waiting, which
-- each later choice passes over until a vacuum. By default that is when a fifth of
-- the table is dead: of ten million rows two million. A share and an upper bound
-- keep the passing short whatever the size. New rows are vacuumed early, too: the
-- walk from group to group reads the index alone where pages are all visible.
ALTER TABLE urls SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 10000,
    autovacuum_analyze_scale_factor = 0.05);

-- +goose Down
ALTER TABLE urls RESET (
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold,
    autovacuum_vacuum_insert_scale_factor, autovacuum_vacuum_insert_threshold,
    autovacuum_analyze_scale_factor);
