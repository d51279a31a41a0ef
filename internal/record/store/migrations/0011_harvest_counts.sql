-- +goose Up

-- What a harvest came to when it ended: what others do on its sites later is not its
-- own. NULL while it runs, and of one that ended before this was kept.
ALTER TABLE harvests ADD COLUMN counts jsonb;

-- +goose Down
ALTER TABLE harvests DROP COLUMN counts;
