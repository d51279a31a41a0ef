-- +goose Up

-- seq is the order of discovery. With a cache each connection would hand out
-- numbers of its own, and what was found later could come first.
ALTER SEQUENCE urls_seq CACHE 1;

-- +goose Down
ALTER SEQUENCE urls_seq CACHE 64;
