-- +goose Up
-- Where the pages of a crawl by topic lead, followed or not: the hashes of the targets one
-- after the other, and the words of each link on a line; and what the crawl learns from
-- that. A lesson is begun at so many requests by one slice of all.
CREATE TABLE collection_links (
    collection integer NOT NULL,
    hash bytea NOT NULL,
    alias bytea,
    targets bytea NOT NULL,
    anchors text NOT NULL,
    PRIMARY KEY (collection, hash),
    FOREIGN KEY (collection, hash) REFERENCES collection_urls(collection, hash) ON DELETE CASCADE
);
ALTER TABLE collections ADD COLUMN lesson integer NOT NULL DEFAULT 0, ADD COLUMN learnt_at integer NOT NULL DEFAULT 0, ADD COLUMN learnt jsonb;

-- +goose Down
ALTER TABLE collections DROP COLUMN lesson, DROP COLUMN learnt_at, DROP COLUMN learnt;
DROP TABLE collection_links;
