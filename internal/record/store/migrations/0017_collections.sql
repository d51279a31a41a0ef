-- +goose Up
-- Collections by topic: one crawl over many hosts makes those of a file of topics.
CREATE TABLE collections (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CONSTRAINT collections_name UNIQUE,
    options jsonb NOT NULL,
    topics jsonb NOT NULL,
    model jsonb,
    state text NOT NULL DEFAULT 'new' CONSTRAINT collections_state CHECK (state IN ('new', 'running', 'ended', 'failed', 'cancelled')),
    note text NOT NULL DEFAULT '',
    paused boolean NOT NULL DEFAULT false,
    requests integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    ended_at timestamptz
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
    PRIMARY KEY (collection, hash)
);
CREATE INDEX collection_urls_waiting ON collection_urls (collection, priority DESC, seq) WHERE waiting;
CREATE INDEX collection_urls_host ON collection_urls (collection, host, priority DESC, seq) WHERE waiting;
CREATE INDEX collection_urls_asked ON collection_urls (collection, n) WHERE NOT waiting;

-- How often a collection's crawl asked each host.
CREATE TABLE collection_hosts (
    collection integer NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
    host text NOT NULL,
    requests integer NOT NULL DEFAULT 0,
    PRIMARY KEY (collection, host)
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

-- +goose Down
DROP TABLE collection_entries;
DROP TABLE collection_hosts;
DROP TABLE collection_urls;
DROP TABLE collection_results;
DROP TABLE collections;
