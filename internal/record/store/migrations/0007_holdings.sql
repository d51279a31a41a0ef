-- +goose Up
-- A paper that two lists name is held by both, until both are forgotten.
ALTER TABLE holdings DROP CONSTRAINT holdings_pkey;
ALTER TABLE holdings ADD PRIMARY KEY (hash, source);

-- +goose Down
DELETE FROM holdings h USING holdings o WHERE h.hash = o.hash AND h.source > o.source;
ALTER TABLE holdings DROP CONSTRAINT holdings_pkey;
ALTER TABLE holdings ADD PRIMARY KEY (hash);
