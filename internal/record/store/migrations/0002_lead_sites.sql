-- +goose Up

-- Sites are numbered by bigint: a lead could not name every one.
ALTER TABLE leads ALTER COLUMN from_site TYPE bigint, ALTER COLUMN to_site TYPE bigint;

-- +goose Down

ALTER TABLE leads ALTER COLUMN from_site TYPE int, ALTER COLUMN to_site TYPE int;
