package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Errors of users of the console.
var (
	ErrNoUser    = errors.New("no such user")
	ErrUserTaken = errors.New("somebody else is called so")
)

// Role is what a user of the console may do; each may do what those before it may.
type Role string

// The roles.
const (
	Reader        Role = "reader"        // look
	Editor        Role = "editor"        // start and end harvests and jobs, and settle matches
	Administrator Role = "administrator" // say who may use the console, and which hosts are never asked
)

// Roles lists them, the least first.
func Roles() []Role { return []Role{Reader, Editor, Administrator} }

// User is somebody who may use the console.
type User struct {
	Name     string    `json:"user"`
	Role     Role      `json:"role"`
	Provider bool      `json:"by_provider"` // an identity provider knows them, and no password
	Added    time.Time `json:"added_at"`
}

// SaveUser lets somebody use the console, with a password of which only the hash is
// given. One who is known gets the new password, and is logged in nowhere any more.
// Without a role it is the one that they have; of somebody new the least, and of the
// first of all the greatest.
func (db UserRecords) SaveUser(ctx context.Context, name, hash string, role Role) error {
	b := &pgx.Batch{}
	b.Queue(`INSERT INTO console_users (name, password, role) VALUES ($1,$2, coalesce(nullif($3, ''), (SELECT role FROM console_users WHERE name=$1),
			CASE WHEN EXISTS (SELECT 1 FROM console_users) THEN 'reader' ELSE 'administrator' END))
		ON CONFLICT (name) DO UPDATE SET password=EXCLUDED.password, role=EXCLUDED.role, subject=NULL`, name, hash, role)
	b.Queue(`DELETE FROM console_sessions WHERE user_name=$1`, name)
	return db.Send(ctx, b)
}

// ChangePassword gives somebody another password in place of one, both by their hashes, unless
// they were removed or given another meanwhile. They are logged in nowhere any more.
func (db UserRecords) ChangePassword(ctx context.Context, name, until, hash string) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM console_sessions WHERE user_name=$1`, name); err != nil {
			return err
		}
		return unlessNone(fmt.Errorf("%s: %w", name, ErrNoUser))(
			tx.Exec(ctx, `UPDATE console_users SET password=$3 WHERE name=$1 AND password=$2`, name, until, hash))
	})
}

// SaveProvided lets somebody use the console whom an identity provider knows by a
// subject, under a name that nobody else has: not who has a password, nor another
// subject. Who comes by another name than before is called by the new one.
func (db UserRecords) SaveProvided(ctx context.Context, name, subject string, role Role) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM console_users WHERE subject=$1 AND name<>$2`, subject, name); err != nil {
			return err
		}
		return unlessNone(fmt.Errorf("%s: %w", name, ErrUserTaken))(tx.Exec(ctx, `INSERT INTO console_users (name, password, role, subject) VALUES ($1,'',$2,$3)
			ON CONFLICT (name) DO UPDATE SET role=EXCLUDED.role WHERE console_users.subject=EXCLUDED.subject`, name, role, subject))
	})
}

// RemoveProvided shuts out whom an identity provider knows by a subject, also where they
// are logged in. One that is not known is no error.
func (db UserRecords) RemoveProvided(ctx context.Context, subject string) error {
	return db.Exec(ctx, `DELETE FROM console_users WHERE subject=$1`, subject)
}

// EndProvided logs out all whom an identity provider knows; at their next log-in they are
// looked up anew.
func (db UserRecords) EndProvided(ctx context.Context) error {
	return db.Exec(ctx, `DELETE FROM console_sessions s USING console_users u WHERE u.name=s.user_name AND u.subject IS NOT NULL`)
}

// SetRole changes what a user may do, from their next request on.
func (db UserRecords) SetRole(ctx context.Context, name string, role Role) error {
	return unlessNone(fmt.Errorf("%s: %w", name, ErrNoUser))(db.Pool.Exec(ctx, `UPDATE console_users SET role=$2 WHERE name=$1`, name, role))
}

// RemoveUser shuts somebody out, also where they are logged in.
func (db UserRecords) RemoveUser(ctx context.Context, name string) error {
	return unlessNone(fmt.Errorf("%s: %w", name, ErrNoUser))(db.Pool.Exec(ctx, `DELETE FROM console_users WHERE name=$1`, name))
}

// Users lists who may use the console, by name.
func (db UserRecords) Users(ctx context.Context) ([]User, error) {
	return List[User](ctx, db, `SELECT name, role, subject IS NOT NULL, added_at FROM console_users ORDER BY name`)
}

// Password returns the hash of a user's password. The error is ErrNoUser for one
// that is not known, or has none.
func (db UserRecords) Password(ctx context.Context, name string) (hash string, err error) {
	return One(ctx, db, pgx.RowTo[string], fmt.Errorf("%s: %w", name, ErrNoUser),
		`SELECT password FROM console_users WHERE name=$1 AND subject IS NULL`, name)
}

// BeginSession notes that a user is logged in for a while, under the hash of what
// the browser keeps; what ran out of all users is forgotten.
func (db UserRecords) BeginSession(ctx context.Context, token []byte, name string, lasts time.Duration) error {
	b := &pgx.Batch{}
	b.Queue(`DELETE FROM console_sessions WHERE expires_at <= now()`)
	b.Queue(`INSERT INTO console_sessions (token, user_name, expires_at) VALUES ($1,$2, now() + $3::interval)`, token, name, lasts)
	return db.Pool.SendBatch(ctx, b).Close()
}

// EndSession logs out.
func (db UserRecords) EndSession(ctx context.Context, token []byte) error {
	return db.Exec(ctx, `DELETE FROM console_sessions WHERE token=$1`, token)
}

// Session tells whose session it is, without when they were added, and whether there are
// users at all. Nobody has no name.
func (db UserRecords) Session(ctx context.Context, token []byte) (u User, users bool, err error) {
	err = db.Pool.QueryRow(ctx, `SELECT coalesce(u.name, ''), coalesce(u.role, ''), u.subject IS NOT NULL,
			EXISTS (SELECT 1 FROM console_users)
		FROM (SELECT) one LEFT JOIN (console_sessions s JOIN console_users u ON u.name=s.user_name) ON s.token=$1 AND s.expires_at > now()`, token).Scan(&u.Name, &u.Role, &u.Provider, &users)
	return u, users, err
}

// RoleOf is what a user may do. The error is ErrNoUser for one that is not known.
func (db UserRecords) RoleOf(ctx context.Context, name string) (Role, error) {
	return One(ctx, db, pgx.RowTo[Role], fmt.Errorf("%s: %w", name, ErrNoUser), `SELECT role FROM console_users WHERE name=$1`, name)
}
