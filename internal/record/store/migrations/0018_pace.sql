-- +goose Up

-- The ordinary pause between two requests that was kept last, and who set it. What
-- a host asked for, or brought upon itself by failures, is in asked_until,
-- parked_until and next_allowed_at.
ALTER TABLE sites ADD COLUMN pace interval NOT NULL DEFAULT '0', ADD COLUMN pace_by text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE sites DROP COLUMN pace, DROP COLUMN pace_by;
