package console

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// desk is a console on a record of its own, and a browser before it.
type desk struct {
	*store.DB
	*Console
	ear    *told // what it asks of Temporal
	t      *testing.T
	server *httptest.Server
	client *http.Client
}

func open(t *testing.T, change func(*Options), public bool) *desk {
	t.Helper()
	return openOn(t, devtest.Postgres(t), change, public)
}

// sampled is a console of the sample that asks nobody to log in.
func sampled(t *testing.T, change func(*Options)) *desk {
	t.Helper()
	d := open(t, change, false)
	d.sample()
	return d
}

// openFor is a console of users who log in by a password.
func openFor(t *testing.T, change func(*Options), users ...string) *desk {
	d := open(t, change, true)
	for _, name := range users {
		require.NoError(t, AddUser(t.Context(), d.DB, name, password, ""))
	}
	return d
}

func openOn(t *testing.T, dsn string, change func(*Options), public bool) *desk {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte(dsn), 0o600))
	cfg, err := config.Load(map[string]string{"database-url-file": secret, "data-dir": t.TempDir()}, os.DevNull, nil)
	require.NoError(t, err)
	a, err := app.OpenRecord(t.Context(), cfg, app.Options{})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	ear := &told{}
	o := Options{App: a, Harvests: ear, Jobs: jobTold{ear}, Schedules: &clock{told: ear}}
	if change != nil {
		change(&o)
	}
	c, err := New(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	d := &desk{DB: a.DB, Console: c, ear: ear, t: t, server: httptest.NewServer(c.Handler(public))}
	t.Cleanup(d.server.Close)
	d.another()
	return d
}

// another is a browser that knows nothing yet but the key.
func (d *desk) another() {
	jar, err := cookiejar.New(nil)
	require.NoError(d.t, err)
	at, err := url.Parse(d.server.URL)
	require.NoError(d.t, err)
	jar.SetCookies(at, []*http.Cookie{d.cookie(keySuffix(d.key), d.key, 0)})
	d.client = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (d *desk) do(method, path, body string, headers ...string) (*http.Response, string) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.server.URL+path, strings.NewReader(body))
	require.NoError(d.t, err)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := d.client.Do(req)
	require.NoError(d.t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(d.t, err)
	return res, string(raw)
}

// gives sends a request that is answered with a status, and returns the answer.
func (d *desk) gives(status int, method, path, body string, headers ...string) string {
	d.t.Helper()
	res, answer := d.do(method, path, body, headers...)
	require.Equal(d.t, status, res.StatusCode, "%s %s %.200s: %s", method, path, body, answer)
	return answer
}

// leads sends a request that leads a browser on to an address.
func (d *desk) leads(to, method, path, body string, headers ...string) {
	d.t.Helper()
	res, answer := d.do(method, path, body, headers...)
	require.Equal(d.t, http.StatusSeeOther, res.StatusCode, answer)
	require.Equal(d.t, to, res.Header.Get("Location"))
}

// landed is the page to which an action leads.
func (d *desk) landed(res *http.Response, body string) string {
	d.t.Helper()
	require.Equal(d.t, http.StatusSeeOther, res.StatusCode, body)
	return d.page(res.Header.Get("Location"))
}

// page gets a page that is to be there.
func (d *desk) page(path string) string {
	d.t.Helper()
	return d.gives(http.StatusOK, "GET", path, "")
}

// report waits until the page of a harvest's report shows what a pattern says: one that
// takes over a second to make shows the numbers of before until then.
func (d *desk) report(id, pattern string) {
	d.t.Helper()
	for range 300 {
		if regexp.MustCompile(pattern).MatchString(d.page("/reports/" + url.PathEscape(id))) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	require.Fail(d.t, "the report does not show "+pattern)
}

// read gets a page's data.
func (d *desk) read(into any, path string) {
	d.t.Helper()
	res, body := d.do("GET", path, "", "Accept", "application/json")
	require.Equal(d.t, http.StatusOK, res.StatusCode, "%s: %s", path, body)
	require.Equal(d.t, "application/json", res.Header.Get("Content-Type"))
	require.NoError(d.t, json.Unmarshal([]byte(body), into), body)
}

// answer is what a page says to a program.
func answer[T any](d *desk, path string) (said T) {
	d.t.Helper()
	d.read(&said, path)
	return said
}

// login logs in, and returns the status and the cookies that were set.
func (d *desk) login(name, password string) (int, []*http.Cookie) {
	d.t.Helper()
	res, _ := d.do("POST", "/login", url.Values{"user": {name}, "password": {password}, "next": {"/?after="}}.Encode())
	return res.StatusCode, res.Cookies()
}

func (d *desk) exec(sql string, args ...any) {
	d.t.Helper()
	_, err := d.Pool.Exec(d.t.Context(), sql, args...)
	require.NoError(d.t, err)
	// A busy machine keeps figures for a while.
	d.counts, d.growth = &lately[store.Counts]{}, &lately[growth]{}
	d.counters, d.failures = &lately[store.Counters]{}, &lately[[]store.Failure]{}
}
