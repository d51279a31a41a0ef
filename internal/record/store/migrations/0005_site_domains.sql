-- +goose Up

-- Finds the hosts of a domain: their names from the end, without ports.
CREATE INDEX sites_domain ON sites (reverse(split_part(host, ':', 1)) COLLATE "C");

-- +goose Down
DROP INDEX sites_domain;
