-- +goose Up

-- Documents by content. A row exists only when its blob does, or did: the file of
-- a rejected document may be removed to save room (blob_removed_at). detail says
-- in a line what was wrong with a file; words is how many were read, which tells
-- the fuller of two copies; until taken_until a worker examines it.
CREATE TABLE documents (
    sha256        text PRIMARY KEY,
    id            bigint GENERATED ALWAYS AS IDENTITY,
    sha1          text NOT NULL,
    md5           text NOT NULL,
    bytes         bigint NOT NULL,
    kind          text NOT NULL,
    state         text NOT NULL DEFAULT 'new'
        CONSTRAINT documents_state CHECK (state IN ('new', 'accepted', 'rejected', 'failed')),
    outcome       text NOT NULL DEFAULT '',
    detail        text NOT NULL DEFAULT '',
    reader        text NOT NULL DEFAULT '',
    class         text NOT NULL DEFAULT '',
    score         real NOT NULL DEFAULT 0,
    reasons       jsonb NOT NULL DEFAULT '[]',
    pages         int  NOT NULL DEFAULT 0,
    words         int  NOT NULL DEFAULT 0,
    refs          int  NOT NULL DEFAULT 0,
    meta_title    text NOT NULL DEFAULT '',
    first_pages   text NOT NULL DEFAULT '',
    fingerprint   bigint NOT NULL DEFAULT 0,
    same_as       text NOT NULL DEFAULT '',
    ingestion     text NOT NULL DEFAULT 'new'
        CONSTRAINT documents_ingestion CHECK (ingestion IN ('new', 'ingested', 'failed')),
    tries         int NOT NULL DEFAULT 0,
    taken_until   timestamptz NOT NULL DEFAULT '-infinity',
    discovered_at timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    blob_removed_at timestamptz
);
CREATE UNIQUE INDEX documents_id ON documents (id);
CREATE INDEX documents_new ON documents (id) WHERE state = 'new';
CREATE INDEX documents_same_as ON documents (same_as) WHERE same_as <> '';
CREATE INDEX documents_discovered ON documents (discovered_at);

-- Where a document was found. A new version at a known URL keeps the old one.
-- heading stood above the link; meta_title and doi are what a landing page names
-- for its document.
CREATE TABLE locations (
    hash       bytea NOT NULL,
    sha256     text  NOT NULL REFERENCES documents (sha256) ON DELETE CASCADE,
    site_id    int   NOT NULL,
    url        text  NOT NULL,
    member     text  NOT NULL DEFAULT '',
    parent     text  NOT NULL DEFAULT '',
    anchor     text  NOT NULL DEFAULT '',
    context    text  NOT NULL DEFAULT '',
    heading    text  NOT NULL DEFAULT '',
    meta_title text  NOT NULL DEFAULT '',
    doi        text  NOT NULL DEFAULT '',
    header     jsonb NOT NULL DEFAULT '{}',
    current    boolean NOT NULL DEFAULT true,
    found_at   timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now(),
    gone_at    timestamptz,
    PRIMARY KEY (hash, sha256)
);
CREATE INDEX locations_sha256 ON locations (sha256);
CREATE INDEX locations_site ON locations (site_id);
-- The pages of a site that led to documents, wherever these are.
CREATE INDEX locations_parent ON locations (parent COLLATE "C");

-- Which paper a document is. settled is a person's word and is not overwritten.
CREATE TABLE matches (
    paper_key  text NOT NULL REFERENCES papers (key) ON DELETE CASCADE,
    sha256     text NOT NULL REFERENCES documents (sha256) ON DELETE CASCADE,
    verdict    text NOT NULL
        CONSTRAINT matches_verdict CHECK (verdict IN ('exact', 'strong', 'ambiguous', 'different')),
    score      real NOT NULL,
    form       text NOT NULL DEFAULT 'paper',
    reasons    jsonb NOT NULL DEFAULT '[]',
    settled    text NOT NULL DEFAULT ''
        CONSTRAINT matches_settled CHECK (settled IN ('', 'yes', 'no')),
    matched_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (paper_key, sha256)
);
CREATE INDEX matches_sha256 ON matches (sha256);

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
DROP TABLE sketches, matches, locations, documents;
