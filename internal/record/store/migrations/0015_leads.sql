-- +goose Up

-- What the crawl of a site gave to other hosts: one crawl may give so
-- many. The next one begins anew.
CREATE TABLE leads (
    from_site int   NOT NULL REFERENCES sites ON DELETE CASCADE,
    hash      bytea NOT NULL,
    to_site   int   NOT NULL REFERENCES sites ON DELETE CASCADE,
    wanted    float8 NOT NULL,
    PRIMARY KEY (from_site, hash)
);
CREATE INDEX leads_to ON leads (to_site);

-- +goose Down
DROP TABLE leads;
