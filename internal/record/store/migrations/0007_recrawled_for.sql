-- +goose Up

-- The recrawls that want what is crawled of a site now, by name: NULL where none did
-- since its last crawl ended, none where all of them were cancelled. A crawl that
-- nobody wants any more ends.
ALTER TABLE sites ADD COLUMN recrawled_for text[];

-- +goose Down
ALTER TABLE sites DROP COLUMN recrawled_for;
