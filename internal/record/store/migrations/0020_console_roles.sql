-- +goose Up
-- Who may look, who may work, and who may say by whom and how; whoever was let in before
-- might do everything. A user without a password is known to an identity provider, as
-- its subject.
ALTER TABLE console_users ADD COLUMN role text NOT NULL DEFAULT 'administrator'
    CONSTRAINT console_users_role CHECK (role IN ('reader', 'editor', 'administrator'));
ALTER TABLE console_users ALTER COLUMN role DROP DEFAULT;
ALTER TABLE console_users ADD COLUMN subject text CONSTRAINT console_users_subject UNIQUE,
    ADD CONSTRAINT console_users_known CHECK ((password = '') = (subject IS NOT NULL));

-- +goose Down
DELETE FROM console_users WHERE password = '';
ALTER TABLE console_users DROP COLUMN subject, DROP COLUMN role;
