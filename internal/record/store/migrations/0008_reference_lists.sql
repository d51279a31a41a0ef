-- +goose Up
-- The entries of a document's reference list, as far as they were read.
ALTER TABLE documents ADD COLUMN reference_list text[] NOT NULL DEFAULT '{}';

-- +goose Down
ALTER TABLE documents DROP COLUMN reference_list;
