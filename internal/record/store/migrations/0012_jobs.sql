-- +goose Up
-- Work that a person sets up, looks at and runs again.
CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL CONSTRAINT jobs_kind CHECK (kind IN ('import')),
    options jsonb NOT NULL,
    state text NOT NULL DEFAULT 'new' CONSTRAINT jobs_state CHECK (state IN ('new', 'running', 'ended', 'failed', 'cancelled')),
    note text NOT NULL DEFAULT '',
    run integer NOT NULL DEFAULT 1,
    done bigint NOT NULL DEFAULT 0,
    position jsonb NOT NULL DEFAULT '{}',
    counters jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
);

-- What became of each resource of an import's log, in the log's order. A row
-- without an outcome is begun.
CREATE TABLE import_records (
    job bigint NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
    n bigint NOT NULL,
    url text NOT NULL,
    source text NOT NULL DEFAULT '',
    known boolean NOT NULL DEFAULT false,
    outcome text NOT NULL DEFAULT '',
    detail text NOT NULL DEFAULT '',
    kind text NOT NULL DEFAULT '',
    class text NOT NULL DEFAULT '',
    sha256 text NOT NULL DEFAULT '',
    bytes bigint NOT NULL DEFAULT 0,
    difference text NOT NULL DEFAULT '',
    PRIMARY KEY (job, n)
);
CREATE INDEX import_records_differ ON import_records (job, n) WHERE difference <> '';

-- +goose Down
DROP TABLE import_records;
DROP TABLE jobs;
