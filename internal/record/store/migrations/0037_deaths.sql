-- +goose Up
ALTER TABLE urls ADD COLUMN deaths smallint NOT NULL DEFAULT 0;
ALTER TABLE page_cache ADD COLUMN deaths smallint NOT NULL DEFAULT 0, ADD COLUMN reading timestamptz;

-- +goose Down
ALTER TABLE page_cache DROP COLUMN reading, DROP COLUMN deaths;
ALTER TABLE urls DROP COLUMN deaths;
