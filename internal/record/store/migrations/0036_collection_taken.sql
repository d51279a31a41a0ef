-- +goose Up
-- With a limit of requests each of them counts those under way first.
CREATE INDEX collection_hosts_taken ON collection_hosts (collection) WHERE handling IS NOT NULL;

-- +goose Down
DROP INDEX collection_hosts_taken;
