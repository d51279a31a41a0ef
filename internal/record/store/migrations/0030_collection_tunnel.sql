-- +goose Up
-- While a crawl by topic tunnels: how many new sites with a page on topic it came to since.
ALTER TABLE collections ADD COLUMN tunnel integer;

-- +goose Down
ALTER TABLE collections DROP COLUMN tunnel;
