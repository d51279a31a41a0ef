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

-- What was published, and by whom. Keys are those of the metadata source.
CREATE TABLE papers (
    key        text PRIMARY KEY,
    venue      text NOT NULL,
    year       int  NOT NULL,
    title      text NOT NULL,
    authors    jsonb NOT NULL DEFAULT '[]',
    doi        text NOT NULL DEFAULT '',
    arxiv      text NOT NULL DEFAULT '',
    pages      text NOT NULL DEFAULT '',
    links      jsonb NOT NULL DEFAULT '[]',
    origin     jsonb NOT NULL DEFAULT '{}',
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX papers_venue_year ON papers (venue, year);

CREATE TABLE authors (
    id   text PRIMARY KEY,
    pid  text NOT NULL DEFAULT '',
    name text NOT NULL
);
CREATE INDEX authors_name ON authors (lower(name));

CREATE TABLE paper_authors (
    paper_key text NOT NULL REFERENCES papers (key) ON DELETE CASCADE,
    author_id text NOT NULL REFERENCES authors (id) ON DELETE CASCADE,
    position  int  NOT NULL,
    PRIMARY KEY (paper_key, author_id)
);
CREATE INDEX paper_authors_author ON paper_authors (author_id);

-- Volumes that were listed, so that a finished year is not asked for again.
CREATE TABLE volumes (
    id        text PRIMARY KEY,
    venue     text NOT NULL,
    year      int  NOT NULL,
    papers    int  NOT NULL,
    listed_at timestamptz NOT NULL DEFAULT now()
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

-- Where catalogues say that a copy of a paper is.
CREATE TABLE copies (
    paper_key  text NOT NULL REFERENCES papers (key) ON DELETE CASCADE,
    url        text NOT NULL,
    landing    boolean NOT NULL,
    version    text NOT NULL,
    license    text NOT NULL,
    host_kind  text NOT NULL,
    source     text NOT NULL,
    located_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (paper_key, url)
);

-- What the library holds already.
CREATE TABLE holdings (
    hash        bytea PRIMARY KEY,
    title       text NOT NULL,
    year        int  NOT NULL DEFAULT 0,
    authors     jsonb NOT NULL DEFAULT '[]',
    doi         text NOT NULL DEFAULT '',
    source      text NOT NULL DEFAULT '',
    imported_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE harvests (
    id           text PRIMARY KEY,
    venue        text NOT NULL,
    year_from    int  NOT NULL,
    year_to      int  NOT NULL,
    options      jsonb NOT NULL DEFAULT '{}',
    stage        text NOT NULL DEFAULT 'new',
    paused       boolean NOT NULL DEFAULT false,
    cancelled    boolean NOT NULL DEFAULT false,
    note         text NOT NULL DEFAULT '',
    started_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz
);

CREATE TABLE harvest_papers (
    harvest_id text NOT NULL REFERENCES harvests (id) ON DELETE CASCADE,
    paper_key  text NOT NULL REFERENCES papers (key) ON DELETE CASCADE,
    held       boolean NOT NULL DEFAULT false,
    held_why   text NOT NULL DEFAULT '',
    PRIMARY KEY (harvest_id, paper_key)
);
CREATE INDEX harvest_papers_paper ON harvest_papers (paper_key);

-- +goose Down
DROP TABLE harvest_papers, harvests, holdings, copies, persons, listings, volumes, paper_authors, authors, papers, venues;
