package console

import (
	"context"
	"errors"
	"fmt"

	"gleaner/internal/record/store"
)

// passwordPage is where people give themselves another password.
type passwordPage struct {
	User  string `json:"user"`
	Known bool   `json:"password"` // they have one here
}

func ownPassword(ctx context.Context, _ *Console, _ *asked) (any, error) {
	return passwordPage{user(ctx), asker(ctx).password}, nil
}

// changePassword gives who asks another password in place of the one that they name. They
// are logged in nowhere any more.
func changePassword(ctx context.Context, c *Console, a *asked) (any, error) {
	name := user(ctx)
	err := fmt.Errorf("%w: nobody has to log in here", errInput)
	var until string
	if name != "" {
		until, err = c.App.DB.Password(ctx, name)
	}
	if err == nil {
		err = c.doors.check(ctx, c.App.DB.UserRecords, c.address(a.Request), name, a.get("old"))
	}
	switch {
	case err == nil:
		err = setPassword(ctx, c.App.DB, name, until, a.get("password"))
	case errors.Is(err, errWrong): // and not a matter of logging in
		err = fmt.Errorf("%w: the password until now is another one", errInput)
	}
	if errors.Is(err, ErrPassword) || errors.Is(err, store.ErrNoUser) {
		err = fmt.Errorf("%w: %w", errInput, err)
	}
	return c.done(ctx, a, donePage{name, "has another password", redirect{"/", "Log in with the new password."}}, err)
}
