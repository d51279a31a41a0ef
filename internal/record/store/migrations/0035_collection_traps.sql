-- +goose Up
-- Of a host how many pages were read, and how many of them were on topic: a host of which
-- hardly any was is left.
ALTER TABLE collection_hosts ADD COLUMN pages integer NOT NULL DEFAULT 0, ADD COLUMN relevant integer NOT NULL DEFAULT 0;
UPDATE collection_hosts h SET pages=u.pages, relevant=u.relevant
	FROM (SELECT collection, host, count(*) AS pages, count(*) FILTER (WHERE outcome <> 'off-topic') AS relevant
		FROM collection_urls WHERE kind = 'page' GROUP BY collection, host) u
	WHERE u.collection=h.collection AND u.host=h.host;

-- +goose Down
ALTER TABLE collection_hosts DROP COLUMN pages, DROP COLUMN relevant;
