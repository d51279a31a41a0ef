-- +goose Up

-- Until when a chore is left to the process that took it on: then it is done, or
-- broken off, or its process is dead.
ALTER TABLE chores ADD COLUMN claimed_until timestamptz NOT NULL DEFAULT '-infinity';

-- +goose Down
ALTER TABLE chores DROP COLUMN claimed_until;
