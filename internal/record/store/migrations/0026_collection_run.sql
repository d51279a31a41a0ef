-- +goose Up
-- How often a collection was asked for anew: the end of one run is not that of the next.
ALTER TABLE collections ADD COLUMN run integer NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE collections DROP COLUMN run;
