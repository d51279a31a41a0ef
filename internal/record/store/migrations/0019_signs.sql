-- +goose Up

-- What each document bears of which a paper may be known (match.Signs), so that
-- those which may be a newly wanted paper are found without reading the others. The
-- statistics tell which signs say little, since many documents bear them.
CREATE TABLE signs (
    sha256 text PRIMARY KEY REFERENCES documents (sha256) ON DELETE CASCADE,
    signs  int[] NOT NULL
);
ALTER TABLE signs ALTER COLUMN signs SET STATISTICS 200;
CREATE INDEX signs_any ON signs USING gin (signs) WITH (fastupdate = off);

-- The version of the wanted papers (record.wanted) that a document was compared
-- with last; 0 where it has not been, or was found at another place since.
ALTER TABLE documents ADD COLUMN compared bigint NOT NULL DEFAULT 0;
CREATE INDEX documents_uncompared ON documents (id) WHERE compared = 0 AND first_pages <> '' AND state <> 'failed';

-- The papers that came to be wanted, changed or ceased to be wanted, and with which
-- version, until every document was compared with that.
CREATE TABLE wanted_changes (
    paper_key text PRIMARY KEY,
    version   bigint NOT NULL
);

-- +goose Down
DROP TABLE wanted_changes;
ALTER TABLE documents DROP COLUMN compared;
DROP TABLE signs;
