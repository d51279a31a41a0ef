-- +goose Up
-- The console lists the whitelist page by page.
CREATE INDEX whitelist_position ON whitelist (position);

-- +goose Down
DROP INDEX whitelist_position;
