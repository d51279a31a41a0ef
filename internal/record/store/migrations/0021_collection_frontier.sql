-- +goose Up
-- What waits is chosen by its host: each host with something to ask for has the best
-- of it, so that the next request costs the same however much waits.
ALTER TABLE collection_hosts
    ADD COLUMN best double precision,
    ADD COLUMN best_seq bigint,
    ADD COLUMN due timestamptz,
    ADD COLUMN failures integer NOT NULL DEFAULT 0;

INSERT INTO collection_hosts AS h (collection, host, best, best_seq, due)
    SELECT DISTINCT ON (collection, host) collection, host, priority, seq, next_try FROM collection_urls WHERE waiting
    ORDER BY collection, host, greatest(next_try, now()), priority DESC, seq
    ON CONFLICT (collection, host) DO UPDATE SET best = EXCLUDED.best, best_seq = EXCLUDED.best_seq, due = EXCLUDED.due;

CREATE INDEX collection_hosts_best ON collection_hosts (collection, best DESC, best_seq) WHERE best IS NOT NULL;
DROP INDEX collection_urls_waiting;
CREATE INDEX collection_urls_print ON collection_urls (collection, print) WHERE print <> 0;

-- +goose Down
DROP INDEX collection_urls_print;
CREATE INDEX collection_urls_waiting ON collection_urls (collection, priority DESC, seq) WHERE waiting;
DROP INDEX collection_hosts_best;
DELETE FROM collection_hosts WHERE requests = 0;
ALTER TABLE collection_hosts DROP COLUMN best, DROP COLUMN best_seq, DROP COLUMN due, DROP COLUMN failures;
