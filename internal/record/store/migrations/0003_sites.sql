-- +goose Up

-- One row a host. The lease (holder, token, expires_at) lets one process ask it
-- at a time; the token fences off a holder that lost it. next_allowed_at is the
-- pacing, and survives whoever computed it. crawl_read counts the pages that the
-- present crawl has read, crawl_relevant those of them that led to documents: a
-- crawl that finds too few of these is in a trap. recrawls counts how often what
-- is due was put back, retries how often in a row a crawl ended without reaching
-- its end.
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
    crawl_read      int NOT NULL DEFAULT 0,
    crawl_relevant  int NOT NULL DEFAULT 0,
    interval_s      bigint NOT NULL DEFAULT 0,
    due_at          timestamptz,
    recrawls        int NOT NULL DEFAULT 0,
    retries         int NOT NULL DEFAULT 0,
    options         jsonb NOT NULL DEFAULT '{}',
    learnt          jsonb
);
CREATE INDEX sites_due ON sites (due_at) WHERE due_at IS NOT NULL;

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

-- Each host's robots.txt; reason says why one could not be read: a host that is
-- not there is something else than one that does not answer.
CREATE TABLE robots (
    host       text PRIMARY KEY,
    body       bytea,
    status     int NOT NULL,
    available  boolean NOT NULL,
    failures   int NOT NULL,
    reason     text NOT NULL DEFAULT '',
    fetched_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Every URL ever met on a site: the frontier (state 0) and the record.
-- hash is the first 16 bytes of SHA-256 of the URL's identity. seq is the order
-- of discovery: with a cache each connection would hand out numbers of its own,
-- and what was found later could come first. was is what the URL was when it last
-- answered (1 page, 2 document): a 304 says that it is so still, and a 404 at what
-- was a document that it vanished.
CREATE SEQUENCE urls_seq CACHE 1;
CREATE TABLE urls (
    site_id       int      NOT NULL,
    hash          bytea    NOT NULL,
    seq           bigint   NOT NULL DEFAULT nextval('urls_seq'),
    state         smallint NOT NULL DEFAULT 0,
    was           smallint NOT NULL DEFAULT 0,
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
) WITH (
    fillfactor = 80,
    -- Every URL that is taken leaves a dead entry at the head of urls_waiting, which
    -- each later choice passes over until a vacuum. By default that is when a fifth
    -- of the table is dead: of ten million rows two million. A share and an upper
    -- bound keep the passing short whatever the size. New rows are vacuumed early,
    -- too: the walk from group to group reads the index alone where pages are all
    -- visible.
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 10000,
    autovacuum_analyze_scale_factor = 0.05
);
CREATE INDEX urls_waiting ON urls (site_id, queue DESC, mark, priority DESC, seq) WHERE state = 0;
CREATE INDEX urls_failed  ON urls (site_id, next_try) WHERE state = 3;
CREATE INDEX urls_due     ON urls (site_id, due_at) WHERE due_at IS NOT NULL;
-- URLs that a limit keeps from being asked for, by its name (outcome).
CREATE INDEX urls_skipped ON urls (site_id, outcome) WHERE state = 5;

-- +goose Down
DROP TABLE urls, robots, harvest_sites, scopes, sites;
DROP SEQUENCE urls_seq;
