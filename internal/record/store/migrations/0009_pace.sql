-- +goose Up

-- What next_allowed_at is made of, as far as it matters later. paced_until is the
-- ordinary pause after the last request, asked_until what the host itself asked
-- for (Retry-After): neither is waived by a retry, while the backoff after a
-- failure is. A host and its name with "www." wait for one another by them.
ALTER TABLE sites ADD COLUMN paced_until timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN asked_until timestamptz NOT NULL DEFAULT '-infinity';

-- The last number of urls_seq when a crawl ended as a trap, 0 where it did not:
-- what was found later was not what kept the crawl.
ALTER TABLE sites ADD COLUMN trap_seq bigint NOT NULL DEFAULT 0;

-- What is asked of a site's crawl follows from the harvests that want it now.
ALTER TABLE sites DROP COLUMN options;

-- Each try at making a row uses up a number: four bytes of them do not last a large
-- fleet for many years.
ALTER TABLE sites ALTER COLUMN id TYPE bigint;
ALTER TABLE scopes ALTER COLUMN site_id TYPE bigint;
ALTER TABLE harvest_sites ALTER COLUMN site_id TYPE bigint;
ALTER TABLE urls ALTER COLUMN site_id TYPE bigint;
ALTER TABLE locations ALTER COLUMN site_id TYPE bigint;
ALTER TABLE crawls ALTER COLUMN site_id TYPE bigint;
ALTER TABLE site_stats ALTER COLUMN site_id TYPE bigint;
ALTER TABLE directory_stats ALTER COLUMN site_id TYPE bigint;
ALTER SEQUENCE sites_id_seq AS bigint;

-- What one worker of all does for all, by name: when it was done last, and what
-- it brought where others want to know.
CREATE TABLE chores (
    name   text PRIMARY KEY,
    last   timestamptz NOT NULL DEFAULT '-infinity',
    result jsonb
);

-- +goose Down
DROP TABLE chores;
ALTER TABLE sites ADD COLUMN options jsonb NOT NULL DEFAULT '{}', DROP COLUMN paced_until, DROP COLUMN asked_until, DROP COLUMN trap_seq;
