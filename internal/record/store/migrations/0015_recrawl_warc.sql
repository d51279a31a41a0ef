-- +goose Up

-- A recrawl wants what is exchanged with the site kept in WARC files, until its crawl ends.
ALTER TABLE sites ADD COLUMN warc boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE sites DROP COLUMN warc;
