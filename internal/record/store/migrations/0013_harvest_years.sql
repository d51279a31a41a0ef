-- +goose Up

-- The years of a harvest that leaves some out between its first and its last:
-- "2001-2003,2007"; else ''.
ALTER TABLE harvests ADD COLUMN years text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE harvests DROP COLUMN years;
