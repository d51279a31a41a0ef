-- +goose Up

-- How long the present crawl of a site went on: its slices, and what they waited
-- for the host between them. A server that answers slowly without end is left by it.
ALTER TABLE sites ADD COLUMN crawl_time interval NOT NULL DEFAULT '0';

-- +goose Down
ALTER TABLE sites DROP COLUMN crawl_time;
