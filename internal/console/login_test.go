package console

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"gleaner/internal/record/store"
)

const password = "correct horse battery"

// TestOnThisMachineNobodyLogsIn: while there are no users the console is this
// machine's alone, whatever name a page of a stranger had lead here.
func TestOnThisMachineNobodyLogsIn(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	require.Contains(t, d.page("/"), "No harvest yet")
	for host, want := range map[string]int{"localhost:8088": 200, "127.0.0.1": 200, "[::1]:8088": 200, "rebound.example:8088": 421, "10.0.0.7": 421, "localhost.example": 421} {
		d.gives(want, "GET", "/", "", "Host", host, "Cookie", d.cookie(keySuffix(d.key), d.key, 0).String())
	}
}

// TestOthersNeedUsers: no console without users listens to others, nor says that it
// is behind a proxy for others.
func TestOthersNeedUsers(t *testing.T) {
	t.Parallel()
	d := open(t, nil, true)
	l, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	up := func(string) { t.Error("it says that it is up") }
	require.ErrorIs(t, d.Serve(t.Context(), l, up), ErrNoUsers)
	behind := *d.Console
	behind.URL = &url.URL{Scheme: "https", Host: "gleaner.library.example"}
	local, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = local.Close() }()
	require.ErrorIs(t, behind.Serve(t.Context(), local, up), ErrNoUsers)
	// The last user may go while it is served.
	d.gives(http.StatusSeeOther, "GET", "/", "")
}

func TestEverybodyLogsInOnceThereIsAUser(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	require.NoError(t, AddUser(t.Context(), d.DB, "ada", password, ""))
	d.leads("/login?next="+url.QueryEscape("/harvests/conf%2Fx?a=b"), "GET", "/harvests/conf%2Fx?a=b", "")
	body := d.gives(http.StatusUnauthorized, "GET", "/", "", "Accept", "application/json")
	require.Contains(t, body, "log in first")
	require.Contains(t, d.page("/login?next=/sites"), `value="/sites"`)

	for name, said := range map[string]string{"ada": "wrong password", "nobody": password} {
		code, cookies := d.login(name, said)
		require.Equal(t, http.StatusUnauthorized, code, name)
		require.Empty(t, cookies)
	}
	code, cookies := d.login("ada", password)
	require.Equal(t, http.StatusSeeOther, code)
	require.Len(t, cookies, 1)
	require.True(t, cookies[0].HttpOnly)
	require.Equal(t, http.SameSiteLaxMode, cookies[0].SameSite)
	require.Contains(t, d.page("/"), "Log out")
	var kept int
	require.NoError(t, d.Pool.QueryRow(t.Context(), `SELECT count(*) FROM console_sessions s, console_users u WHERE encode(s.token, 'escape') LIKE '%' || $1 || '%' OR u.password LIKE '%' || $2 || '%'`,
		cookies[0].Value, password).Scan(&kept))
	require.Zero(t, kept, "what is kept lets nobody in who reads it")

	_, _ = d.do("POST", "/logout", "")
	res, _ := d.do("GET", "/", "", "Cookie", cookies[0].Name+"="+cookies[0].Value)
	require.Equal(t, http.StatusSeeOther, res.StatusCode, "logged out everywhere this cookie is")
}

// TestWhoIsShutOutIsOutAtOnce: with a new password, and when removed.
func TestWhoIsShutOutIsOutAtOnce(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada", "bob")
	_, _ = d.login("ada", password)
	d.page("/")
	require.NoError(t, AddUser(t.Context(), d.DB, "ada", password+"!", ""))
	d.gives(http.StatusSeeOther, "GET", "/", "")
	_, _ = d.login("ada", password+"!")
	d.page("/")
	require.NoError(t, d.RemoveUser(t.Context(), "ada"))
	d.gives(http.StatusSeeOther, "GET", "/", "")
}

// TestASessionEnds twelve hours after its log-in.
func TestASessionEnds(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada")
	_, _ = d.login("ada", password)
	for _, tt := range []struct {
		later string
		want  int
	}{{"11 hours 59 minutes", http.StatusOK}, {"1 minute", http.StatusSeeOther}} {
		d.exec(`UPDATE console_sessions SET expires_at = expires_at - $1::interval`, tt.later)
		d.gives(tt.want, "GET", "/", "")
	}
}

// TestProgramsLogInWithEveryRequest as scripts do, by the same doors.
func TestProgramsLogInWithEveryRequest(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada")
	for said, want := range map[string]int{password: 200, "wrong password": 401} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", d.server.URL+"/?format=json", nil)
		require.NoError(t, err)
		req.SetBasicAuth("Ada", said) // a name is in any case
		res, err := d.client.Do(req)
		require.NoError(t, err)
		_ = res.Body.Close()
		require.Equal(t, want, res.StatusCode)
	}
}

// unforgiving lets nobody guess again for having waited, however slow the machine is.
func (d *desk) unforgiving(key string, a allowance) {
	d.doors.guessers[key] = rate.NewLimiter(0, a.atOnce)
}

// TestGuessesAreBounded: after five wrong passwords of a name not even the right one is
// looked at from that network; all names that it tries count together, too.
func TestGuessesAreBounded(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada")
	d.unforgiving("pair 127.0.0.1 ada", pairGuesses)
	for range pairGuesses.atOnce {
		code, _ := d.login("ada", "a wrong password")
		require.Equal(t, http.StatusUnauthorized, code)
	}
	code, _ := d.login("ada", password)
	require.Equal(t, http.StatusTooManyRequests, code)
	d.doors.guessers["address 127.0.0.1"] = rate.NewLimiter(0, 0)
	code, _ = d.login("bob", password)
	require.Equal(t, http.StatusTooManyRequests, code, "the network is out, whatever the name")
}

// TestOneStrangerKeepsNobodyOut: who guesses a name without end keeps neither its user nor
// others out, and neither does who makes up names without end.
func TestOneStrangerKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada", "cy")
	d.unforgiving("pair 192.0.2.1 ada", pairGuesses)
	for range 2 * pairGuesses.atOnce {
		_ = d.doors.check(t.Context(), d.DB.UserRecords, "192.0.2.1", "ada", "a wrong password")
	}
	require.ErrorIs(t, d.doors.check(t.Context(), d.DB.UserRecords, "192.0.2.1", "ada", password), errTooMany)
	require.NoError(t, d.doors.check(t.Context(), d.DB.UserRecords, "192.0.2.1", "cy", password),
		"another user of that network")
	require.NoError(t, d.doors.check(t.Context(), d.DB.UserRecords, "192.0.2.2", "ada", password),
		"the user from elsewhere")
	for i := range maxGuessers + 10 {
		d.doors.guesses("user "+strconv.Itoa(i), allGuesses).Allow()
	}
	require.Len(t, d.doors.guessers, maxGuessers)
	require.Positive(t, d.doors.guesses("user new", allGuesses).Tokens())
}

// TestWhoHasManyNetworksKeepsNobodyOut: an owner of a /48 of IPv6 addresses has 65,536
// networks to guess from, and they count together, too.
func TestWhoHasManyNetworksKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada", "cy")
	d.unforgiving("pair 2001:db8::/48 ada", sitePairGuesses)
	wrong := 0
	for i := range allGuesses.atOnce + 5 {
		from := network(fmt.Sprintf("2001:db8:0:%x::1", i))
		if errors.Is(d.doors.check(t.Context(), d.DB.UserRecords, from, "ada", "a wrong password"), errWrong) {
			wrong++
		}
	}
	require.Less(t, wrong, allGuesses.atOnce/2)
	require.NoError(t, d.doors.check(t.Context(), d.DB.UserRecords, "192.0.2.2", "ada", password), "from elsewhere")
	other := network("2001:db8:0:ff::1")
	require.NoError(t, d.doors.check(t.Context(), d.DB.UserRecords, other, "cy", password), "another user from there")
	d.unforgiving("address 2001:db8::/48", siteGuesses)
	for range siteGuesses.atOnce {
		d.doors.guesses("address 2001:db8::/48", siteGuesses).Allow()
	}
	require.ErrorIs(t, d.doors.check(t.Context(), d.DB.UserRecords, other, "bob", password), errTooMany)

	back := 0
	for i := range 2 * siteGuesses.atOnce {
		if d.doors.mayReturn(network(fmt.Sprintf("2001:db8:1:%x::1", i))) {
			back++
		}
	}
	require.Less(t, back, 2*siteGuesses.atOnce, "the provider is asked for each")
}

// TestProgramsPayForOneHash: a password that was right is known again, with no hash and
// whatever others guessed, until it is changed.
func TestProgramsPayForOneHash(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada")
	require.NoError(t, d.doors.check(t.Context(), d.DB.UserRecords, "192.0.2.1", "ada", password))
	require.NoError(t, hashes.Acquire(t.Context(), hashesATime)) // nothing can be hashed
	require.NoError(t, d.doors.check(t.Context(), d.DB.UserRecords, "192.0.2.1", "ada", password))
	hashes.Release(hashesATime)
	require.NoError(t, AddUser(t.Context(), d.DB, "ada", password+"!", ""))
	require.ErrorIs(t, d.doors.check(t.Context(), d.DB.UserRecords, "192.0.2.1", "ada", password), errWrong)
}

// TestNamesHaveOneSpelling: nobody is called like another but for capitals or the form of
// letters, nor by signs that nobody can read.
func TestNamesHaveOneSpelling(t *testing.T) {
	t.Parallel()
	d := open(t, nil, true)
	for _, name := range []string{"ada", "ADA", "\uff41da"} {
		require.NoError(t, AddUser(t.Context(), d.DB, name, password, ""), name)
	}
	all, err := d.Users(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	code, _ := d.login("Ada", password)
	require.Equal(t, http.StatusSeeOther, code)
	for _, name := range []string{"\ufffd", "a\ufffdb", "a\u200bb", "a b", "a:b", ""} {
		require.ErrorIs(t, AddUser(t.Context(), d.DB, name, password, ""), ErrUserName, "%q", name)
	}
}

// TestWhatAProxyPassesOnNeedsUsers: a proxy that names this machine as the host that was
// asked for makes nobody an administrator.
func TestWhatAProxyPassesOnNeedsUsers(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "Via", "X-Real-IP", "CF-Connecting-IP"} {
		d.gives(http.StatusForbidden, "GET", "/", "", name, "8.8.8.8")
	}
	require.True(t, forwarded(&http.Request{ProtoMajor: 1}), "by HTTP/1.0")
	require.False(t, forwarded(&http.Request{ProtoMajor: 1, ProtoMinor: 1}))
	require.NoError(t, AddUser(t.Context(), d.DB, "ada", password, ""))
	d.gives(http.StatusSeeOther, "GET", "/", "", "X-Forwarded-For", "8.8.8.8")
}

// TestCookiesBehindTLS: what speaks TLS before the console makes its cookies as safe as its
// own TLS.
func TestCookiesBehindTLS(t *testing.T) {
	t.Parallel()
	d := openFor(t, func(o *Options) { o.BehindTLS = true }, "ada")
	_, cookies := d.login("ada", password)
	require.Len(t, cookies, 1)
	require.True(t, cookies[0].Secure)
	require.Equal(t, "__Host-gleaner", cookies[0].Name)
	res, _ := d.do("GET", "/login", "")
	require.NotEmpty(t, res.Header.Get("Strict-Transport-Security"))
}

// TestWrongNumbersAreInput: numbers that the record cannot hold are wrong input, not a
// failure.
func TestWrongNumbersAreInput(t *testing.T) {
	t.Parallel()
	h := &told{}
	d := sampled(t, func(o *Options) { o.Harvests = h })
	for _, path := range []string{"/papers?harvest=conf/farm&year=99999999999", "/jobs?after=-9223372036854775808", "/jobs?after=2147483648"} {
		d.gives(http.StatusBadRequest, "GET", path, "")
	}
	for _, budget := range []string{"NaN", "Inf", "-1", "1e300"} {
		d.gives(http.StatusBadRequest, "POST", "/harvests", "goal=conf/webdb&budget="+budget, "Accept", "application/json")
	}
}

// TestGuessesOfANetworkCountTogether: whoever has one IPv6 address has 2^64 of them.
func TestGuessesOfANetworkCountTogether(t *testing.T) {
	t.Parallel()
	c := &Console{}
	for from, want := range map[string]string{"192.0.2.1:5": "192.0.2.1", "[::ffff:192.0.2.1]:5": "192.0.2.1", "[2001:db8:1:2:3:4:5:6]:5": "2001:db8:1:2::/64", "[fe80::1%eth0]:5": "fe80::/64", "@": "@"} {
		require.Equal(t, want, c.address(&http.Request{RemoteAddr: from}), from)
	}
	c.URL = &url.URL{Scheme: "https", Host: "gleaner.library.example"}
	for named, want := range map[string]string{"198.51.100.1, 2001:db8::7": "2001:db8::/64", "unknown": "unknown", "198.51.100.1:4711": "198.51.100.1"} {
		require.Equal(t, want, c.address(&http.Request{RemoteAddr: "127.0.0.1:5", Header: http.Header{"X-Forwarded-For": {named}}}), named)
		require.Equal(t, "203.0.113.9", c.address(&http.Request{RemoteAddr: "203.0.113.9:5", Header: http.Header{"X-Forwarded-For": {named}}}), "of another machine")
	}
	c = &Console{Options: Options{Proxies: []netip.Prefix{netip.MustParsePrefix("172.18.0.0/16")}}}
	for from, want := range map[string]string{"172.18.0.1:5": "198.51.100.1", "172.19.0.1:5": "172.19.0.1", "127.0.0.1:5": "127.0.0.1"} {
		named := http.Header{"X-Forwarded-For": {"10.0.0.1, 198.51.100.1", "172.18.0.7"}}
		require.Equal(t, want, c.address(&http.Request{RemoteAddr: from, Header: named}), from)
	}
}

// TestFormsOfOtherSitesAreRefused: a page of a stranger cannot have a browser act
// in the console, nor log in there.
func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://stranger.example"}, {"Origin", "null"}} {
		for _, path := range []string{"/login", "/logout"} {
			d.gives(http.StatusForbidden, "POST", path, "user=ada", headers...)
		}
	}
	d.gives(http.StatusSeeOther, "POST", "/logout", "", "Origin", d.server.URL)
}

// TestBrowsersAreToldWhatTheyMayDo in every answer, and with TLS more.
func TestBrowsersAreToldWhatTheyMayDo(t *testing.T) {
	t.Parallel()
	d := openFor(t, func(o *Options) { o.URL = &url.URL{Scheme: "https", Host: "gleaner.library.example"} }, "ada")
	for _, path := range []string{"/", "/login", "/style.css", "/nowhere"} {
		res, _ := d.do("GET", path, "")
		for name, want := range map[string]string{"Content-Security-Policy": contentRules, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "same-origin", "Strict-Transport-Security": "max-age=31536000"} {
			require.Equal(t, want, res.Header.Get(name), "%s of %s", name, path)
		}
		rules := strings.Split(res.Header.Get("Content-Security-Policy"), "; ")
		require.Subset(t, rules, []string{"default-src 'none'", "script-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"}, path)
		require.NotContains(t, res.Header.Get("Content-Security-Policy"), "unsafe")
	}
	_, cookies := d.login("ada", password)
	require.Len(t, cookies, 1)
	require.True(t, cookies[0].Secure)
	require.True(t, strings.HasPrefix(cookies[0].Name, "__Host-"))
}

// TestALogInLeadsNowhereElse: what comes after it is a page of the console.
func TestALogInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"/sites?harvest=x": "/sites?harvest=x", "": "/", "//evil.example": "/", "https://evil.example/": "/", `/\evil.example`: "/", "javascript:alert(1)": "/"} {
		require.Equal(t, want, local(given), given)
	}
}

func TestWhatIsSentIsBounded(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	d.gives(http.StatusRequestEntityTooLarge, "POST", "/login", "user="+strings.Repeat("x", maxForm))
	require.ErrorIs(t, AddUser(t.Context(), d.DB, "ada", "short", ""), ErrPassword)
	require.ErrorIs(t, AddUser(t.Context(), d.DB, "ada lovelace", password, ""), ErrUserName)
}

// TestCookiesOfNeighbours: where browsers speak TLS with the console, a session counts
// by the one name that no other host can set.
func TestCookiesOfNeighbours(t *testing.T) {
	t.Parallel()
	d := openFor(t, func(o *Options) { o.TLS = true }, "mallory")
	_, cookies := d.login("mallory", password)
	require.Len(t, cookies, 1)
	d.another()
	d.gives(http.StatusOK, "GET", "/", "", "Cookie", cookies[0].Name+"="+cookies[0].Value)
	d.gives(http.StatusSeeOther, "GET", "/", "", "Cookie", "gleaner="+cookies[0].Value)
}

// TestLongNamesAreNotRemembered: what guesses are counted by is bounded, whatever
// names are made up.
func TestLongNamesAreNotRemembered(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada")
	for i := range pairGuesses.atOnce + 5 {
		code, _ := d.login(strings.Repeat("x", 60<<10)+strconv.Itoa(i), password)
		require.Contains(t, []int{http.StatusUnauthorized, http.StatusTooManyRequests}, code)
	}
	held := 0
	for who := range d.doors.guessers {
		held += len(who)
	}
	require.Less(t, held, 1<<10)
}

// TestAConsoleWithoutUsersLetsInByItsKey: a forwarder or a proxy that adds no header has
// requests of other machines look like those of this one.
func TestAConsoleWithoutUsersLetsInByItsKey(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	d.client.Jar = nil
	for _, path := range []string{"/", "/?format=json", "/?key=another", "/harvests/new"} {
		d.gives(http.StatusUnauthorized, "GET", path, "")
	}
	d.gives(http.StatusUnauthorized, "POST", "/jobs", "job=purge", "Cookie", "gleaner"+keySuffix(d.key)+"=another")
	d.gives(http.StatusOK, "GET", "/?format=json&key="+d.key, "")
	res, _ := d.do("GET", "/papers?after=x&key="+d.key, "")
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	require.Equal(t, "/papers?after=x", res.Header.Get("Location"))
	require.Len(t, res.Cookies(), 1)
	kept := res.Cookies()[0].Name + "=" + res.Cookies()[0].Value
	d.gives(http.StatusOK, "GET", "/", "", "Cookie", kept)
	res, _ = d.do("GET", "/?format=json&key=earlier", "", "Cookie", kept)
	require.Equal(t, http.StatusOK, res.StatusCode, "the key of an earlier start shuts nobody out")
	d.KeyRole = store.Reader
	d.gives(http.StatusForbidden, "POST", "/jobs", "job=purge", "Cookie", kept) // a console for looking only
}
