-- +goose Up

-- What the present crawl of a site has brought: answers, and what archives were
-- unpacked to.
ALTER TABLE sites ADD COLUMN crawl_bytes bigint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE sites DROP COLUMN crawl_bytes;
