-- +goose Up
-- How many pages of a host were on topic, and what that makes it worth beside its best URL.
ALTER TABLE collection_hosts ADD COLUMN about integer NOT NULL DEFAULT 0, ADD COLUMN worth double precision NOT NULL DEFAULT 0;
UPDATE collection_hosts h SET about = u.n
    FROM (SELECT collection, host, count(*)::int AS n FROM collection_urls
        WHERE NOT waiting AND kind <> '' AND outcome IN ('success', 'collection-full') GROUP BY collection, host) u
    WHERE u.collection = h.collection AND u.host = h.host;
DROP INDEX collection_hosts_best;
CREATE INDEX collection_hosts_best ON collection_hosts (collection, (best + worth) DESC, best_seq) WHERE best IS NOT NULL;

-- +goose Down
DROP INDEX collection_hosts_best;
CREATE INDEX collection_hosts_best ON collection_hosts (collection, best DESC, best_seq) WHERE best IS NOT NULL;
ALTER TABLE collection_hosts DROP COLUMN about, DROP COLUMN worth;
