-- +goose Up
-- Beside homepages stand the places of papers that lie elsewhere: their scope is what of the
-- host is crawled for them. That of a homepage, which has none here, is its path.
ALTER TABLE homepages ADD COLUMN scope text NOT NULL DEFAULT '';

-- +goose Down
DELETE FROM homepages WHERE scope <> '';
ALTER TABLE homepages DROP COLUMN scope;
