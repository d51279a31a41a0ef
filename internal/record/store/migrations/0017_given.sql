-- +goose Up

-- Which site led a harvest to another: the one that the harvest knew itself, however
-- many redirects lay between. turn is the place of a site among all that its giver
-- named, 0 for those that the harvest knew itself: sites are crawled in that order,
-- so that who names many hosts does not go before who names few.
ALTER TABLE harvest_sites ADD COLUMN given_by bigint, ADD COLUMN turn int NOT NULL DEFAULT 0;
UPDATE harvest_sites SET turn = 1 WHERE origin = 'lead';
CREATE INDEX harvest_sites_given ON harvest_sites (given_by, harvest_id) WHERE given_by IS NOT NULL;

-- +goose Down
ALTER TABLE harvest_sites DROP COLUMN given_by, DROP COLUMN turn;
