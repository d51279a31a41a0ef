package console

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

// TestPeopleChangeTheirPassword by naming the one until now; what they may do stays.
func TestPeopleChangeTheirPassword(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada", "bob")
	const other = "another password"
	_, _ = d.login("bob", password)
	require.Contains(t, d.page("/password"), `name="old"`)
	for _, wrong := range []url.Values{{"old": {"wrong password"}, "password": {other}}, {"old": {password}, "password": {"short"}}, {"password": {other}}} {
		d.gives(http.StatusBadRequest, "POST", "/password", wrong.Encode())
	}
	hurried, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.NoError(t, hashes.Acquire(t.Context(), hashesATime))
	require.ErrorIs(t, setPassword(hurried, d.DB, "bob", "", other), context.DeadlineExceeded,
		"while others are hashed")
	hashes.Release(hashesATime)
	d.gives(http.StatusSeeOther, "POST", "/password", url.Values{"old": {password}, "password": {other}}.Encode())
	d.gives(http.StatusUnauthorized, "GET", "/sites", "", "Accept", "application/json") // logged in nowhere any more
	for said, want := range map[string]int{password: http.StatusUnauthorized, other: http.StatusSeeOther} {
		code, _ := d.login("bob", said)
		require.Equal(t, want, code)
	}
	d.gives(http.StatusForbidden, "POST", "/users", "do=remove&user=ada") // still one who looks
	until, err := d.Password(t.Context(), "bob")
	require.NoError(t, err)
	d.exec(`DELETE FROM console_users WHERE name='bob'`)
	require.ErrorIs(t, setPassword(t.Context(), d.DB, "bob", until, other), store.ErrNoUser,
		"who was removed meanwhile")
	for _, self := range []string{"ada", "ADA"} {
		_, _ = d.login("ada", password)
		form := url.Values{"do": {"add"}, "user": {self}, "password": {other}, "role": {"reader"}}
		d.gives(http.StatusBadRequest, "POST", "/users", form.Encode())
	}
	code, _ := d.login("ada", password)
	require.Equal(t, http.StatusSeeOther, code, "others keep theirs")
}
