-- +goose Up

-- When a person last said that what was out is back: no worker lets a source rest
-- for what it knows from before.
ALTER TABLE harvests ADD COLUMN retried_at timestamptz;
-- Since when a source leaves a question unanswered.
ALTER TABLE unanswered ADD COLUMN asked_at timestamptz NOT NULL DEFAULT now();

-- +goose Down
ALTER TABLE unanswered DROP COLUMN asked_at;
ALTER TABLE harvests DROP COLUMN retried_at;
