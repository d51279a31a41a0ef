package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNoUser is returned for a user of the console that the record does not know.
var ErrNoUser = errors.New("no such user")

// User is somebody who may use the console.
type User struct {
	Name  string    `json:"user"`
	Added time.Time `json:"added_at"`
}

// SaveUser lets somebody use the console, with a password of which only the hash is
// given. One who is known gets the new password, and is logged in nowhere any more.
func (db *DB) SaveUser(ctx context.Context, name, hash string) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue(`INSERT INTO console_users (name, password) VALUES ($1,$2) ON CONFLICT (name) DO UPDATE SET password=EXCLUDED.password`, name, hash)
		b.Queue(`DELETE FROM console_sessions WHERE user_name=$1`, name)
		return tx.SendBatch(ctx, b).Close()
	})
}

// RemoveUser shuts somebody out, also where they are logged in.
func (db *DB) RemoveUser(ctx context.Context, name string) error {
	tag, err := db.Pool.Exec(ctx, `DELETE FROM console_users WHERE name=$1`, name)
	if err == nil && tag.RowsAffected() == 0 {
		return fmt.Errorf("%s: %w", name, ErrNoUser)
	}
	return err
}

// Users lists who may use the console, by name.
func (db *DB) Users(ctx context.Context) ([]User, error) {
	return list[User](ctx, db, `SELECT name, added_at FROM console_users ORDER BY name`)
}

// Password returns the hash of a user's password. The error is ErrNoUser for one
// that is not known.
func (db *DB) Password(ctx context.Context, name string) (hash string, err error) {
	err = db.Pool.QueryRow(ctx, `SELECT password FROM console_users WHERE name=$1`, name).Scan(&hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("%s: %w", name, ErrNoUser)
	}
	return hash, err
}

// BeginSession notes that a user is logged in for a while, under the hash of what
// the browser keeps; what ran out of all users is forgotten.
func (db *DB) BeginSession(ctx context.Context, token []byte, name string, lasts time.Duration) error {
	b := &pgx.Batch{}
	b.Queue(`DELETE FROM console_sessions WHERE expires_at <= now()`)
	b.Queue(`INSERT INTO console_sessions (token, user_name, expires_at) VALUES ($1,$2, now() + $3::interval)`, token, name, lasts)
	return db.Pool.SendBatch(ctx, b).Close()
}

// EndSession logs out.
func (db *DB) EndSession(ctx context.Context, token []byte) error {
	_, err := db.Pool.Exec(ctx, `DELETE FROM console_sessions WHERE token=$1`, token)
	return err
}

// Session tells whose session it is, "" for nobody's, and whether there are users
// at all.
func (db *DB) Session(ctx context.Context, token []byte) (name string, users bool, err error) {
	err = db.Pool.QueryRow(ctx, `SELECT coalesce((SELECT user_name FROM console_sessions WHERE token=$1 AND expires_at > now()), ''),
		EXISTS (SELECT 1 FROM console_users)`, token).Scan(&name, &users)
	return name, users, err
}
