-- +goose Up
-- Links of a page that were not taken when it was read: what is wanted, the scope
-- and the lists may be others later. data is packed by crawl; NULL says that the
-- links had no room, so that the page has to be fetched again to be asked.
CREATE TABLE kept_links (
    site_id bigint      NOT NULL, -- of the page
    page    bytea       NOT NULL,
    data    bytea,
    read_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (site_id, page)
);
-- The options under which the links of a site's pages were taken last.
ALTER TABLE sites ADD COLUMN view text NOT NULL DEFAULT '';
-- Links on record that a harvest found for its papers, and those that it took since
-- its options differ from the ones before.
ALTER TABLE harvests ADD COLUMN links_found int NOT NULL DEFAULT 0, ADD COLUMN links_reopened int NOT NULL DEFAULT 0;
