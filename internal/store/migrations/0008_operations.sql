-- +goose Up

-- Why a robots.txt could not be read: a host that is not there is something else
-- than one that does not answer.
ALTER TABLE robots ADD COLUMN IF NOT EXISTS reason text NOT NULL DEFAULT '';

-- When the file of a rejected document was removed to save room. The row stays,
-- with what was read and why it was rejected.
ALTER TABLE documents ADD COLUMN IF NOT EXISTS blob_removed_at timestamptz;

CREATE INDEX IF NOT EXISTS page_cache_fetched ON page_cache (fetched_at);

-- +goose Down
DROP INDEX page_cache_fetched;
ALTER TABLE documents DROP COLUMN blob_removed_at;
ALTER TABLE robots DROP COLUMN reason;
