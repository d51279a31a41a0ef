-- +goose Up

-- What the present crawl of a site has read: pages, and those of them that led
-- to documents. A crawl that finds too few of these is in a trap.
ALTER TABLE sites ADD COLUMN crawl_read int NOT NULL DEFAULT 0;
ALTER TABLE sites ADD COLUMN crawl_relevant int NOT NULL DEFAULT 0;

-- URLs that a limit keeps from being asked for, by its name (outcome).
CREATE INDEX urls_skipped ON urls (site_id, outcome) WHERE state = 5;

-- +goose Down
DROP INDEX urls_skipped;
ALTER TABLE sites DROP COLUMN crawl_relevant, DROP COLUMN crawl_read;
