-- +goose Up

-- The whole record, by what it is about: the record itself, papers and people,
-- harvests, homepages, sites, their URLs, documents, statistics, jobs, collections
-- by topic, the console. What it comes to in Postgres stands in schema.txt.
--
-- Addresses, and what people ask for, are as long as others make them, and a btree
-- takes no more than 2,704 bytes: what is told apart by an address is so by its
-- hash.
--
-- Its digest is the comment of schema_version: a database that another one made is refused.

-- The record ---------------------------------------------------------------

-- What is so of the record as a whole, in one row. id is what a blob store is
-- marked with, so that another record's, or an empty folder in its place, is
-- told from this one's. wanted grows whenever what is wanted changes: a verdict
-- reached against an older list of papers is not written.
CREATE TABLE record (
    one    boolean PRIMARY KEY DEFAULT true CONSTRAINT record_one CHECK (one),
    id     uuid   NOT NULL DEFAULT gen_random_uuid(),
    wanted bigint NOT NULL DEFAULT 1
);
INSERT INTO record DEFAULT VALUES;

-- What one worker of all does for all, by name: when it was done last, and what
-- it brought where others want to know. Until claimed_until a chore is left to the
-- process that took it on: then it is done, or broken off, or its process is dead.
CREATE TABLE chores (
    name          text PRIMARY KEY,
    last          timestamptz NOT NULL DEFAULT '-infinity',
    claimed_until timestamptz NOT NULL DEFAULT '-infinity',
    result        jsonb
);

-- Papers and people --------------------------------------------------------

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
    name text NOT NULL,
    -- The harvest that looks for the author's homepages now, and how many processes died
    -- over that.
    sought_by text NOT NULL DEFAULT '',
    deaths    int  NOT NULL DEFAULT 0
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

-- What directories say of people; person IS NULL where they know nobody of the id.
CREATE TABLE persons (
    source   text NOT NULL,
    id       text NOT NULL,
    person   jsonb,
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
    source     text NOT NULL
);
CREATE UNIQUE INDEX copies_url ON copies (paper_key, md5(url));

-- What the library holds already. A paper that two lists name is held by both,
-- until both are forgotten.
CREATE TABLE holdings (
    hash        bytea NOT NULL,
    title       text NOT NULL,
    year        int  NOT NULL DEFAULT 0,
    authors     jsonb NOT NULL DEFAULT '[]',
    doi         text NOT NULL DEFAULT '',
    source      text NOT NULL DEFAULT '',
    imported_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (hash, source)
);

-- Harvests -----------------------------------------------------------------

-- retried_at is when a person last said that what was out is back: no worker lets a
-- source rest for what it knows from before.
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
    -- begun_at is when it was started first, started_at when last.
    begun_at     timestamptz NOT NULL DEFAULT now(),
    started_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    retried_at   timestamptz,
    completed_at timestamptz,
    -- What it came to when it ended: what others do on its sites later is not its own.
    counts       jsonb,
    -- Links on record that it found for its papers, and those that it took since its
    -- options differ from the ones before.
    links_found    int NOT NULL DEFAULT 0,
    links_reopened int NOT NULL DEFAULT 0,
    -- Documents on its sites that were judged again, since the filter is another.
    documents_judged int NOT NULL DEFAULT 0,
    -- The years of a harvest that leaves some out between its first and its last:
    -- "2001-2003,2007"; else ''.
    years        text NOT NULL DEFAULT ''
);
CREATE INDEX harvests_started ON harvests (started_at, id);

CREATE TABLE harvest_papers (
    harvest_id text NOT NULL REFERENCES harvests (id) ON DELETE CASCADE,
    paper_key  text NOT NULL REFERENCES papers (key) ON DELETE CASCADE,
    held       boolean NOT NULL DEFAULT false,
    held_why   text NOT NULL DEFAULT '',
    -- Since when the harvest is after it: what was found before is found for it then.
    wanted_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (harvest_id, paper_key)
);
CREATE INDEX harvest_papers_paper ON harvest_papers (paper_key);

-- The papers that came to be wanted, changed or ceased to be wanted, and with which
-- version (record.wanted), until every document was compared with that.
CREATE TABLE wanted_changes (
    paper_key text PRIMARY KEY,
    version   bigint NOT NULL
);

-- What an outage kept a harvest from knowing, so that it is asked for again: which
-- source did not answer, and since when. Of an author the pages, searches and
-- directories that did not answer are in the decision (homepage_decisions).
CREATE TABLE unanswered (
    harvest_id text NOT NULL REFERENCES harvests (id) ON DELETE CASCADE,
    stage      text NOT NULL CONSTRAINT unanswered_stage CHECK (stage IN ('papers', 'copies')),
    source     text NOT NULL,
    subject    text NOT NULL, -- a volume or a year; the key of a paper
    reason     text NOT NULL,
    tries      int  NOT NULL DEFAULT 1,
    asked_at   timestamptz NOT NULL DEFAULT now(),
    next_try   timestamptz NOT NULL,
    PRIMARY KEY (harvest_id, stage, source, subject)
);

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

-- Homepages ----------------------------------------------------------------

-- Where authors live. The decision keeps every candidate with the rule that
-- decided it; a person's word (override) lasts. Where an outage kept it from being
-- complete, next_try is when it is made again.
CREATE TABLE homepage_decisions (
    author_id  text PRIMARY KEY REFERENCES authors (id) ON DELETE CASCADE,
    decision   jsonb NOT NULL,
    not_found  text NOT NULL DEFAULT '',
    requests   int  NOT NULL DEFAULT 0,
    decided_at timestamptz NOT NULL DEFAULT now(),
    next_try   timestamptz
);
CREATE INDEX homepage_decisions_next_try ON homepage_decisions (next_try) WHERE next_try IS NOT NULL;

CREATE TABLE homepages (
    author_id text NOT NULL REFERENCES authors (id) ON DELETE CASCADE,
    url       text NOT NULL,
    host      text NOT NULL,
    rank      int  NOT NULL,
    source    text NOT NULL,
    score     real NOT NULL DEFAULT 0,
    -- Beside homepages stand the places of papers that lie elsewhere: their scope is what of
    -- the host is crawled for them. That of a homepage, which has none here, is its path.
    scope     text NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX homepages_url ON homepages (author_id, md5(url));
CREATE INDEX homepages_host ON homepages (host);

CREATE TABLE homepage_overrides (
    author_id text NOT NULL REFERENCES authors (id) ON DELETE CASCADE,
    url       text NOT NULL,
    word      text NOT NULL CONSTRAINT homepage_overrides_word CHECK (word IN ('is', 'is-not')),
    said_at   timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX homepage_overrides_url ON homepage_overrides (author_id, md5(url));

-- Answers of search engines, with their date, and what was asked of each.
CREATE TABLE searches (
    provider   text NOT NULL,
    query      text NOT NULL,
    wanted     int  NOT NULL,
    results    jsonb NOT NULL,
    asked_at   timestamptz NOT NULL
);
CREATE UNIQUE INDEX searches_query ON searches (provider, md5(query), wanted);

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
    fetched_at timestamptz NOT NULL DEFAULT now(),
    -- Processes that ended while they asked for it or read it, and since when one does now.
    deaths     smallint NOT NULL DEFAULT 0,
    asking     timestamptz,
    reading    timestamptz
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
    words   tsvector NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX page_index_words ON page_index USING gin (words);
CREATE INDEX page_index_id ON page_index (id);

-- Sites --------------------------------------------------------------------

-- One row a host. Each try at making a row uses up a number: four bytes of them do
-- not last a large fleet for many years.
CREATE TABLE sites (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host            text NOT NULL CONSTRAINT sites_host UNIQUE,
    state           text NOT NULL DEFAULT 'new'
        CONSTRAINT sites_state CHECK (state IN ('new', 'crawling', 'done', 'refused', 'trap', 'stopped')),
    reason          text NOT NULL DEFAULT '',

    -- The lease lets one process ask the host at a time; the token fences off a
    -- holder that lost it.
    holder          text NOT NULL DEFAULT '',
    token           bigint NOT NULL DEFAULT 0,
    expires_at      timestamptz NOT NULL DEFAULT '-infinity',

    -- next_allowed_at is the pacing, and survives whoever computed it. What it is
    -- made of, as far as it matters later: paced_until is the ordinary pause after
    -- the last request, asked_until what the host itself asked for (Retry-After):
    -- neither is waived by a retry, while the backoff after a failure is. A host and
    -- its name with "www." wait for one another by them. pace is the ordinary pause
    -- between two requests that was kept last, and pace_by who set it; what a host
    -- asked for, or brought upon itself by failures, is in asked_until, parked_until
    -- and next_allowed_at. awaited_at is when somebody last waited for one page of the
    -- host while a crawl was asking it.
    next_allowed_at timestamptz NOT NULL DEFAULT '-infinity',
    paced_until     timestamptz NOT NULL DEFAULT '-infinity',
    asked_until     timestamptz NOT NULL DEFAULT '-infinity',
    failures        int NOT NULL DEFAULT 0,
    parked_until    timestamptz NOT NULL DEFAULT '-infinity',
    pace            interval NOT NULL DEFAULT '0',
    pace_by         text NOT NULL DEFAULT '',

    -- The present crawl. crawl_read counts the pages that it has read,
    -- crawl_relevant those of them that led to documents: a crawl that finds too few
    -- of these is in a trap. crawl_bytes is what it has brought: answers, and what
    -- archives were unpacked to. trap_seq is the last number of urls_seq when a crawl
    -- was found to be in a trap, 0 where none was: what came later was not what kept it.
    crawl           int NOT NULL DEFAULT 0,
    crawl_pages     int NOT NULL DEFAULT 0,
    crawl_started   timestamptz,
    crawl_finished  timestamptz,
    crawl_read      int NOT NULL DEFAULT 0,
    crawl_relevant  int NOT NULL DEFAULT 0,
    crawl_bytes     bigint NOT NULL DEFAULT 0,
    trap_seq        bigint NOT NULL DEFAULT 0,

    -- attempts counts the slices that were begun since one came to an orderly end or
    -- got anything done; handling is the URL (its hash) whose answer a slice was at
    -- work on when it was last heard of. A process that is killed by what it reads
    -- leaves both behind.
    attempts        int NOT NULL DEFAULT 0,
    handling        bytea,

    -- recrawls counts how often what is due was put back, retries how often in a row
    -- a crawl ended without reaching its end.
    interval_s      bigint NOT NULL DEFAULT 0,
    due_at          timestamptz,
    recrawls        int NOT NULL DEFAULT 0,
    retries         int NOT NULL DEFAULT 0,
    learnt          jsonb,
    -- The options under which the links of the site's pages were taken last.
    view            text NOT NULL DEFAULT '',

    -- How long the present crawl went on: its slices, and what they waited for the host
    -- between them. A server that answers slowly without end is left by it.
    crawl_time      interval NOT NULL DEFAULT '0',

    -- The recrawls that want what is crawled of the site now, by name: NULL where none did
    -- since its last crawl ended, none where all of them were cancelled. A crawl that
    -- nobody wants any more ends. warc: what is exchanged is kept in WARC files till then.
    recrawled_for   text[],
    warc            boolean NOT NULL DEFAULT false,
    awaited_at      timestamptz NOT NULL DEFAULT '-infinity',

    -- Why a person has the host not asked for a while, '' where nobody has, and since when.
    paused          text NOT NULL DEFAULT '',
    paused_at       timestamptz,
    -- The least time between two requests that a person set for the host, 0 where nobody has.
    min_delay       interval NOT NULL DEFAULT '0',

    -- Until when a crawl of this name waits for one of the name with or without "www.", which
    -- gives way after its slice.
    waits_until     timestamptz NOT NULL DEFAULT '-infinity'
);
CREATE INDEX sites_held ON sites (id) WHERE holder <> '';
CREATE INDEX sites_due ON sites (due_at) WHERE due_at IS NOT NULL;
-- Finds the hosts of a domain: their names from the end, without ports.
CREATE INDEX sites_domain ON sites (reverse(split_part(host, ':', 1)) COLLATE "C");

-- What may be crawled on a host: path prefixes, each with what it is there for.
CREATE TABLE scopes (
    site_id bigint NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    prefix  text NOT NULL,
    origin  text NOT NULL
);
CREATE UNIQUE INDEX scopes_prefix ON scopes (site_id, md5(prefix));

-- The sites of a harvest; what is asked of a site's crawl follows from the harvests
-- that want it now. given_by is the site which led a harvest to another: the one that
-- the harvest knew itself, however many redirects lay between. turn is the place of a
-- site among all that its giver named, 0 for those that the harvest knew itself:
-- sites are crawled in that order, so that who names many hosts does not go before
-- who names few.
CREATE TABLE harvest_sites (
    harvest_id text   NOT NULL REFERENCES harvests (id) ON DELETE CASCADE,
    site_id    bigint NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    origin     text   NOT NULL,
    given_by   bigint,
    turn       int    NOT NULL DEFAULT 0,
    PRIMARY KEY (harvest_id, site_id)
);
CREATE INDEX harvest_sites_site ON harvest_sites (site_id);
CREATE INDEX harvest_sites_given ON harvest_sites (given_by, harvest_id) WHERE given_by IS NOT NULL;

-- What the crawl of a site gave to other hosts: one crawl may give so
-- many. The next one begins anew.
CREATE TABLE leads (
    from_site bigint NOT NULL REFERENCES sites ON DELETE CASCADE,
    hash      bytea  NOT NULL,
    to_site   bigint NOT NULL REFERENCES sites ON DELETE CASCADE,
    wanted    float8 NOT NULL,
    PRIMARY KEY (from_site, hash)
);
CREATE INDEX leads_to ON leads (to_site);

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

-- What the present crawl of a site got from each user's directory ('' is what lies
-- in none): one user of a shared host who makes pages or bytes without end is left
-- out, and the others are crawled on. left_out counts the links that were not asked
-- for by that.
CREATE TABLE crawl_sections (
    site_id  bigint NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    dir      text   NOT NULL,
    read     int    NOT NULL,
    relevant int    NOT NULL,
    bytes    bigint NOT NULL,
    left_out int    NOT NULL,
    pauses   int    NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX crawl_sections_dir ON crawl_sections (site_id, md5(dir));

-- URLs ---------------------------------------------------------------------

-- Every URL ever met on a site: the frontier (state 0) and the record.
-- hash is the first 16 bytes of SHA-256 of the URL's identity. seq is the order
-- of discovery: with a cache each connection would hand out numbers of its own,
-- and what was found later could come first. was is what the URL was when it last
-- answered (1 page, 2 document): a 304 says that it is so still, and a 404 at what
-- was a document that it vanished.
CREATE SEQUENCE urls_seq CACHE 1;
CREATE TABLE urls (
    site_id       bigint   NOT NULL,
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
    -- Processes that ended while they worked on what it answered.
    deaths        smallint NOT NULL DEFAULT 0,
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
    -- Whether a page is about a subject that is collected; NULL where nobody judged.
    about         boolean,
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
CREATE INDEX urls_deaths  ON urls (site_id) WHERE deaths > 0;
CREATE INDEX urls_due     ON urls (site_id, due_at) WHERE due_at IS NOT NULL;
-- URLs that a limit keeps from being asked for, by its name (outcome).
CREATE INDEX urls_skipped ON urls (site_id, outcome) WHERE state = 5;

-- How many URLs of a site are in which state, and what they were when they last
-- answered, so that nobody need count them: the sum of n. Each statement that changes urls adds rows, in its transaction, and
-- locks none: two crawls that give each other leads must not wait for each
-- other's counts. Now and then the rows of a site are added up.
CREATE TABLE url_counts (
    site_id bigint   NOT NULL,
    state   smallint NOT NULL,
    was     smallint NOT NULL,
    n       bigint   NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 200);
CREATE INDEX url_counts_site ON url_counts (site_id);

-- +goose StatementBegin
CREATE FUNCTION count_urls() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed bigint[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH c AS (INSERT INTO url_counts SELECT site_id, state, was, count(*) FROM now_urls GROUP BY 1, 2, 3 RETURNING site_id)
        SELECT array_agg(site_id) INTO changed FROM c;
    ELSIF TG_OP = 'DELETE' THEN
        WITH c AS (INSERT INTO url_counts
            SELECT site_id, state, was, -count(*) FROM was_urls GROUP BY 1, 2, 3 RETURNING site_id)
        SELECT array_agg(site_id) INTO changed FROM c;
    ELSE
        WITH c AS (INSERT INTO url_counts
            SELECT site_id, state, was, sum(n)
            FROM (SELECT site_id, state, was, 1 AS n FROM now_urls UNION ALL SELECT site_id, state, was, -1 FROM was_urls) u
            GROUP BY 1, 2, 3 HAVING sum(n) <> 0 RETURNING site_id)
        SELECT array_agg(site_id) INTO changed FROM c;
    END IF;
    IF changed IS NOT NULL AND random() < 0.02 THEN
        WITH gone AS (DELETE FROM url_counts WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM url_counts WHERE site_id = ANY (changed) FOR UPDATE SKIP LOCKED)) RETURNING *)
        INSERT INTO url_counts SELECT site_id, state, was, sum(n) FROM gone GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER urls_inserted AFTER INSERT ON urls REFERENCING NEW TABLE AS now_urls
    FOR EACH STATEMENT EXECUTE FUNCTION count_urls();
CREATE TRIGGER urls_updated AFTER UPDATE ON urls REFERENCING OLD TABLE AS was_urls NEW TABLE AS now_urls
    FOR EACH STATEMENT EXECUTE FUNCTION count_urls();
CREATE TRIGGER urls_deleted AFTER DELETE ON urls REFERENCING OLD TABLE AS was_urls
    FOR EACH STATEMENT EXECUTE FUNCTION count_urls();

-- Which pages link to which files, by the hashes of their URLs: the page's row of
-- urls, and the URL that was asked for where a document was found. A page has its
-- rows replaced when it is read again, and loses them when it is gone.
CREATE TABLE links (
    site_id    bigint NOT NULL, -- of the page
    page       bytea  NOT NULL,
    target     bytea  NOT NULL, -- on any host
    first_seen date   NOT NULL,
    last_seen  date   NOT NULL,
    PRIMARY KEY (site_id, page, target)
);
CREATE INDEX links_target ON links (target);

-- Links of a page that were not taken when it was read: what is wanted, the scope
-- and the lists may be others later. data is packed by crawl; NULL says that the
-- links had no room, so that the page has to be fetched again to be asked. unread
-- names why not all links of the page were looked at: limits of a page, or nofollow. made_of
-- is what a browser asked for to show the page, packed by crawl: NULL where none did.
CREATE TABLE kept_links (
    site_id bigint      NOT NULL, -- of the page
    page    bytea       NOT NULL,
    data    bytea,
    read_at timestamptz NOT NULL DEFAULT now(),
    unread  text        NOT NULL DEFAULT '',
    made_of bytea,
    PRIMARY KEY (site_id, page)
);
CREATE INDEX kept_links_read ON kept_links (read_at);
CREATE INDEX kept_links_unread ON kept_links (site_id) WHERE unread <> '';

-- Pages that lead to documents: those that were read and linked to files, and those by
-- which, as somebody says, a document was found. A page that is gone stays.
CREATE TABLE parents (
    page        bytea PRIMARY KEY, -- identity of its URL
    url         text NOT NULL,
    host        text NOT NULL,
    first_crawl date, -- of the page itself, by whomever; NULL where it is only named
    last_crawl  date,
    -- When a cleaning asked for it, and what the answer was where it is gone.
    asked       date,
    gone        text NOT NULL DEFAULT ''
);
CREATE INDEX parents_host ON parents (host, page);

-- Documents ----------------------------------------------------------------

-- Documents by content. A row exists only when its blob does, or did: the file of
-- a rejected document may be removed to save room (blob_removed_at; blob_left says
-- whether the file of a row so marked is still to be removed). detail says in a line
-- what was wrong with a file; words is how many were read, which tells the fuller of
-- two copies; until taken_until a worker examines it. compared is the version of the
-- wanted papers (record.wanted) that a document was compared with last; 0 where it
-- has not been, or was found at another place since.
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
    detail        text NOT NULL DEFAULT '',
    reader        text NOT NULL DEFAULT '',
    class         text NOT NULL DEFAULT '',
    score         real NOT NULL DEFAULT 0,
    reasons       jsonb NOT NULL DEFAULT '[]',
    pages         int  NOT NULL DEFAULT 0,
    words         int  NOT NULL DEFAULT 0,
    refs          int  NOT NULL DEFAULT 0,
    meta_title    text NOT NULL DEFAULT '',
    first_pages   text NOT NULL DEFAULT '',
    same_as       text NOT NULL DEFAULT '',
    ingestion     text NOT NULL DEFAULT 'new'
        CONSTRAINT documents_ingestion CHECK (ingestion IN ('new', 'ingested', 'failed')),
    tries         int NOT NULL DEFAULT 0,
    taken_until   timestamptz NOT NULL DEFAULT '-infinity',
    taken_by      bigint NOT NULL DEFAULT 0, -- a number that who took it drew
    -- Processes that ended while they judged it, the one that does now included.
    deaths        int NOT NULL DEFAULT 0,
    discovered_at timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    blob_removed_at timestamptz,
    blob_left     boolean NOT NULL DEFAULT false,
    compared      bigint NOT NULL DEFAULT 0,
    -- The entries of its reference list, as far as they were read.
    reference_list text[] NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX documents_id ON documents (id);
CREATE INDEX documents_new ON documents (id) WHERE state = 'new';
CREATE INDEX documents_same_as ON documents (same_as) WHERE same_as <> '';
CREATE INDEX documents_discovered ON documents (discovered_at);
CREATE INDEX documents_blob_left ON documents (sha256) WHERE blob_left;
CREATE INDEX documents_uncompared ON documents (id) WHERE compared = 0 AND first_pages <> '' AND state <> 'failed';
CREATE INDEX documents_not_ingested ON documents (sha256) WHERE ingestion = 'failed';
-- The console lists documents of a state or a class in the order in which they came.
CREATE INDEX documents_state ON documents (state, id);
CREATE INDEX documents_class ON documents (class, id);
-- Archives name by its SHA-1 a document that came before.
CREATE INDEX documents_sha1 ON documents (sha1);

-- Where a document was found. A new version at a known URL keeps the old one.
-- heading stood above the link; meta_title and doi are what a landing page names
-- for its document.
CREATE TABLE locations (
    hash       bytea NOT NULL,
    sha256     text  NOT NULL REFERENCES documents (sha256) ON DELETE CASCADE,
    site_id    bigint NOT NULL,
    url        text  NOT NULL,
    member     text  NOT NULL DEFAULT '',
    parent     text  NOT NULL DEFAULT '',
    anchor     text  NOT NULL DEFAULT '',
    context    text  NOT NULL DEFAULT '',
    heading    text  NOT NULL DEFAULT '',
    meta_title text  NOT NULL DEFAULT '',
    doi        text  NOT NULL DEFAULT '',
    header     jsonb NOT NULL DEFAULT '{}',
    current    boolean NOT NULL DEFAULT true,
    found_at   timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now(),
    gone_at    timestamptz,
    -- asked is the hash of the URL that was asked for where the document was found. A link
    -- that redirects to a file, or leads to an archive of several, has another hash than that.
    asked      bytea NOT NULL DEFAULT '',
    PRIMARY KEY (hash, sha256)
);
CREATE INDEX locations_sha256 ON locations (sha256);
-- The pages of a site that led to documents, wherever these are: a host is found in
-- the beginning of an address.
CREATE INDEX locations_parent ON locations (left(parent, 300) COLLATE "C");
-- The members of an archive are found by its URL.
CREATE INDEX locations_member ON locations (site_id, md5(url)) WHERE member <> '';
CREATE INDEX locations_asked ON locations (asked);
CREATE INDEX locations_site ON locations (site_id, hash, sha256);

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
-- What waits for a person's word, the likeliest first, and what was settled.
CREATE INDEX matches_waiting ON matches ((-score), paper_key, sha256) WHERE settled = '' AND verdict = 'ambiguous';
CREATE INDEX matches_settled_ones ON matches ((-score), paper_key, sha256) WHERE settled <> '';

-- Minhash sketches of texts. Two texts that share a band are worth comparing, so
-- that a copy is found without looking at every row.
CREATE TABLE sketches (
    sha256 text PRIMARY KEY REFERENCES documents (sha256) ON DELETE CASCADE,
    sketch bytea NOT NULL,
    bands  bigint[] NOT NULL
);
-- fastupdate keeps new entries in a list that every look-up would read through.
CREATE INDEX sketches_bands ON sketches USING gin (bands) WITH (fastupdate = off);

-- What each document bears of which a paper may be known (match.Signs), so that
-- those which may be a newly wanted paper are found without reading the others. The
-- statistics tell which signs say little, since many documents bear them.
CREATE TABLE signs (
    sha256 text PRIMARY KEY REFERENCES documents (sha256) ON DELETE CASCADE,
    signs  int[] NOT NULL
);
ALTER TABLE signs ALTER COLUMN signs SET STATISTICS 200;
CREATE INDEX signs_any ON signs USING gin (signs) WITH (fastupdate = off);

-- Statistics ---------------------------------------------------------------

-- One crawl of one site in numbers, written when it ends. requests is what was
-- asked for, fetched what answered (304 included).
CREATE TABLE crawls (
    site_id     bigint NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
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
    site_id     bigint PRIMARY KEY REFERENCES sites (id) ON DELETE CASCADE,
    pages       int NOT NULL,
    relevant    int NOT NULL,
    documents   int NOT NULL,
    accepted    int NOT NULL,
    refs        int NOT NULL,
    verdict     text NOT NULL DEFAULT ''
        CONSTRAINT site_stats_verdict CHECK (verdict IN ('', 'trap', 'barren')),
    measured_at timestamptz NOT NULL DEFAULT now(),
    -- Links from pages of other sites to documents of this one.
    foreign_links int NOT NULL DEFAULT 0,
    -- Pages of which a classifier said what they are about, and of these those about a
    -- subject that is collected.
    judged      int NOT NULL,
    about       int NOT NULL
);
CREATE TABLE directory_stats (
    site_id   bigint NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    path      text NOT NULL,
    name      text NOT NULL,
    pages     int  NOT NULL,
    relevant  int  NOT NULL,
    documents int  NOT NULL,
    accepted  int  NOT NULL,
    avoid     boolean NOT NULL DEFAULT false,
    judged    int NOT NULL,
    about     int NOT NULL
);
CREATE UNIQUE INDEX directory_stats_path ON directory_stats (site_id, md5(path));
CREATE INDEX directory_stats_name ON directory_stats USING hash (name);

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
        CONSTRAINT domains_list CHECK (list IN ('', 'D', 'C', 'core'))
);
CREATE TABLE whitelist (
    url       text NOT NULL,
    domain    text NOT NULL,
    position  int  NOT NULL,
    documents int  NOT NULL,
    origin    text NOT NULL DEFAULT 'generated'
        CONSTRAINT whitelist_origin CHECK (origin IN ('generated', 'imported'))
);
CREATE UNIQUE INDEX whitelist_url ON whitelist (md5(url));
CREATE INDEX whitelist_domain ON whitelist (domain);
-- The console lists the whitelist page by page.
CREATE INDEX whitelist_position ON whitelist (position);
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

-- Jobs ----------------------------------------------------------------------

-- Work that a person sets up, looks at and runs again.
CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL
        CONSTRAINT jobs_kind CHECK (kind IN ('import', 'clean-documents', 'clean-parents', 'whitelist', 'retrieve')),
    options jsonb NOT NULL,
    state text NOT NULL DEFAULT 'new'
        CONSTRAINT jobs_state CHECK (state IN ('new', 'running', 'ended', 'failed', 'cancelled')),
    note text NOT NULL DEFAULT '',
    run integer NOT NULL DEFAULT 1,
    done bigint NOT NULL DEFAULT 0,
    position jsonb NOT NULL DEFAULT '{}',
    counters jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    -- Attempts that began where the job is, and were not heard of since; and up to which of
    -- its resources they are taken one at a time, since one of them may end the worker.
    attempts integer NOT NULL DEFAULT 0,
    wary bigint NOT NULL DEFAULT 0
);

-- What became of each resource of an import's log, in the log's order. A row
-- without an outcome is begun. Its job is not checked row by row: the transactions
-- that write rows look at it.
CREATE TABLE import_records (
    job bigint NOT NULL,
    n bigint NOT NULL,
    url text NOT NULL,
    source text NOT NULL DEFAULT '',
    known boolean NOT NULL DEFAULT false,
    outcome text NOT NULL DEFAULT '',
    detail text NOT NULL DEFAULT '',
    kind text NOT NULL DEFAULT '',
    class text NOT NULL DEFAULT '',
    sha256 text NOT NULL DEFAULT '',
    bytes bigint NOT NULL DEFAULT 0,
    difference text NOT NULL DEFAULT '',
    -- What a log says of how and when a resource was found.
    parent text NOT NULL DEFAULT '',
    depth integer,
    seed boolean NOT NULL DEFAULT false,
    crawled_at timestamptz,
    PRIMARY KEY (job, n)
);
CREATE INDEX import_records_differ ON import_records (job, n) WHERE difference <> '';

-- Documents that a cleaning took away. While a row is not done, its document and
-- its file are still to go. A fetch that kept the file a moment before stores it
-- anew when it finds a row here.
CREATE TABLE cleaned (
    sha256 text PRIMARY KEY,
    job bigint NOT NULL,
    done boolean NOT NULL DEFAULT false,
    cleaned_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX cleaned_left ON cleaned (sha256) WHERE NOT done;

-- Collections by topic ------------------------------------------------------

-- Collections by topic: one crawl over many hosts makes those of a file of topics.
CREATE TABLE collections (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CONSTRAINT collections_name UNIQUE,
    options jsonb NOT NULL,
    topics jsonb NOT NULL,
    model jsonb,
    state text NOT NULL DEFAULT 'new'
        CONSTRAINT collections_state CHECK (state IN ('new', 'running', 'ended', 'failed', 'cancelled')),
    note text NOT NULL DEFAULT '',
    -- Since when it is paused. Its pauses are not time that it takes.
    paused_at timestamptz,
    requests integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- When it was asked for last, which is before its workflow starts.
    asked_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    ended_at timestamptz,
    -- What robots.txt or the blacklist refused is no request. Numbers (n) are given to both.
    refused integer NOT NULL DEFAULT 0,
    -- How often it was asked for: the end of one run is not that of the next.
    run integer NOT NULL DEFAULT 1,
    -- While a crawl tunnels: how many new sites with a page on topic it came to since.
    tunnel integer,
    -- What the crawl learns from its links; a lesson is begun at so many requests by one slice of all.
    lesson integer NOT NULL DEFAULT 0,
    learnt_at integer NOT NULL DEFAULT 0,
    learnt jsonb,
    -- For how many seconds the earlier runs crawled: a limit is for all of them.
    spent double precision NOT NULL DEFAULT 0
);

-- The pages that make the centroid of a topic: a search found them, or a person
-- named them. One without an outcome was not asked for yet.
CREATE TABLE collection_results (
    collection integer NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
    topic text NOT NULL,
    place integer NOT NULL,
    url text NOT NULL,
    outcome text NOT NULL DEFAULT '',
    counts jsonb,
    -- Where the crawl begins for a page of a centroid, if not at the page itself.
    parent text NOT NULL DEFAULT '',
    PRIMARY KEY (collection, topic, place)
);

-- Every URL met: those that wait, by priority over all hosts, and what became of
-- the others. n numbers them in the order in which they were asked for.
CREATE TABLE collection_urls (
    collection integer NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
    hash bytea NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    host text NOT NULL,
    url text NOT NULL,
    parent text NOT NULL DEFAULT '',
    anchor text NOT NULL DEFAULT '',
    depth integer NOT NULL DEFAULT 0,
    off double precision NOT NULL DEFAULT 0,
    priority double precision NOT NULL DEFAULT 0,
    waiting boolean NOT NULL DEFAULT true,
    tries integer NOT NULL DEFAULT 0,
    next_try timestamptz NOT NULL DEFAULT '-infinity',
    n integer,
    at timestamptz,
    kind text NOT NULL DEFAULT '',
    outcome text NOT NULL DEFAULT '',
    reason text NOT NULL DEFAULT '',
    title text NOT NULL DEFAULT '',
    topic text NOT NULL DEFAULT '',
    correlation double precision NOT NULL DEFAULT 0,
    sha256 text NOT NULL DEFAULT '',
    bytes bigint NOT NULL DEFAULT 0,
    print bigint NOT NULL DEFAULT 0,
    terms text[],
    deaths integer NOT NULL DEFAULT 0, -- of slices over this URL, with one that is at it
    PRIMARY KEY (collection, hash)
);
CREATE INDEX collection_urls_host ON collection_urls (collection, host, priority DESC, seq) WHERE waiting;
CREATE INDEX collection_urls_asked ON collection_urls (collection, n) WHERE NOT waiting;
-- With a limit of requests each of them counts those under way first.
CREATE INDEX collection_urls_taken ON collection_urls (collection) WHERE deaths > 0;
CREATE INDEX collection_urls_read ON collection_urls (collection) WHERE kind <> '';
CREATE INDEX collection_urls_print ON collection_urls (collection, print) WHERE print <> 0;

-- What waits is chosen by its host: each host with something to ask for has the best
-- of it (best, best_seq, due), so that the next request costs the same however much
-- waits. about counts the pages on topic, worth is
-- what that makes the host worth beside its best URL; pages were read, and relevant
-- of them were not off topic: a host of which hardly any was is left.
CREATE TABLE collection_hosts (
    collection integer NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
    host text NOT NULL,
    requests integer NOT NULL DEFAULT 0,
    best double precision,
    best_seq bigint,
    due timestamptz,
    failures integer NOT NULL DEFAULT 0,
    about integer NOT NULL DEFAULT 0,
    worth double precision NOT NULL DEFAULT 0,
    pages integer NOT NULL DEFAULT 0,
    relevant integer NOT NULL DEFAULT 0,
    domain text NOT NULL,
    PRIMARY KEY (collection, host)
);
CREATE INDEX collection_hosts_best ON collection_hosts (collection, (best + worth) DESC, best_seq)
    WHERE best IS NOT NULL;

-- What a registrable domain takes of a crawl, on all of its hosts: requests, and URLs
-- that were entered.
CREATE TABLE collection_domains (
    collection integer NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
    domain text NOT NULL,
    requests integer NOT NULL DEFAULT 0,
    urls integer NOT NULL DEFAULT 0,
    PRIMARY KEY (collection, domain)
);

-- What is in a collection, by topic.
CREATE TABLE collection_entries (
    collection integer NOT NULL,
    topic text NOT NULL,
    hash bytea NOT NULL,
    correlation double precision NOT NULL,
    PRIMARY KEY (collection, topic, hash),
    FOREIGN KEY (collection, hash) REFERENCES collection_urls(collection, hash) ON DELETE CASCADE
);

-- What a topic's classifier learns anew from: the words of pages that the crawl read, the
-- pages that a person labelled (in the classifier's file, or judged since), and what each
-- learning came to. One that failed has no model, and a note why.
CREATE TABLE collection_words (
    collection integer NOT NULL,
    hash bytea NOT NULL,
    words text NOT NULL,
    PRIMARY KEY (collection, hash),
    FOREIGN KEY (collection, hash) REFERENCES collection_urls(collection, hash) ON DELETE CASCADE
);
CREATE TABLE collection_examples (
    collection integer NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
    topic text NOT NULL,
    hash bytea NOT NULL,
    url text NOT NULL,
    about boolean NOT NULL,
    judged boolean NOT NULL,
    words text NOT NULL,
    PRIMARY KEY (collection, topic, hash)
);
CREATE TABLE collection_learnings (
    collection integer NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
    topic text NOT NULL,
    pages integer NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    told integer NOT NULL DEFAULT 0,
    own integer NOT NULL DEFAULT 0,
    accuracy double precision,
    note text NOT NULL,
    model jsonb,
    PRIMARY KEY (collection, topic, pages)
);

-- Where the pages of a crawl by topic lead, followed or not: the hashes of the targets, and
-- the words of each link.
CREATE TABLE collection_links (
    collection integer NOT NULL,
    hash bytea NOT NULL,
    alias bytea,
    targets bytea[] NOT NULL,
    anchors text[] NOT NULL,
    PRIMARY KEY (collection, hash),
    FOREIGN KEY (collection, hash) REFERENCES collection_urls(collection, hash) ON DELETE CASCADE
);

-- The console ---------------------------------------------------------------

-- Who may use the console, and who is logged in. Neither a password nor what a
-- browser shows to be let in can be read from here.
CREATE TABLE console_users (
    name     text PRIMARY KEY,
    password text NOT NULL, -- argon2id, with its salt and parameters
    added_at timestamptz NOT NULL DEFAULT now(),
    role     text NOT NULL CONSTRAINT console_users_role CHECK (role IN ('reader', 'editor', 'administrator')),
    -- A user without a password is known to an identity provider, as its subject.
    subject  text CONSTRAINT console_users_subject UNIQUE,
    CONSTRAINT console_users_known CHECK ((password = '') = (subject IS NOT NULL))
);
CREATE TABLE console_sessions (
    token      bytea PRIMARY KEY, -- SHA-256 of the cookie
    user_name  text NOT NULL REFERENCES console_users (name) ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX console_sessions_user ON console_sessions (user_name);
