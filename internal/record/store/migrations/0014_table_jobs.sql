-- +goose Up
ALTER TABLE jobs DROP CONSTRAINT jobs_kind, ADD CONSTRAINT jobs_kind CHECK (kind IN ('import', 'clean-documents', 'clean-parents', 'whitelist', 'retrieve'));

-- Documents that a cleaning took away. While a row is not done, its document and
-- its file are still to go. A fetch that kept the file a moment before stores it
-- anew when it finds a row here.
CREATE TABLE cleaned (
    sha256 text PRIMARY KEY,
    job bigint NOT NULL,
    done boolean NOT NULL DEFAULT false,
    cleaned_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX cleaned_left ON cleaned (sha256) WHERE NOT done;

CREATE INDEX documents_not_ingested ON documents (sha256) WHERE ingestion = 'failed';
DROP INDEX locations_site;
CREATE INDEX locations_site ON locations (site_id, hash, sha256);

-- +goose Down
DROP INDEX locations_site;
CREATE INDEX locations_site ON locations (site_id);
DROP INDEX documents_not_ingested;
DROP TABLE cleaned;
DELETE FROM jobs WHERE kind <> 'import';
ALTER TABLE jobs DROP CONSTRAINT jobs_kind, ADD CONSTRAINT jobs_kind CHECK (kind IN ('import'));
