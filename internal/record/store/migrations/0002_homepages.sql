-- +goose Up

-- Where authors live. The decision keeps every candidate with the rule that
-- decided it; a person's word (override) lasts.
CREATE TABLE homepage_decisions (
    author_id  text PRIMARY KEY REFERENCES authors (id) ON DELETE CASCADE,
    decision   jsonb NOT NULL,
    not_found  text NOT NULL DEFAULT '',
    requests   int  NOT NULL DEFAULT 0,
    decided_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE homepages (
    author_id text NOT NULL REFERENCES authors (id) ON DELETE CASCADE,
    url       text NOT NULL,
    host      text NOT NULL,
    rank      int  NOT NULL,
    source    text NOT NULL,
    score     real NOT NULL DEFAULT 0,
    PRIMARY KEY (author_id, url)
);
CREATE INDEX homepages_host ON homepages (host);
CREATE TABLE homepage_overrides (
    author_id text NOT NULL REFERENCES authors (id) ON DELETE CASCADE,
    url       text NOT NULL,
    word      text NOT NULL CONSTRAINT homepage_overrides_word CHECK (word IN ('is', 'is-not')),
    said_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (author_id, url)
);

-- Answers of search engines, with their date, and what was asked of each.
CREATE TABLE searches (
    provider   text NOT NULL,
    query      text NOT NULL,
    wanted     int  NOT NULL,
    results    jsonb NOT NULL,
    asked_at   timestamptz NOT NULL,
    PRIMARY KEY (provider, query, wanted)
);
CREATE TABLE search_spending (
    provider   text NOT NULL,
    period     timestamptz NOT NULL,
    requests   int NOT NULL,
    PRIMARY KEY (provider, period)
);

-- Pages fetched outside a crawl (evidence for a homepage), kept for a while so
-- that the crawl need not ask again.
CREATE TABLE page_cache (
    hash       bytea PRIMARY KEY,
    host       text NOT NULL,
    url        text NOT NULL,
    final_url  text NOT NULL,
    outcome    text NOT NULL,
    status     int  NOT NULL,
    header     jsonb NOT NULL,
    body       bytea,
    indexed    boolean NOT NULL DEFAULT false,
    fetched_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX page_cache_host ON page_cache (host);
CREATE INDEX page_cache_fetched ON page_cache (fetched_at);
CREATE INDEX page_cache_fresh ON page_cache (fetched_at) WHERE NOT indexed;

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

-- +goose Down
DROP TABLE page_index, page_cache, search_spending, searches, homepage_overrides, homepages, homepage_decisions;
