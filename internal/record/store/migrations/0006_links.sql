-- +goose Up

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

-- A link that redirects to a file, or leads to an archive of several, has another
-- hash than what was found there.
ALTER TABLE locations ADD COLUMN asked bytea NOT NULL DEFAULT '';
UPDATE locations SET asked = hash WHERE member = '';
CREATE INDEX locations_asked ON locations (asked);

-- Links from pages of other sites to documents of this one.
ALTER TABLE site_stats ADD COLUMN foreign_links int NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE site_stats DROP COLUMN foreign_links;
DROP TABLE links;
ALTER TABLE locations DROP COLUMN asked;
