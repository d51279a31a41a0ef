-- +goose Up

-- Venues as catalogues know them. A person may have given their names elsewhere
-- (ISSN and the like), and the sources to be asked for this venue.
CREATE TABLE venues (
    key      text PRIMARY KEY,
    name     text NOT NULL DEFAULT '',
    title    text NOT NULL DEFAULT '',
    ids      jsonb NOT NULL DEFAULT '{}',
    sources  text NOT NULL DEFAULT '',
    named_at timestamptz
);

-- What each source lists, as it lists it. papers is merged from these, so that
-- merging anew asks nobody again. A volume is a DBLP table of contents, or a
-- year of another source.
CREATE TABLE listings (
    source   text NOT NULL,
    venue    text NOT NULL,
    volume   text NOT NULL,
    position int  NOT NULL,
    year     int  NOT NULL,
    paper    jsonb NOT NULL,
    PRIMARY KEY (source, venue, volume, position)
);
CREATE INDEX listings_venue ON listings (venue, year);

-- What directories say of people; found = false where they know nobody of the id.
CREATE TABLE persons (
    source   text NOT NULL,
    id       text NOT NULL,
    found    boolean NOT NULL,
    person   jsonb NOT NULL DEFAULT '{}',
    asked_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source, id)
);
CREATE INDEX authors_name ON authors (lower(name));

-- The full-text index over pages that were fetched already. words carries title
-- (A), address (B) and the beginning of the text (D); a page's id grows when it
-- is indexed again, so the smallest are the longest unseen.
CREATE TABLE page_index (
    hash    bytea PRIMARY KEY,
    id      bigint GENERATED ALWAYS AS IDENTITY,
    url     text NOT NULL,
    title   text NOT NULL,
    snippet text NOT NULL,
    length  int  NOT NULL,
    words   tsvector NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX page_index_words ON page_index USING gin (words);
CREATE INDEX page_index_id ON page_index (id);
ALTER TABLE page_cache ADD COLUMN indexed boolean NOT NULL DEFAULT false;
CREATE INDEX page_cache_fresh ON page_cache (fetched_at) WHERE NOT indexed;

-- +goose Down
DROP INDEX page_cache_fresh;
ALTER TABLE page_cache DROP COLUMN indexed;
DROP TABLE page_index;
DROP INDEX authors_name;
DROP TABLE persons, listings, venues;
