-- +goose Up
-- Archives name by its SHA-1 a document that came before.
CREATE INDEX documents_sha1 ON documents (sha1);

-- +goose Down
DROP INDEX documents_sha1;
