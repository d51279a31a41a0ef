package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/alexedwards/argon2id"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"gleaner/internal/record/store"
)

// sessionTime is how long somebody stays logged in.
const sessionTime = 12 * time.Hour

// Bounds of guessing: after so many wrong passwords, from one address or for one
// user, one more a while.
const (
	wrongAtOnce = 5
	wrongEvery  = 20 * time.Second
	maxGuessers = 10_000 // addresses and users that are remembered
	hashesATime = 2      // each takes 19 MiB and a while of a processor
)

// hashing is what OWASP recommends as the least.
var hashing = argon2id.Params{Memory: 19 << 10, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// The least and the most bytes of a password, and the most of a user's name.
const (
	minPassword = 10
	maxPassword = 1000
	maxName     = 64
)

// Errors of passwords.
var (
	ErrPassword = errors.New("a password has 10 to 1,000 bytes")
	ErrUserName = errors.New("a user's name has 1 to 64 characters, none of them a space or a colon")
)

// AddUser lets somebody use the console, or gives them another password; "" is the role
// that store.SaveUser chooses.
func AddUser(ctx context.Context, db *store.DB, name, password string, role store.Role) error {
	if err := checkName(name); err != nil {
		return err
	}
	if len(password) < minPassword || len(password) > maxPassword {
		return ErrPassword
	}
	hash, err := argon2id.CreateHash(password, &hashing)
	if err != nil {
		return err
	}
	return db.SaveUser(ctx, name, hash, role)
}

func checkName(name string) error {
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r == ':' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return ErrUserName
	}
	return nil
}

// doors checks passwords, and bounds how often they are guessed.
type doors struct {
	nobody string // a hash that no password has: an unknown user takes as long as a wrong password
	hashes *semaphore.Weighted

	mu       sync.Mutex
	guessers map[string]*rate.Limiter
}

func newDoors() (*doors, error) {
	nobody, err := argon2id.CreateHash(rand.Text(), &hashing)
	return &doors{nobody: nobody, hashes: semaphore.NewWeighted(hashesATime), guessers: map[string]*rate.Limiter{}}, err
}

// guesses are the wrong passwords that somebody has left.
func (d *doors) guesses(who string) *rate.Limiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, ok := d.guessers[who]; ok {
		return l
	}
	if len(d.guessers) >= maxGuessers {
		for other, l := range d.guessers {
			if l.Tokens() >= wrongAtOnce {
				delete(d.guessers, other)
			}
		}
		if len(d.guessers) >= maxGuessers {
			return rate.NewLimiter(0, 0)
		}
	}
	l := rate.NewLimiter(rate.Every(wrongEvery), wrongAtOnce)
	d.guessers[who] = l
	return l
}

// check returns nil for a user's password, errWrong for another, and errTooMany
// where too many were wrong.
func (d *doors) check(ctx context.Context, db *store.DB, address, name, password string) error {
	if err := d.hashes.Acquire(ctx, 1); err != nil { // first, so that many guesses at a time are counted too
		return err
	}
	defer d.hashes.Release(1)
	if len(name) > maxName {
		name = "" // nobody's, and none is remembered
	}
	limits := []*rate.Limiter{d.guesses("address " + address), d.guesses("user " + name)}
	for _, l := range limits {
		if l.Tokens() < 1 {
			return errTooMany
		}
	}
	hash, err := db.Password(ctx, name)
	known := err == nil
	if err != nil && !errors.Is(err, store.ErrNoUser) {
		return err
	}
	if !known {
		hash = d.nobody
	}
	right, err := argon2id.ComparePasswordAndHash(password[:min(len(password), maxPassword+1)], hash)
	if err != nil {
		return err
	}
	if known && right {
		return nil
	}
	for _, l := range limits {
		l.Allow()
	}
	return errWrong
}

// address is whose guesses count together. Behind a proxy on this machine it is the
// one that the proxy names.
func (c *Console) address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	named := r.Header.Values("X-Forwarded-For")
	if c.URL == nil || !loopback(host) || len(named) == 0 {
		return network(host)
	}
	all := strings.Split(named[len(named)-1], ",")
	last := strings.TrimSpace(all[len(all)-1])
	return network(last[:min(len(last), maxName)])
}

// network is what one client is given: an IPv4 address, or a network of IPv6 addresses
// from which it may choose at will.
func network(host string) string {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if ip = ip.Unmap(); ip.Is4() {
		return ip.String()
	}
	return netip.PrefixFrom(ip.WithZone(""), 64).Masked().String()
}

// cookieName is the session's; with the prefix a browser takes it from this host
// alone and sends it by TLS alone.
func (c *Console) cookieName() string {
	if c.secure() {
		return "__Host-gleaner"
	}
	return "gleaner"
}

// sessionOf is the hash of a request's cookie, nil without one. A cookie by the other
// name is none: a neighbour of the console's host could have set it.
func (c *Console) sessionOf(r *http.Request) []byte {
	k, err := r.Cookie(c.cookieName())
	if err != nil || k.Value == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(k.Value))
	return sum[:]
}

// loginForm is what the page of the log-in shows.
type loginForm struct {
	Next, Wrong string
	Provider    string // where to log in without a password; "" for nowhere
}

// Title implements titled.
func (loginForm) Title() string { return "Log in" }

func (c *Console) loginForm(next, wrong string) loginForm {
	f := loginForm{Next: next, Wrong: wrong}
	if c.portal != nil {
		f.Provider = providerPath + "?next=" + escape(next)
	}
	return f
}

func (c *Console) loginPage(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, http.StatusOK, "login", c.loginForm(local(r.URL.Query().Get("next")), ""))
}

func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		c.fail(w, r, fmt.Errorf("%w: %w", errInput, err))
		return
	}
	name := r.PostFormValue("user")
	err := c.doors.check(r.Context(), c.App.DB, c.address(r), name, r.PostFormValue("password"))
	next := local(r.PostFormValue("next"))
	if errors.Is(err, errWrong) || errors.Is(err, errTooMany) {
		c.log.WarnContext(r.Context(), "console: log-in refused", "user", name[:min(len(name), maxName)], "address", c.address(r), "why", err)
		c.render(w, r, status(err), "login", c.loginForm(next, err.Error()))
		return
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.begin(w, r, name, next)
}

func (c *Console) cookie(suffix, value string, age int) *http.Cookie {
	return &http.Cookie{Name: c.cookieName() + suffix, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: c.secure(), SameSite: http.SameSiteLaxMode} // #nosec G124 -- Secure wherever browsers speak TLS with the console
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	if token := c.sessionOf(r); token != nil {
		if err := c.App.DB.EndSession(r.Context(), token); err != nil {
			c.fail(w, r, err)
			return
		}
	}
	http.SetCookie(w, c.cookie("", "", -1))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// local is an address of the console's own: where it leads elsewhere, the first page.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsRune(to, '\\') {
		return "/"
	}
	return to
}

func escape(s string) string { return url.QueryEscape(s) }
