package console

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

// identity is a provider that speaks OpenID Connect over HTTP, and logs everybody in
// as the claims say.
type identity struct {
	t      *testing.T
	server *httptest.Server
	key    *rsa.PrivateKey

	claims map[string]any                    // of who logs in next
	twist  func(claims map[string]any) []any // changes the token; returns another key where it is to be signed by that
	asked  url.Values                        // of the last log-in
	tokens int                               // that were asked for
}

func newIdentity(t *testing.T) *identity {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	p := &identity{t: t, key: key, claims: map[string]any{"sub": "1001", "email": "Ada@library.example", "email_verified": true, "groups": []string{"staff"}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		at := p.server.URL
		p.say(w, map[string]any{"issuer": at, "authorization_endpoint": at + "/auth", "token_endpoint": at + "/token", "jwks_uri": at + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.say(w, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": "k", "alg": "RS256", "use": "sig", "n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes())}}})
	})
	mux.HandleFunc("GET /auth", func(w http.ResponseWriter, r *http.Request) {
		p.asked = r.URL.Query()
		http.Redirect(w, r, p.asked.Get("redirect_uri")+"?"+url.Values{"code": {"a-code"}, "state": {p.asked.Get("state")}}.Encode(), http.StatusSeeOther)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		p.tokens++
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		id, secret, _ := r.BasicAuth()
		if r.FormValue("code") != "a-code" || id != "console" || secret != "its-secret" || p.asked.Get("code_challenge_method") != "S256" || base64.RawURLEncoding.EncodeToString(sum[:]) != p.asked.Get("code_challenge") {
			http.Error(w, `{"error": "invalid_grant"}`, http.StatusBadRequest)
			return
		}
		claims := map[string]any{"iss": p.server.URL, "aud": "console", "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(), "nonce": p.asked.Get("nonce")}
		maps.Copy(claims, p.claims)
		signer := key
		if p.twist != nil {
			for _, other := range p.twist(claims) {
				signer = other.(*rsa.PrivateKey)
			}
		}
		raw, _ := json.Marshal(claims)
		p.say(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": oidctest.SignIDToken(signer, "k", "RS256", string(raw))})
	})
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

func (p *identity) say(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// options let people in by the provider.
func (p *identity) options(o *Options) {
	o.URL = &url.URL{Scheme: "http", Host: "localhost:8088"}
	o.Provider = &Provider{Issuer: p.server.URL, Client: "console", Secret: "its-secret", Groups: "groups", HTTP: p.server.Client(),
		Who: map[store.Role][]string{store.Reader: {"@library.example"}, store.Editor: {"group:staff"}, store.Administrator: {"root@library.example"}}}
}

// byProvider goes to the provider and comes back, and returns the way back and the
// answer to it.
func (d *desk) byProvider(next string) (back string, res *http.Response, body string) {
	d.t.Helper()
	res, body = d.do("GET", providerPath+"?next="+url.QueryEscape(next), "")
	require.Equal(d.t, http.StatusSeeOther, res.StatusCode, body)
	there, err := d.client.Get(res.Header.Get("Location"))
	require.NoError(d.t, err)
	require.NoError(d.t, there.Body.Close())
	to, err := url.Parse(there.Header.Get("Location"))
	require.NoError(d.t, err)
	require.Equal(d.t, "localhost:8088", to.Host)
	res, body = d.do("GET", to.RequestURI(), "")
	return to.RequestURI(), res, body
}

// TestPeopleLogInByTheirProvider: who is named for a role has it, by a session like that
// of a password.
func TestPeopleLogInByTheirProvider(t *testing.T) {
	t.Parallel()
	p := newIdentity(t)
	d := sampled(t, p.options)
	d.gives(http.StatusSeeOther, "GET", "/", "") // with a provider nobody is let in without log-in
	require.Contains(t, d.page("/login?next=/sites"), `href="/login/provider?next=%2Fsites"`)
	_, res, body := d.byProvider("/sites?state=done")
	require.Equal(t, http.StatusSeeOther, res.StatusCode, body)
	require.Equal(t, "/sites?state=done", res.Header.Get("Location"))
	require.Contains(t, d.page("/"), "<span>ada@library.example (editor)")
	all, err := d.Users(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.True(t, all[0].Provider)

	for _, c := range []struct {
		claims map[string]any
		role   store.Role
	}{
		{map[string]any{"sub": "1", "email": "cy@library.example", "email_verified": "true"}, store.Reader},
		{map[string]any{"sub": "2", "email": "root@LIBRARY.example", "email_verified": true}, store.Administrator},
		{map[string]any{"sub": "3", "groups": "staff"}, store.Editor},
	} {
		d.another()
		p.claims = c.claims
		_, res, body := d.byProvider("https://evil.example/")
		require.Equal(t, http.StatusSeeOther, res.StatusCode, body)
		require.Equal(t, "/", res.Header.Get("Location"))
		require.Contains(t, d.page("/"), "("+string(c.role)+")")
	}
	require.NoError(t, d.RemoveUser(t.Context(), "3"))
	d.gives(http.StatusSeeOther, "GET", "/", "") // shut out at once
	require.ErrorIs(t, d.doors.check(t.Context(), d.DB.UserRecords, "192.0.2.1", "cy@library.example", ""), errWrong,
		"they have no password")
}

// TestWhoIsNotNamedIsNotLetIn, nor who comes with a token of another log-in, for another
// program, of yesterday, or signed by somebody else.
func TestWhoIsNotNamedIsNotLetIn(t *testing.T) {
	t.Parallel()
	p := newIdentity(t)
	d := open(t, p.options, true)
	require.NoError(t, AddUser(t.Context(), d.DB, "bob@library.example", password, store.Administrator))
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	set := func(name string, v any) func(map[string]any) []any {
		return func(c map[string]any) []any { c[name] = v; return nil }
	}
	for name, twist := range map[string]func(map[string]any) []any{
		"another domain":     set("email", "ada@library.example.evil.example"),
		"domain in the name": set("email", "@library.example@evil.example"),
		"not verified":       set("email_verified", false),
		"verified by no one": func(c map[string]any) []any { delete(c, "email_verified"); return nil },
		"another nonce":      set("nonce", "another"),
		"no nonce":           func(c map[string]any) []any { delete(c, "nonce"); return nil },
		"another audience":   set("aud", "another"),
		"another issuer":     set("iss", "https://evil.example"),
		"expired":            set("exp", time.Now().Add(-time.Hour).Unix()),
		"another key":        func(map[string]any) []any { return []any{other} },
		"name of a password": set("email", "bob@library.example"),
	} {
		clear(d.doors.guessers) // many from one address
		d.another()
		p.claims = map[string]any{"sub": "7", "email": "ada@library.example", "email_verified": true}
		p.twist = twist
		_, res, body := d.byProvider("/")
		require.Equal(t, http.StatusUnauthorized, res.StatusCode, name)
		require.Contains(t, body, errProvider.Error(), name)
		d.gives(http.StatusSeeOther, "GET", "/users", "")
	}
	all, err := d.Users(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
}

// TestWhoIsNamedNoMoreIsShutOut: once the provider says so, also where they are logged in
// still. Another subject shuts nobody out.
func TestWhoIsNamedNoMoreIsShutOut(t *testing.T) {
	t.Parallel()
	p := newIdentity(t)
	d := open(t, p.options, true)
	p.claims = map[string]any{"sub": "3", "groups": "staff"}
	_, res, body := d.byProvider("/")
	require.Equal(t, http.StatusSeeOther, res.StatusCode, body)
	inside := d.client
	for _, c := range []struct {
		sub   string
		still int // what the first browser is answered afterwards
	}{{"4", http.StatusOK}, {"3", http.StatusSeeOther}} {
		d.another()
		p.claims = map[string]any{"sub": c.sub}
		_, res, _ = d.byProvider("/")
		require.Equal(t, http.StatusUnauthorized, res.StatusCode, c.sub)
		d.client = inside
		d.gives(c.still, "GET", "/", "")
	}
}

// TestAChangedPolicyHoldsForOpenSessions: a console that starts under it leaves nobody with
// the role that they had before it, nor without a provider at all. Who has a password stays.
func TestAChangedPolicyHoldsForOpenSessions(t *testing.T) {
	t.Parallel()
	p := newIdentity(t)
	d := open(t, p.options, true)
	ctx, token := t.Context(), []byte("of a password")
	require.NoError(t, d.SaveUser(ctx, "bob", "hash", store.Editor))
	require.NoError(t, d.BeginSession(ctx, token, "bob", time.Hour))
	for name, change := range map[string]func(*Options){
		"other people": func(o *Options) { o.Provider.Who = map[store.Role][]string{store.Reader: {"@other.example"}} },
		"no provider":  func(o *Options) { o.Provider = nil },
	} {
		d.another()
		p.claims = map[string]any{"sub": "3", "groups": "staff"}
		_, res, body := d.byProvider("/")
		require.Equal(t, http.StatusSeeOther, res.StatusCode, body)
		require.NotContains(t, d.page("/"), `href="/password"`, "they have none here")
		require.NotContains(t, d.page("/password"), `name="old"`)

		o := Options{App: d.App}
		p.options(&o)
		change(&o)
		c, err := New(ctx, o)
		require.NoError(t, err, name)
		c.Close()
		d.gives(http.StatusSeeOther, "GET", "/", "")
	}
	who, _, err := d.DB.Session(ctx, token)
	require.NoError(t, err)
	require.Equal(t, store.User{Name: "bob", Role: store.Editor}, who)
}

// TestAWayBackLeadsInOnce: not a second time, not with another state, and not in another
// browser.
func TestAWayBackLeadsInOnce(t *testing.T) {
	t.Parallel()
	p := newIdentity(t)
	d := open(t, p.options, true)
	first := ""
	d.client.Transport = carrier(func(r *http.Request) (*http.Response, error) {
		if k, err := r.Cookie("gleaner-login"); err == nil {
			first = k.Value
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	back, res, _ := d.byProvider("/")
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	require.Equal(t, 1, p.tokens)
	d.another()
	for _, headers := range [][]string{nil, {"Cookie", "gleaner-login=" + first}, {"Cookie", "gleaner-login=e30"}} {
		d.gives(http.StatusUnauthorized, "GET", back, "", headers...)
		require.NotContains(t, res.Header.Values("Set-Cookie"), "gleaner=")
	}
	res, body := d.do("GET", backPath+"?error=access_denied&error_description="+url.QueryEscape(hostile)+"&state=x", "")
	require.Equal(t, http.StatusUnauthorized, res.StatusCode)
	require.NotContains(t, body, "<img src")
	require.Equal(t, 1, p.tokens, "the provider was asked for no other token")
}

// TestABurstAtTheWayBackKeepsNobodyOut: a state that the console did not give out costs the
// provider nothing and closes no other; of those that it did, a network has a few tries.
func TestABurstAtTheWayBackKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	p := newIdentity(t)
	d := open(t, p.options, true)
	forged := base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("x", sha256.Size) + `{"State":"S","Nonce":"n","Verifier":"v","Until":"2999-01-01T00:00:00Z"}`))
	for range 3 * pairGuesses.atOnce {
		d.gives(http.StatusUnauthorized, "GET", backPath+"?state=S&code=x", "", "Cookie", "gleaner-login="+forged)
	}
	require.Zero(t, p.tokens)
	require.Empty(t, d.portal.closed)
	_, res, body := d.byProvider("/")
	require.Equal(t, http.StatusSeeOther, res.StatusCode, body)

	for range 3 * pairGuesses.atOnce { // with states of its own
		d.another()
		res, _ = d.do("GET", providerPath, "")
		to, err := url.Parse(res.Header.Get("Location"))
		require.NoError(t, err)
		_, _ = d.do("GET", backPath+"?code=x&state="+to.Query().Get("state"), "")
	}
	require.Equal(t, 1+2*pairGuesses.atOnce, p.tokens,
		"each refused code is asked for twice: with the secret in either place")

	for i := range mostLogins {
		d.portal.closed[strconv.Itoa(i)] = time.Now().Add(loginTime)
	}
	require.True(t, d.portal.once("new"), "the oldest is forgotten")
	require.LessOrEqual(t, len(d.portal.closed), mostLogins+pairGuesses.atOnce+1)
}

type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// TestALogInMakesANewSession: a token that was there before is nobody's afterwards, and
// one that a stranger chose is never taken.
func TestALogInMakesANewSession(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada")
	res, _ := d.do("POST", "/login", url.Values{"user": {"ada"}, "password": {password}}.Encode(), "Cookie", "gleaner=CHOSENBYASTRANGER")
	require.Len(t, res.Cookies(), 1)
	first := res.Cookies()[0].Value
	require.NotEqual(t, "CHOSENBYASTRANGER", first)
	_, second := d.login("ada", password)
	require.NotEqual(t, first, second[0].Value)
	d.another()
	for token, want := range map[string]int{"CHOSENBYASTRANGER": 303, first: 303, second[0].Value: 200} {
		d.gives(want, "GET", "/", "", "Cookie", "gleaner="+token)
	}
}

// TestNamesAreOfTheirOwnLetters: a letter that only looks like another, and becomes it in
// small letters, makes nobody somebody else.
func TestNamesAreOfTheirOwnLetters(t *testing.T) {
	t.Parallel()
	p := Provider{Who: map[store.Role][]string{store.Reader: {"@kit.example"}, store.Administrator: {"Kay@kit.example"}}}
	for email, want := range map[string]store.Role{"KAY@KIT.example": store.Administrator, "\u212Aay@kit.example": store.Reader, "eve@\u212Ait.example": ""} {
		require.Equal(t, want, p.role(claims{Email: email, Verified: true}), email)
	}
}

// TestProvidersAreChecked before anything is served.
func TestProvidersAreChecked(t *testing.T) {
	t.Parallel()
	p := newIdentity(t)
	d := open(t, p.options, false)
	for name, change := range map[string]func(*Options){
		"no address": func(o *Options) { o.URL = nil },
		"no client":  func(o *Options) { o.Provider.Client = "" },
		"nobody":     func(o *Options) { o.Provider.Who = nil },
		"a name":     func(o *Options) { o.Provider.Who = map[store.Role][]string{store.Reader: {"ada"}} },
		"no group":   func(o *Options) { o.Provider.Who = map[store.Role][]string{store.Reader: {"group:"}} },
	} {
		o := Options{App: d.App}
		p.options(&o)
		change(&o)
		_, err := New(t.Context(), o)
		require.ErrorIs(t, err, ErrProvider, name)
	}
}

// TestPasswordsOfOthersAreEncrypted: where others reach the console, something speaks
// TLS, or it is said that something does.
func TestPasswordsOfOthersAreEncrypted(t *testing.T) {
	t.Parallel()
	d := openFor(t, nil, "ada")
	serve := func(listen string, change func(*Console)) (up bool, err error) {
		c := *d.Console
		change(&c)
		l, err := net.Listen("tcp", listen)
		require.NoError(t, err)
		defer func() { _ = l.Close() }()
		err = c.Serve(t.Context(), l, func(string) { up = true; _ = l.Close() })
		return up, err
	}
	at := func(address string) func(*Console) {
		u, err := url.Parse(address)
		require.NoError(t, err)
		return func(c *Console) { c.URL = u }
	}
	for name, c := range map[string]struct {
		listen string
		change func(*Console)
	}{"plain": {"0.0.0.0:0", func(*Console) {}}, "plain proxy": {"127.0.0.1:0", at("http://gleaner.library.example")}} {
		up, err := serve(c.listen, c.change)
		require.ErrorIs(t, err, ErrPlain, name)
		require.False(t, up, name)
	}
	for name, c := range map[string]struct {
		listen string
		change func(*Console)
	}{"own TLS": {"0.0.0.0:0", func(c *Console) { c.TLS = true }}, "proxy": {"0.0.0.0:0", at("https://gleaner.library.example")},
		"said": {"0.0.0.0:0", func(c *Console) { c.BehindTLS = true }}, "this machine": {"127.0.0.1:0", func(*Console) {}}} {
		up, err := serve(c.listen, c.change)
		require.NotErrorIs(t, err, ErrPlain, name)
		require.True(t, up, name)
	}
}

// TestAProviderThatDoesNotAnswerIsAskedOnce for all who want to log in meanwhile.
func TestAProviderThatDoesNotAnswerIsAskedOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, "away", http.StatusBadGateway)
	}))
	t.Cleanup(away.Close)
	p := &identity{t: t, server: away}
	d := open(t, p.options, false)
	for range 5 {
		res, _ := d.do("GET", providerPath, "")
		require.NotEqual(t, http.StatusSeeOther, res.StatusCode)
	}
	require.EqualValues(t, 1, asked.Load())
}
