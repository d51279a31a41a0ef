-- +goose Up
-- Pages that link to files, in what others crawled: no crawl of ours may have gone there.
CREATE TABLE imported_pages (
    site_id bigint NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
    hash    bytea  NOT NULL,
    url     text   NOT NULL,
    PRIMARY KEY (site_id, hash)
);

-- What a log says of how and when a resource was found.
ALTER TABLE import_records ADD COLUMN parent text NOT NULL DEFAULT '', ADD COLUMN depth integer,
    ADD COLUMN seed boolean NOT NULL DEFAULT false, ADD COLUMN crawled_at timestamptz;

-- +goose Down
ALTER TABLE import_records DROP COLUMN parent, DROP COLUMN depth, DROP COLUMN seed, DROP COLUMN crawled_at;
DROP TABLE imported_pages;
