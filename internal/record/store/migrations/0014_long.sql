-- +goose Up

-- Addresses are as long as others make them, and a btree takes no more than 2,704
-- bytes: what is told apart by an address is so by its hash.
ALTER TABLE homepages DROP CONSTRAINT homepages_pkey;
CREATE UNIQUE INDEX homepages_url ON homepages (author_id, md5(url));
ALTER TABLE homepage_overrides DROP CONSTRAINT homepage_overrides_pkey;
CREATE UNIQUE INDEX homepage_overrides_url ON homepage_overrides (author_id, md5(url));
ALTER TABLE scopes DROP CONSTRAINT scopes_pkey;
CREATE UNIQUE INDEX scopes_prefix ON scopes (site_id, md5(prefix));
ALTER TABLE copies DROP CONSTRAINT copies_pkey;
CREATE UNIQUE INDEX copies_url ON copies (paper_key, md5(url));
ALTER TABLE whitelist DROP CONSTRAINT whitelist_pkey;
CREATE UNIQUE INDEX whitelist_url ON whitelist (md5(url));
ALTER TABLE searches DROP CONSTRAINT searches_pkey;
CREATE UNIQUE INDEX searches_query ON searches (provider, md5(query), wanted);
ALTER TABLE directory_stats DROP CONSTRAINT directory_stats_pkey;
CREATE UNIQUE INDEX directory_stats_path ON directory_stats (site_id, md5(path));
DROP INDEX directory_stats_name;
CREATE INDEX directory_stats_name ON directory_stats USING hash (name);

-- A host is found in the beginning of an address.
DROP INDEX locations_parent;
CREATE INDEX locations_parent ON locations (left(parent, 300) COLLATE "C");

-- +goose Down
DROP INDEX locations_parent;
CREATE INDEX locations_parent ON locations (parent COLLATE "C");
DROP INDEX directory_stats_name;
CREATE INDEX directory_stats_name ON directory_stats (name);
DROP INDEX homepages_url, homepage_overrides_url, scopes_prefix, copies_url, whitelist_url, searches_query, directory_stats_path;
ALTER TABLE homepages ADD PRIMARY KEY (author_id, url);
ALTER TABLE homepage_overrides ADD PRIMARY KEY (author_id, url);
ALTER TABLE scopes ADD PRIMARY KEY (site_id, prefix);
ALTER TABLE copies ADD PRIMARY KEY (paper_key, url);
ALTER TABLE whitelist ADD PRIMARY KEY (url);
ALTER TABLE searches ADD PRIMARY KEY (provider, query, wanted);
ALTER TABLE directory_stats ADD PRIMARY KEY (site_id, path);
