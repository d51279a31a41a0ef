-- +goose Up
-- When somebody last waited for one page of a host that a crawl was asking.
ALTER TABLE sites ADD COLUMN awaited_at timestamptz NOT NULL DEFAULT '-infinity';

-- +goose Down
ALTER TABLE sites DROP COLUMN awaited_at;
