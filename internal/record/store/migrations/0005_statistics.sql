-- +goose Up

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
