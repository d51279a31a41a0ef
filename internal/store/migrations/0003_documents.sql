-- +goose Up

-- What was wrong with a file, in a line; how many words were read, which tells
-- the fuller of two copies; and until when a worker has taken it to examine it.
ALTER TABLE documents ADD COLUMN detail text NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN words int NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN taken_until timestamptz NOT NULL DEFAULT '-infinity';
CREATE INDEX documents_same_as ON documents (same_as) WHERE same_as <> '';
CREATE INDEX documents_discovered ON documents (discovered_at);
DROP INDEX documents_fingerprint;

-- What else stood with the link: the heading above it, and the title and DOI
-- that a landing page names for its document.
ALTER TABLE locations ADD COLUMN heading text NOT NULL DEFAULT '';
ALTER TABLE locations ADD COLUMN meta_title text NOT NULL DEFAULT '';
ALTER TABLE locations ADD COLUMN doi text NOT NULL DEFAULT '';

-- Minhash sketches of texts. Two texts that share a band are worth comparing, so
-- that a copy is found without looking at every row.
CREATE TABLE sketches (
    sha256 text PRIMARY KEY REFERENCES documents (sha256) ON DELETE CASCADE,
    sketch bytea NOT NULL,
    bands  bigint[] NOT NULL
);
-- fastupdate keeps new entries in a list that every look-up would read through.
CREATE INDEX sketches_bands ON sketches USING gin (bands) WITH (fastupdate = off);

-- +goose Down
DROP TABLE sketches;
ALTER TABLE locations DROP COLUMN heading, DROP COLUMN meta_title, DROP COLUMN doi;
DROP INDEX documents_same_as, documents_discovered;
CREATE INDEX documents_fingerprint ON documents (fingerprint) WHERE fingerprint <> 0;
ALTER TABLE documents DROP COLUMN detail, DROP COLUMN words, DROP COLUMN taken_until;
