-- +goose Up
-- For how many seconds the earlier runs of a collection crawled: a limit is for all of them.
ALTER TABLE collections ADD COLUMN spent double precision NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE collections DROP COLUMN spent;
