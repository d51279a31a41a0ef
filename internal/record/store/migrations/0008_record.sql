-- +goose Up

-- What is so of the record as a whole, in one row. id is what a blob store is
-- marked with, so that another record's, or an empty folder in its place, is
-- told from this one's. wanted grows whenever what is wanted changes: a verdict
-- reached against an older list of papers is not written.
CREATE TABLE record (
    one    boolean PRIMARY KEY DEFAULT true CONSTRAINT record_one CHECK (one),
    id     uuid   NOT NULL DEFAULT gen_random_uuid(),
    wanted bigint NOT NULL DEFAULT 1
);
INSERT INTO record DEFAULT VALUES;

-- Whether the file of a row that prune marked is still to be removed. Of rows
-- marked before there was this column it is not known, and asked for once more.
ALTER TABLE documents ADD COLUMN blob_left boolean NOT NULL DEFAULT false;
UPDATE documents SET blob_left = true WHERE blob_removed_at IS NOT NULL;
CREATE INDEX documents_blob_left ON documents (sha256) WHERE blob_left;

-- +goose Down
ALTER TABLE documents DROP COLUMN blob_left;
DROP TABLE record;
