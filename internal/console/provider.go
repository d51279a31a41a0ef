package console

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/semaphore"

	"gleaner/internal/record/store"
)

// Provider is where people log in who have no password here: an identity provider that
// speaks OpenID Connect. Who may do what is named by who[role]: "ada@library.example"
// and "@library.example" are addresses that the provider has verified, "group:staff" is
// in the claim Groups. Who is named for no role is not let in.
type Provider struct {
	Issuer, Client, Secret string
	Groups                 string
	Who                    map[store.Role][]string
	HTTP                   *http.Client
}

// Bounds of a log-in at the provider.
const (
	providerTime = 20 * time.Second // in which it must answer
	loginTime    = 10 * time.Minute // from the click to the way back
	mostLogins   = 10_000           // whose states are remembered
)

// Addresses of the log-in at the provider.
const (
	providerPath = "/login/provider"
	backPath     = "/login/back"
)

// errProvider is what people are told whom the provider did not log in; the log says why.
var errProvider = errors.New("the identity provider did not log you in: try again, or ask who runs this console")

// ErrProvider is returned by New for a provider that cannot be.
var ErrProvider = errors.New("log-in by an identity provider")

// check holds the provider to what it needs.
func (p *Provider) check(o Options) error {
	if o.URL == nil {
		return fmt.Errorf("%w: it leads people back to --url, which is not given", ErrProvider)
	}
	if p.Client == "" {
		return fmt.Errorf("%w: there is no client id", ErrProvider)
	}
	named := 0
	for _, role := range store.Roles() {
		for _, rule := range p.Who[role] {
			group, is := strings.CutPrefix(rule, "group:")
			if named++; is && group == "" || !is && !strings.Contains(rule, "@") {
				return fmt.Errorf("%w: want ada@library.example, @library.example or group:staff, not %q", ErrProvider, rule)
			}
		}
	}
	if named == 0 {
		return fmt.Errorf("%w: nobody is named who may log in by it", ErrProvider)
	}
	return nil
}

// claims are what the provider says of somebody.
type claims struct {
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // some providers say it in a word
	all      map[string]any
}

// email is an address that was verified, "" without one.
func (c claims) email() string {
	if c.Verified == true || c.Verified == "true" {
		return lower(c.Email)
	}
	return ""
}

// lower writes ASCII in small letters, and leaves others: some only look like ASCII, and
// as small letters would be it.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// role is the greatest for which somebody is named.
func (p *Provider) role(c claims) (role store.Role) {
	var groups []string
	switch in := c.all[p.Groups].(type) {
	case string:
		groups = []string{in}
	case []any:
		for _, g := range in {
			groups = append(groups, fmt.Sprint(g))
		}
	}
	email := c.email()
	for _, r := range store.Roles() {
		if slices.ContainsFunc(p.Who[r], func(rule string) bool {
			if group, is := strings.CutPrefix(rule, "group:"); is {
				return slices.Contains(groups, group)
			}
			rule = lower(rule)
			return email != "" && (rule == email || strings.HasPrefix(rule, "@") && rule == email[strings.LastIndex(email, "@"):])
		}) {
			role = r
		}
	}
	return role
}

// portal leads people to the provider and lets in who comes back.
type portal struct {
	Provider
	back string // the address here to which the provider leads
	key  []byte // signs what browsers keep meanwhile

	asking  *semaphore.Weighted // guards these three
	found   *oidc.Provider      // once it has answered
	failed  time.Time           // when it could not be reached, and why
	failure error

	mu     sync.Mutex
	closed map[string]time.Time // states of log-ins that came back, and till when they are remembered
}

func (p *portal) context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, providerTime)
	return oidc.ClientContext(ctx, p.HTTP), cancel
}

// providerPause is for how long a provider that could not be reached is not asked again.
const providerPause = 10 * time.Second

// reach asks the provider for its addresses, until it has answered once: one request at a
// time asks it, and after a failure none for a while.
func (p *portal) reach(ctx context.Context) (*oidc.Provider, *oauth2.Config, error) {
	if err := p.asking.Acquire(ctx, 1); err != nil {
		return nil, nil, err
	}
	defer p.asking.Release(1)
	if p.found == nil && p.failure != nil && time.Since(p.failed) < providerPause {
		return nil, nil, p.failure
	}
	if p.found == nil {
		within := oidc.ClientContext(context.WithoutCancel(ctx), p.HTTP) // its keys are fetched by this context later
		if p.found, p.failure = oidc.NewProvider(within, p.Issuer); p.failure != nil {
			p.failed = time.Now()
			return nil, nil, p.failure
		}
	}
	return p.found, &oauth2.Config{
		ClientID:     p.Client,
		ClientSecret: p.Secret,
		Endpoint:     p.found.Endpoint(),
		RedirectURL:  p.back,
		Scopes:       []string{oidc.ScopeOpenID, "email", "profile"},
	}, nil
}

// once reports whether a state comes back for the first time. Where too many are
// remembered the oldest is forgotten.
func (p *portal) once(state string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if _, was := p.closed[state]; was {
		return false
	}
	oldest := ""
	for s, until := range p.closed {
		if now.After(until) {
			delete(p.closed, s)
		} else if oldest == "" || until.Before(p.closed[oldest]) {
			oldest = s
		}
	}
	if len(p.closed) >= mostLogins {
		delete(p.closed, oldest)
	}
	p.closed[state] = now.Add(loginTime)
	return true
}

// errand is what the browser keeps while somebody is at the provider, signed.
type errand struct {
	State, Nonce, Verifier, Next string
	Until                        time.Time
}

// sign returns a message with its signature before it.
func (p *portal) sign(message []byte) []byte {
	mac := hmac.New(sha256.New, p.key)
	_, _ = mac.Write(message)
	return append(mac.Sum(nil), message...)
}

// errandOf is what a browser kept; without a state it is none that was signed here and
// still counts.
func (p *portal) errandOf(r *http.Request, cookie string) (e errand) {
	k, err := r.Cookie(cookie)
	if err != nil {
		return errand{}
	}
	raw, _ := base64.RawURLEncoding.DecodeString(k.Value)
	if len(raw) < sha256.Size || !hmac.Equal(raw, p.sign(raw[sha256.Size:])) {
		return errand{}
	}
	if err = json.Unmarshal(raw[sha256.Size:], &e); err != nil || time.Now().After(e.Until) {
		return errand{}
	}
	return e
}

// errandSuffix ends the name of the cookie that is an errand.
const errandSuffix = "-login"

// toProvider leads to the provider.
func (c *Console) toProvider(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := c.portal.context(r.Context())
	defer cancel()
	_, way, err := c.portal.reach(ctx)
	if err != nil {
		c.notLoggedIn(w, r, "/", errProvider, err)
		return
	}
	e := errand{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Until: time.Now().Add(loginTime)}
	e.Next = local(r.URL.Query().Get("next"))
	raw, err := json.Marshal(e)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	signed := base64.RawURLEncoding.EncodeToString(c.portal.sign(raw))
	http.SetCookie(w, c.cookie(errandSuffix, signed, int(loginTime/time.Second)))
	http.Redirect(w, r, way.AuthCodeURL(e.State, oidc.Nonce(e.Nonce), oauth2.S256ChallengeOption(e.Verifier)), http.StatusSeeOther) // #nosec G710 -- the provider that the operator named
}

// fromProvider lets in who comes back from the provider.
func (c *Console) fromProvider(w http.ResponseWriter, r *http.Request) {
	e := c.portal.errandOf(r, c.cookieName()+errandSuffix)
	http.SetCookie(w, c.cookie(errandSuffix, "", -1))
	next := local(e.Next)
	// Paid for before the provider is asked, so that many at a time count, too. Where nobody
	// was sent to it from here it is not asked.
	if e.State != "" && !c.doors.mayReturn(c.address(r)) {
		c.notLoggedIn(w, r, next, errTooMany, nil)
		return
	}
	name, subject, role, err := c.provided(r, e)
	switch {
	case errors.Is(err, errNoRole): // who had one keeps it nowhere, in no other browser either
		err = errors.Join(err, c.App.DB.RemoveProvided(r.Context(), subject))
	case err == nil:
		err = c.App.DB.SaveProvided(r.Context(), name, subject, role)
	}
	if err != nil {
		c.notLoggedIn(w, r, next, errProvider, err)
		return
	}
	c.doors.forgive("provider " + c.address(r))
	c.begin(w, r, name, next)
}

// errNoRole is why somebody is not let in whom the provider knows.
var errNoRole = errors.New("named for no role")

// provided is who the provider says that comes back, and what they may do here. The
// error is errNoRole for a subject that may do nothing.
func (c *Console) provided(r *http.Request, e errand) (name, subject string, role store.Role, err error) {
	q, p := r.URL.Query(), c.portal
	if e.State == "" || subtle.ConstantTimeCompare([]byte(e.State), []byte(q.Get("state"))) != 1 {
		return "", "", "", errors.New("this is no way back from a log-in of this browser")
	}
	if said := q.Get("error"); said != "" {
		return "", "", "", fmt.Errorf("the provider says %.200q", said)
	}
	if !p.once(e.State) {
		return "", "", "", errors.New("this log-in came back before")
	}
	ctx, cancel := p.context(r.Context())
	defer cancel()
	found, way, err := p.reach(ctx)
	if err != nil {
		return "", "", "", err
	}
	tokens, err := way.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(e.Verifier))
	if err != nil {
		return "", "", "", err
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := found.Verifier(&oidc.Config{ClientID: p.Client}).Verify(ctx, raw)
	if err != nil {
		return "", "", "", err
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(e.Nonce)) != 1 {
		return "", "", "", errors.New("the token is of another log-in")
	}
	var said claims
	if err := errors.Join(token.Claims(&said), token.Claims(&said.all)); err != nil {
		return "", "", "", err
	}
	if name = said.email(); checkName(name) != nil {
		name = token.Subject
	}
	subject = token.Issuer + " " + token.Subject
	if role = p.role(said); role == "" {
		return "", subject, "", fmt.Errorf("%.64q (verified: %v): %w", said.Email, said.Verified, errNoRole)
	}
	return name, subject, role, checkName(name)
}

// notLoggedIn shows the log-in again, with what is to be said; why is for the log.
func (c *Console) notLoggedIn(w http.ResponseWriter, r *http.Request, next string, said, why error) {
	c.log.WarnContext(r.Context(), "console: log-in refused", "address", c.address(r), "provider", true, "why", errors.Join(said, why))
	c.render(w, r, status(said), "login", c.loginForm(next, said.Error()))
}

// begin logs somebody in: the browser gets a new token, and what it had is no session
// any more.
func (c *Console) begin(w http.ResponseWriter, r *http.Request, name, next string) {
	token := rand.Text()
	sum := sha256.Sum256([]byte(token))
	var err error
	if before := c.sessionOf(r); before != nil {
		err = c.App.DB.EndSession(r.Context(), before)
	}
	if err == nil {
		err = c.App.DB.BeginSession(r.Context(), sum[:], name, sessionTime)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	http.SetCookie(w, c.cookie("", token, int(sessionTime/time.Second)))
	http.Redirect(w, r, next, http.StatusSeeOther) // #nosec G710 -- local keeps it to the console
}
