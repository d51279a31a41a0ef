-- +goose Up

-- attempts counts the slices of a site that were begun since one came to an
-- orderly end or got anything done; handling is the URL (its hash) whose answer a
-- slice was at work on when it was last heard of. A process that is killed by
-- what it reads leaves both behind.
ALTER TABLE sites ADD COLUMN attempts int NOT NULL DEFAULT 0, ADD COLUMN handling bytea;

-- The members of an archive are found by its URL.
CREATE INDEX locations_member ON locations (site_id, md5(url)) WHERE member <> '';

-- +goose Down
DROP INDEX locations_member;
ALTER TABLE sites DROP COLUMN attempts, DROP COLUMN handling;
