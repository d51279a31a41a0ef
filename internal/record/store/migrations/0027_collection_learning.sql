-- +goose Up
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
    run integer NOT NULL,
    pages integer NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    told integer NOT NULL,
    own integer NOT NULL,
    accuracy double precision,
    note text NOT NULL,
    model jsonb,
    PRIMARY KEY (collection, topic, run, pages)
);

-- +goose Down
DROP TABLE collection_learnings;
DROP TABLE collection_examples;
DROP TABLE collection_words;
