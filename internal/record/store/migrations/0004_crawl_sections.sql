-- +goose Up

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
    left_out int    NOT NULL
);
CREATE UNIQUE INDEX crawl_sections_dir ON crawl_sections (site_id, md5(dir));

-- +goose Down
DROP TABLE crawl_sections;
