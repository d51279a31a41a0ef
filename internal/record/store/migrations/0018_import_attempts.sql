-- +goose Up

-- Attempts at an import that began where it is, and were not heard of since; and up to
-- which of its resources they are taken one at a time, since one of them may end the
-- worker.
ALTER TABLE jobs ADD COLUMN attempts integer NOT NULL DEFAULT 0, ADD COLUMN wary bigint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE jobs DROP COLUMN attempts, DROP COLUMN wary;
