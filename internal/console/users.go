package console

import (
	"context"
	"errors"
	"fmt"

	"gleaner/internal/each"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// usersPage lists who may use the console.
type usersPage struct {
	Users []store.User `json:"users"`
	Self  string       `json:"self,omitempty"` // who asks
}

func roleNames() []string { return each.Text(store.Roles()) }

func users(ctx context.Context, c *Console, _ *asked) (any, error) {
	all, err := c.App.DB.Users(ctx)
	return usersPage{each.List(all), user(ctx)}, err
}

// doRole says what a user may do.
const doRole = "role"

// changeUser does something to another user: an administrator stays one, so that there
// is always one left.
func changeUser(ctx context.Context, c *Console, a *asked) (any, error) {
	name, role, db := folded(a.get("user")), store.Role(a.get("role")), c.App.DB
	var err error
	switch do := a.get("do"); {
	case name == user(ctx):
		err = fmt.Errorf("%w: this is you: another administrator does that", errInput)
	case do == doAdd && a.Form.Has("again") && a.get("again") != a.get("password"):
		err = fmt.Errorf("%w: the two passwords differ: write the same one twice", errInput)
	case do == doAdd:
		if user(ctx) == "" { // nobody has to log in yet, and whoever could not any more would be shut out
			role = store.Administrator
		}
		err = AddUser(ctx, db, name, a.get("password"), role)
	case do == doRemove:
		err = db.RemoveUser(ctx, name)
	case role == "":
		err = fmt.Errorf("%w: role is missing", errInput)
	default:
		err = db.SetRole(ctx, name, role)
	}
	switch {
	case errors.Is(err, store.ErrNoUser):
		err = program.Unknown{Reason: err}
	case errors.Is(err, ErrPassword), errors.Is(err, ErrUserName):
		err = fmt.Errorf("%w: %w", errInput, err)
	}
	says := map[string]string{doAdd: "may log in by the password given", doRole: "is " + article(role) + " now", doRemove: "is shut out"}
	return c.done(ctx, a, donePage{name, says[a.get("do")], redirect{to: "/users"}}, err, "role", role)
}
