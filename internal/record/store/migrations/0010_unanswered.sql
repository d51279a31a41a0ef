-- +goose Up

-- What an outage kept a harvest from knowing, so that it is asked for again: of an
-- author the pages, searches and directories that did not answer (in the
-- decision), of the other stages the sources.
ALTER TABLE homepage_decisions ADD COLUMN next_try timestamptz;
CREATE INDEX homepage_decisions_next_try ON homepage_decisions (next_try) WHERE next_try IS NOT NULL;
CREATE TABLE unanswered (
    harvest_id text NOT NULL REFERENCES harvests (id) ON DELETE CASCADE,
    stage      text NOT NULL CONSTRAINT unanswered_stage CHECK (stage IN ('papers', 'copies')),
    source     text NOT NULL,
    subject    text NOT NULL, -- a volume or a year; the key of a paper
    reason     text NOT NULL,
    tries      int  NOT NULL DEFAULT 1,
    next_try   timestamptz NOT NULL,
    PRIMARY KEY (harvest_id, stage, source, subject)
);

-- +goose Down
DROP TABLE unanswered;
ALTER TABLE homepage_decisions DROP COLUMN next_try;
