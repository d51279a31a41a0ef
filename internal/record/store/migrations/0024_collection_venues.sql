-- +goose Up
-- Where the crawl begins for a page of a centroid, if not at the page itself.
ALTER TABLE collection_results ADD COLUMN parent text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE collection_results DROP COLUMN parent;
