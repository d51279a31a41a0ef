package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

// leastRoles is who may do what; an address that is not here is one too many.
func leastRoles() map[string]store.Role {
	all := map[string]store.Role{
		"POST /harvests": store.Editor, "POST /estimates": store.Editor, "POST /harvests/{id...}": store.Editor, "POST /review": store.Editor, "POST /jobs": store.Editor, "POST /jobs/{id}": store.Editor,
		"POST /schedules":    store.Editor,
		"POST /sites/{host}": store.Editor, "POST /people/{id...}": store.Editor, "POST /uploads": store.Editor, "POST /uploads/{name}": store.Editor, "POST /lists/{name}": store.Editor, "POST /lists": store.Editor, "POST /collections": store.Editor, "POST /collections/{name}": store.Editor,
		"POST /holdings":  store.Editor,
		"POST /password":  store.Reader,
		"POST /blacklist": store.Administrator, "GET /users": store.Administrator, "POST /users": store.Administrator,
	}
	for _, page := range []string{"{$}", "harvests/{id...}", "reports/{id...}", "papers", "papers/{key...}", "sites", "sites/{host}", "documents", "documents/{sha256}", "documents/{sha256}/page.png", "documents/{sha256}/file",
		"exports/{id...}", "urls", "review", "jobs", "jobs/{id}", "jobs/{id}/lines.csv", "collections", "collections/{name}", "collections/{name}/export", "parents", "whitelist", "blacklist", "statistics", "openapi.json", "holdings", "schedules", "failures", "failures.csv", "papers.csv", "homepages", "people/{id...}", "password"} {
		all["GET /"+page] = store.Reader
	}
	return all
}

// TestRolesOfEveryAddress: each has a least role, which is named here too, and serves
// who has it or a greater one, and nobody else.
func TestRolesOfEveryAddress(t *testing.T) {
	t.Parallel()
	d := open(t, nil, true)
	d.sample()
	cookies := map[store.Role]string{}
	for _, role := range store.Roles() {
		require.NoError(t, AddUser(t.Context(), d.DB, "a-"+string(role), password, role))
		d.another()
		_, set := d.login("a-"+string(role), password)
		require.Len(t, set, 1)
		cookies[role] = set[0].Name + "=" + set[0].Value
	}
	d.another()
	want := leastRoles()
	for _, p := range d.places() {
		least, ok := want[p.pattern]
		require.True(t, ok, "%s has no role in this table", p.pattern)
		require.Equal(t, least, p.may, p.pattern)
		delete(want, p.pattern)
		method, path, _ := strings.Cut(p.pattern, " ")
		path = strings.NewReplacer("{$}", "", "{id...}", url.PathEscape(sampleHarvest), "{key...}", "none", "{host}", "none", "{name}", "none", "{sha256}", "none", "{id}", "1").Replace(path)
		allowed := false
		for _, role := range store.Roles() {
			allowed = allowed || role == least
			for _, accept := range []string{"text/html", "application/json"} {
				res, body := d.do(method, path, "", "Cookie", cookies[role], "Accept", accept)
				require.Equal(t, !allowed, res.StatusCode == http.StatusForbidden, "%s as %s: %d %s", p.pattern, role, res.StatusCode, body)
			}
		}
		d.gives(http.StatusUnauthorized, method, path, "", "Accept", "application/json")
	}
	require.Empty(t, want, "these are served no more")
	require.Empty(t, d.ear.heard)
	require.False(t, who{role: store.Administrator}.may(""), "an address without a role serves nobody")
	require.False(t, who{role: "owner"}.may(store.Reader))
}

// TestPagesOfferWhatMayBeDone: who may only look sees no form that changes anything.
func TestPagesOfferWhatMayBeDone(t *testing.T) {
	t.Parallel()
	d := open(t, nil, true)
	d.sample()
	for _, role := range store.Roles() {
		require.NoError(t, AddUser(t.Context(), d.DB, string(role), password, role))
	}
	forms := map[store.Role]int{}
	for _, role := range store.Roles() {
		d.another()
		_, _ = d.login(string(role), password)
		for _, path := range samplePages() {
			if path == "/users" && role != store.Administrator {
				continue
			}
			page := d.page(path)
			forms[role] += strings.Count(page, `method="post"`)
			for _, own := range []string{`action="/logout"`, `action="/password"`} {
				forms[role] -= strings.Count(page, own)
			}
		}
	}
	require.Zero(t, forms[store.Reader])
	require.Greater(t, forms[store.Editor], 5)
	require.Greater(t, forms[store.Administrator], forms[store.Editor])
}

// TestAdministratorsSayWhoMay: they let in, give roles and shut out, from the next
// request on, all but themselves.
func TestAdministratorsSayWhoMay(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada")
	_, _ = d.login("ada", password)
	ada := d.client
	res, body := d.post("/users", url.Values{"do": {"add"}, "user": {"bob"}, "password": {password}, "again": {password + "!"}})
	require.Equal(t, http.StatusBadRequest, res.StatusCode, body)
	require.Contains(t, body, "the two passwords differ")
	res, body = d.post("/users", url.Values{"do": {"add"}, "user": {"bob"}, "password": {password}, "again": {password}})
	require.Equal(t, http.StatusSeeOther, res.StatusCode, body)
	require.Contains(t, d.page("/users"), "bob")

	d.another()
	_, _ = d.login("bob", password)
	bob := d.client
	d.gives(http.StatusForbidden, "POST", "/harvests", "goal=conf/x") // the first is an administrator, and others only look
	require.NotContains(t, d.page("/"), "/users")

	d.client = ada
	_, _ = d.post("/users", url.Values{"do": {"role"}, "user": {"bob"}, "role": {"administrator"}})
	_, _ = d.post("/users", url.Values{"do": {"add"}, "user": {"bob"}, "password": {password}, "role": {""}})
	d.client = bob
	_, _ = d.login("bob", password)
	require.Contains(t, d.page("/users"), "this is you", "a new password keeps the role")
	require.Contains(t, d.page("/users"), `<option value="">the same; reader for somebody new</option>`)
	d.client = ada
	for form, want := range map[string]int{"do=remove&user=ada": 400, "do=role&user=ada&role=reader": 400, "do=role&user=bob": 400, "do=role&user=bob&role=owner": 400, "do=remove&user=cy": 404,
		"do=role&user=cy&role=reader": 404, "do=add&user=cy&password=short": 400, "do=add&user=c+y&password=correct+horse+battery": 400} {
		d.gives(want, "POST", "/users", form)
	}
	_, _ = d.post("/users", url.Values{"do": {"remove"}, "user": {"bob"}})
	d.client = bob
	d.gives(http.StatusSeeOther, "GET", "/", "")
}
