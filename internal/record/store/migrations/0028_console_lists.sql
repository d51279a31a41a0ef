-- +goose Up
-- The console lists documents of a state or a class in the order in which they came, and
-- harvests from the latest on, a page at a time.
CREATE INDEX documents_state ON documents (state, id);
CREATE INDEX documents_class ON documents (class, id);
CREATE INDEX harvests_started ON harvests (started_at, id);

-- +goose Down
DROP INDEX harvests_started;
DROP INDEX documents_class;
DROP INDEX documents_state;
