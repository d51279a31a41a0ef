-- +goose Up
-- The latest report of a harvest in numbers, and why each paper was missing then: one
-- of a large venue takes seconds to work out, and many pages show a part of it.
CREATE TABLE harvest_reports (
    harvest_id text PRIMARY KEY REFERENCES harvests(id) ON DELETE CASCADE,
    made_at    timestamptz NOT NULL,
    took       interval NOT NULL,
    report     jsonb NOT NULL
);
CREATE TABLE missing_papers (
    harvest_id text NOT NULL,
    paper_key  text NOT NULL,
    reason     text NOT NULL,
    evidence   jsonb NOT NULL,
    PRIMARY KEY (harvest_id, paper_key),
    FOREIGN KEY (harvest_id, paper_key) REFERENCES harvest_papers(harvest_id, paper_key) ON DELETE CASCADE
);
CREATE INDEX missing_papers_reason ON missing_papers (harvest_id, reason, paper_key);

-- What waits for a person's word, the likeliest first, and what was settled.
CREATE INDEX matches_waiting ON matches ((-score), paper_key, sha256) WHERE settled = '' AND verdict = 'ambiguous';
CREATE INDEX matches_settled_ones ON matches ((-score), paper_key, sha256) WHERE settled <> '';

-- +goose Down
DROP INDEX matches_settled_ones;
DROP INDEX matches_waiting;
DROP TABLE missing_papers;
DROP TABLE harvest_reports;
