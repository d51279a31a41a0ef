-- +goose Up

-- What a URL was when it last answered (1 page, 2 document): a 304 says that it
-- is so still, and a 404 at what was a document that it vanished.
ALTER TABLE urls ADD COLUMN was smallint NOT NULL DEFAULT 0;
UPDATE urls SET was=state, interval_s=1209600, due_at=coalesce(fetched_at, now()) + interval '14 days' WHERE state IN (1, 2) AND due_at IS NULL;

-- recrawls counts how often what is due was put back, retries how often in a row
-- a crawl of the site ended without reaching its end.
ALTER TABLE sites ADD COLUMN recrawls int NOT NULL DEFAULT 0;
ALTER TABLE sites ADD COLUMN retries int NOT NULL DEFAULT 0;
CREATE INDEX sites_due ON sites (due_at) WHERE due_at IS NOT NULL;

-- The pages of a site that led to documents, wherever these are.
CREATE INDEX locations_parent ON locations (parent COLLATE "C");

-- One crawl of one site in numbers, written when it ends. requests is what was
-- asked for, fetched what answered (304 included).
CREATE TABLE crawls (
    site_id     int  NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    crawl       int  NOT NULL,
    policy      text NOT NULL DEFAULT '',
    started_at  timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    requests    int NOT NULL,
    fetched     int NOT NULL,
    PRIMARY KEY (site_id, crawl)
);
CREATE INDEX crawls_started ON crawls (started_at);

-- Rates of a site and of its directories (each with all below it), computed from
-- urls, locations and documents whenever a crawl ends; see docs/statistics.md.
CREATE TABLE site_stats (
    site_id     int PRIMARY KEY REFERENCES sites (id) ON DELETE CASCADE,
    pages       int NOT NULL,
    relevant    int NOT NULL,
    documents   int NOT NULL,
    accepted    int NOT NULL,
    refs        int NOT NULL,
    verdict     text NOT NULL DEFAULT ''
        CONSTRAINT site_stats_verdict CHECK (verdict IN ('', 'trap', 'barren')),
    measured_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE directory_stats (
    site_id   int  NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    path      text NOT NULL,
    name      text NOT NULL,
    pages     int  NOT NULL,
    relevant  int  NOT NULL,
    documents int  NOT NULL,
    accepted  int  NOT NULL,
    avoid     boolean NOT NULL DEFAULT false,
    PRIMARY KEY (site_id, path)
);
CREATE INDEX directory_stats_name ON directory_stats (name);

-- Ranks of registrable domains and the pages worth crawling there; see
-- docs/statistics.md.
CREATE TABLE domains (
    domain      text PRIMARY KEY,
    documents   int  NOT NULL,
    citations   bigint NOT NULL,
    p_documents double precision NOT NULL,
    p_citations double precision NOT NULL,
    f1          double precision NOT NULL,
    rank        int NOT NULL,
    list        text NOT NULL DEFAULT ''
        CONSTRAINT domains_list CHECK (list IN ('', 'D', 'C', 'core')),
    ranked_at   timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE whitelist (
    url       text PRIMARY KEY,
    domain    text NOT NULL,
    position  int  NOT NULL,
    documents int  NOT NULL,
    origin    text NOT NULL DEFAULT 'generated'
        CONSTRAINT whitelist_origin CHECK (origin IN ('generated', 'imported'))
);
CREATE INDEX whitelist_domain ON whitelist (domain);
CREATE TABLE blacklist (
    host     text PRIMARY KEY,
    reason   text NOT NULL DEFAULT '',
    added_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE citations (
    key    text PRIMARY KEY, -- a domain, or a DOI
    cited  bigint NOT NULL,
    source text NOT NULL
);

-- +goose Down
DROP TABLE citations, blacklist, whitelist, domains, directory_stats, site_stats, crawls;
DROP INDEX locations_parent, sites_due;
ALTER TABLE sites DROP COLUMN retries, DROP COLUMN recrawls;
ALTER TABLE urls DROP COLUMN was;
