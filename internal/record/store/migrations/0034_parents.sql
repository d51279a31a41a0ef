-- +goose Up
-- Pages that lead to documents: those that were read and linked to files, and those by
-- which, as somebody says, a document was found. A page that is gone stays.
CREATE TABLE parents (
    page        bytea PRIMARY KEY, -- identity of its URL
    url         text NOT NULL,
    host        text NOT NULL,
    first_crawl date, -- of the page itself, by whomever; NULL where it is only named
    last_crawl  date
);
CREATE INDEX parents_host ON parents (host, page);

INSERT INTO parents (page, url, host, first_crawl, last_crawl)
    SELECT DISTINCT ON (k.page) k.page, coalesce(u.url, i.url), s.host, k.first, CASE WHEN u.state = 1 THEN greatest(k.last, u.fetched_at::date) ELSE k.last END
    FROM (SELECT site_id, page, min(first_seen) AS first, max(last_seen) AS last FROM links GROUP BY 1, 2) k JOIN sites s ON s.id = k.site_id
        LEFT JOIN urls u ON u.site_id = k.site_id AND u.hash = k.page LEFT JOIN imported_pages i ON i.site_id = k.site_id AND i.hash = k.page
    WHERE coalesce(u.url, i.url) IS NOT NULL ORDER BY k.page;
INSERT INTO parents (page, url, host)
    SELECT DISTINCT ON (u.hash) u.hash, u.url, s.host FROM (SELECT DISTINCT parent FROM locations WHERE parent <> '') l JOIN urls u ON u.url = l.parent JOIN sites s ON s.id = u.site_id
    ORDER BY u.hash ON CONFLICT DO NOTHING;
DROP TABLE imported_pages;

-- +goose Down
CREATE TABLE imported_pages (
    site_id bigint NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
    hash    bytea  NOT NULL,
    url     text   NOT NULL,
    PRIMARY KEY (site_id, hash)
);
INSERT INTO imported_pages (site_id, hash, url) SELECT s.id, p.page, p.url FROM parents p JOIN sites s ON s.host = p.host;
DROP TABLE parents;
