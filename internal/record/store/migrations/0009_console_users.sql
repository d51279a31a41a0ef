-- +goose Up
-- Who may use the console, and who is logged in. Neither a password nor what a
-- browser shows to be let in can be read from here.
CREATE TABLE console_users (
    name     text PRIMARY KEY,
    password text NOT NULL, -- argon2id, with its salt and parameters
    added_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE console_sessions (
    token      bytea PRIMARY KEY, -- SHA-256 of the cookie
    user_name  text NOT NULL REFERENCES console_users (name) ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX console_sessions_user ON console_sessions (user_name);

-- +goose Down
DROP TABLE console_sessions;
DROP TABLE console_users;
