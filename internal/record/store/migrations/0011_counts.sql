-- +goose Up

-- How many URLs of a site are in which state, so that nobody need count them: the
-- sum of n. Each statement that changes urls adds rows, in its transaction, and
-- locks none: two crawls that give each other leads must not wait for each
-- other's counts. Now and then the rows of a site are added up.
CREATE TABLE url_counts (
    site_id bigint   NOT NULL,
    state   smallint NOT NULL,
    n       bigint   NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 200);
CREATE INDEX url_counts_site ON url_counts (site_id);

-- +goose StatementBegin
CREATE FUNCTION count_urls() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed bigint[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH c AS (INSERT INTO url_counts SELECT site_id, state, count(*) FROM now_urls GROUP BY 1, 2 RETURNING site_id)
        SELECT array_agg(site_id) INTO changed FROM c;
    ELSIF TG_OP = 'DELETE' THEN
        WITH c AS (INSERT INTO url_counts SELECT site_id, state, -count(*) FROM was_urls GROUP BY 1, 2 RETURNING site_id)
        SELECT array_agg(site_id) INTO changed FROM c;
    ELSE
        WITH c AS (INSERT INTO url_counts
            SELECT site_id, state, sum(n) FROM (SELECT site_id, state, 1 AS n FROM now_urls UNION ALL SELECT site_id, state, -1 FROM was_urls) u
            GROUP BY 1, 2 HAVING sum(n) <> 0 RETURNING site_id)
        SELECT array_agg(site_id) INTO changed FROM c;
    END IF;
    IF changed IS NOT NULL AND random() < 0.02 THEN
        WITH gone AS (DELETE FROM url_counts WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM url_counts WHERE site_id = ANY (changed) FOR UPDATE SKIP LOCKED)) RETURNING *)
        INSERT INTO url_counts SELECT site_id, state, sum(n) FROM gone GROUP BY 1, 2 HAVING sum(n) <> 0;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER urls_inserted AFTER INSERT ON urls REFERENCING NEW TABLE AS now_urls FOR EACH STATEMENT EXECUTE FUNCTION count_urls();
CREATE TRIGGER urls_updated AFTER UPDATE ON urls REFERENCING OLD TABLE AS was_urls NEW TABLE AS now_urls FOR EACH STATEMENT EXECUTE FUNCTION count_urls();
CREATE TRIGGER urls_deleted AFTER DELETE ON urls REFERENCING OLD TABLE AS was_urls FOR EACH STATEMENT EXECUTE FUNCTION count_urls();

-- The triggers keep others from writing until this is counted.
INSERT INTO url_counts SELECT site_id, state, count(*) FROM urls GROUP BY 1, 2;

-- +goose Down
DROP TRIGGER urls_inserted ON urls;
DROP TRIGGER urls_updated ON urls;
DROP TRIGGER urls_deleted ON urls;
DROP FUNCTION count_urls;
DROP TABLE url_counts;
