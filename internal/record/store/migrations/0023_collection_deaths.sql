-- +goose Up
-- The URL (its hash) that a slice of a collection is at, by host: who finds one there
-- has the lease of a slice that died over it. Deaths are counted by URL, and by page
-- that is to make a centroid.
ALTER TABLE collection_hosts ADD COLUMN handling bytea;
ALTER TABLE collection_urls ADD COLUMN deaths integer NOT NULL DEFAULT 0;
ALTER TABLE collection_results ADD COLUMN deaths integer NOT NULL DEFAULT 0;

-- What robots.txt or the blacklist refused is no request. Numbers (n) are given to both.
ALTER TABLE collections ADD COLUMN refused integer NOT NULL DEFAULT 0;
UPDATE collections c SET refused = u.n, requests = c.requests - u.n
    FROM (SELECT collection, count(*)::int AS n FROM collection_urls WHERE NOT waiting AND outcome IN ('robots-denied', 'blacklisted') GROUP BY collection) u
    WHERE u.collection = c.id;
UPDATE collection_hosts h SET requests = greatest(h.requests - u.n, 0)
    FROM (SELECT collection, host, count(*)::int AS n FROM collection_urls WHERE NOT waiting AND outcome IN ('robots-denied', 'blacklisted') GROUP BY collection, host) u
    WHERE u.collection = h.collection AND u.host = h.host;

-- +goose Down
UPDATE collections SET requests = requests + refused WHERE refused > 0;
ALTER TABLE collections DROP COLUMN refused;
ALTER TABLE collection_results DROP COLUMN deaths;
ALTER TABLE collection_urls DROP COLUMN deaths;
ALTER TABLE collection_hosts DROP COLUMN handling;
