-- +goose Up

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

-- One row a host. The lease (holder, token, expires_at) lets one process ask it
-- at a time; the token fences off a holder that lost it. next_allowed_at is the
-- pacing, and survives whoever computed it.
CREATE TABLE sites (
    id              int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host            text NOT NULL CONSTRAINT sites_host UNIQUE,
    state           text NOT NULL DEFAULT 'new'
        CONSTRAINT sites_state CHECK (state IN ('new', 'crawling', 'done', 'refused', 'trap', 'stopped')),
    reason          text NOT NULL DEFAULT '',
    holder          text NOT NULL DEFAULT '',
    token           bigint NOT NULL DEFAULT 0,
    expires_at      timestamptz NOT NULL DEFAULT '-infinity',
    next_allowed_at timestamptz NOT NULL DEFAULT '-infinity',
    failures        int NOT NULL DEFAULT 0,
    parked_until    timestamptz NOT NULL DEFAULT '-infinity',
    crawl           int NOT NULL DEFAULT 0,
    crawl_pages     int NOT NULL DEFAULT 0,
    crawl_started   timestamptz,
    crawl_finished  timestamptz,
    interval_s      bigint NOT NULL DEFAULT 0,
    due_at          timestamptz,
    options         jsonb NOT NULL DEFAULT '{}',
    learnt          jsonb
);

-- What may be crawled on a host: path prefixes, each with what it is there for.
CREATE TABLE scopes (
    site_id int  NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    prefix  text NOT NULL,
    origin  text NOT NULL,
    PRIMARY KEY (site_id, prefix)
);

CREATE TABLE harvest_sites (
    harvest_id text NOT NULL REFERENCES harvests (id) ON DELETE CASCADE,
    site_id    int  NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    origin     text NOT NULL,
    PRIMARY KEY (harvest_id, site_id)
);
CREATE INDEX harvest_sites_site ON harvest_sites (site_id);

CREATE TABLE robots (
    host       text PRIMARY KEY,
    body       bytea,
    status     int NOT NULL,
    available  boolean NOT NULL,
    failures   int NOT NULL,
    fetched_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Every URL ever met on a site: the frontier (state 0) and the record.
-- hash is the first 16 bytes of SHA-256 of the URL's identity.
CREATE SEQUENCE urls_seq CACHE 64;
CREATE TABLE urls (
    site_id       int      NOT NULL,
    hash          bytea    NOT NULL,
    seq           bigint   NOT NULL DEFAULT nextval('urls_seq'),
    state         smallint NOT NULL DEFAULT 0,
    url           text     NOT NULL,
    queue         smallint NOT NULL DEFAULT 0,
    mark          int      NOT NULL DEFAULT 0,
    priority      real     NOT NULL DEFAULT 0,
    depth         smallint NOT NULL DEFAULT 0,
    role          smallint NOT NULL DEFAULT 0,
    wanted        real     NOT NULL DEFAULT 0,
    position      int      NOT NULL DEFAULT 0,
    parent        text     NOT NULL DEFAULT '',
    source        text     NOT NULL DEFAULT '',
    anchor        text     NOT NULL DEFAULT '',
    context       text     NOT NULL DEFAULT '',
    heading       text     NOT NULL DEFAULT '',
    tag_path      text     NOT NULL DEFAULT '',
    tries         smallint NOT NULL DEFAULT 0,
    next_try      timestamptz,
    outcome       text     NOT NULL DEFAULT '',
    status        smallint NOT NULL DEFAULT 0,
    reason        text     NOT NULL DEFAULT '',
    crawl         int      NOT NULL DEFAULT 0,
    fetched_at    timestamptz,
    etag          text     NOT NULL DEFAULT '',
    last_modified text     NOT NULL DEFAULT '',
    content       bytea,
    bytes         bigint   NOT NULL DEFAULT 0,
    interval_s    bigint   NOT NULL DEFAULT 0,
    due_at        timestamptz,
    PRIMARY KEY (site_id, hash)
) WITH (fillfactor = 80);
CREATE INDEX urls_waiting ON urls (site_id, queue DESC, mark, priority DESC, seq) WHERE state = 0;
CREATE INDEX urls_failed  ON urls (site_id, next_try) WHERE state = 3;
CREATE INDEX urls_due     ON urls (site_id, due_at) WHERE due_at IS NOT NULL;

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
    fetched_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX page_cache_host ON page_cache (host);

-- Documents by content. A row exists only when its blob does.
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
    reader        text NOT NULL DEFAULT '',
    class         text NOT NULL DEFAULT '',
    score         real NOT NULL DEFAULT 0,
    reasons       jsonb NOT NULL DEFAULT '[]',
    pages         int  NOT NULL DEFAULT 0,
    refs          int  NOT NULL DEFAULT 0,
    meta_title    text NOT NULL DEFAULT '',
    first_pages   text NOT NULL DEFAULT '',
    fingerprint   bigint NOT NULL DEFAULT 0,
    same_as       text NOT NULL DEFAULT '',
    ingestion     text NOT NULL DEFAULT 'new'
        CONSTRAINT documents_ingestion CHECK (ingestion IN ('new', 'ingested', 'failed')),
    tries         int NOT NULL DEFAULT 0,
    discovered_at timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX documents_id ON documents (id);
CREATE INDEX documents_new ON documents (id) WHERE state = 'new';
CREATE INDEX documents_fingerprint ON documents (fingerprint) WHERE fingerprint <> 0;

-- Where a document was found. A new version at a known URL keeps the old one.
CREATE TABLE locations (
    hash       bytea NOT NULL,
    sha256     text  NOT NULL REFERENCES documents (sha256) ON DELETE CASCADE,
    site_id    int   NOT NULL,
    url        text  NOT NULL,
    member     text  NOT NULL DEFAULT '',
    parent     text  NOT NULL DEFAULT '',
    anchor     text  NOT NULL DEFAULT '',
    context    text  NOT NULL DEFAULT '',
    header     jsonb NOT NULL DEFAULT '{}',
    current    boolean NOT NULL DEFAULT true,
    found_at   timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now(),
    gone_at    timestamptz,
    PRIMARY KEY (hash, sha256)
);
CREATE INDEX locations_sha256 ON locations (sha256);
CREATE INDEX locations_site ON locations (site_id);

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

-- +goose Down
DROP TABLE matches, locations, documents, page_cache, urls, robots, harvest_sites, scopes, sites,
    search_spending, searches, homepage_overrides, homepages, homepage_decisions, harvest_papers, harvests, holdings,
    copies, volumes, paper_authors, authors, papers;
DROP SEQUENCE urls_seq;
