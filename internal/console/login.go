package console

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/alexedwards/argon2id"
	"golang.org/x/sync/semaphore"
	"golang.org/x/text/secure/precis"
	"golang.org/x/time/rate"

	"gleaner/internal/record/store"
)

// sessionTime is how long somebody stays logged in.
const sessionTime = 12 * time.Hour

// Bounds of guessing.
const (
	maxGuessers = 10_000 // that are remembered
	hashesATime = 2      // each takes 19 MiB and a while of a processor
	maxRight    = 1000   // passwords that were right lately
)

// allowance is how many wrong passwords there may be: so many at once, then one more a
// while.
type allowance struct {
	atOnce int
	every  time.Duration
}

// One network may guess a few passwords of one name. Of one name from everywhere, and by
// one network of all names, there may be more: nobody is kept out by one stranger. Who
// has more networks of IPv6 than one has a site of them, which may guess more, but fewer
// passwords of one name than there are guesses of it from everywhere.
var (
	pairGuesses     = allowance{5, 20 * time.Second}
	sitePairGuesses = allowance{20, 5 * time.Second}
	allGuesses      = allowance{50, 2 * time.Second}
	siteGuesses     = allowance{200, time.Second / 2}
)

// siteBits are those of a site's prefix: the most that a customer is usually given.
const siteBits = 48

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
	ErrUserName = errors.New("a user's name has 1 to 64 letters, digits and signs, none of them a space or a colon")
)

// AddUser lets somebody use the console, or gives them another password; "" is the role
// that store.SaveUser chooses.
func AddUser(ctx context.Context, db *store.DB, name, password string, role store.Role) error {
	name, err := precis.UsernameCaseMapped.String(name)
	if err != nil || checkName(name) != nil {
		return ErrUserName
	}
	hash, err := hashed(ctx, password)
	if err != nil {
		return err
	}
	return db.SaveUser(ctx, name, hash, role)
}

// setPassword gives somebody another password in place of the one of which a hash is given.
func setPassword(ctx context.Context, db *store.DB, name, until, password string) error {
	hash, err := hashed(ctx, password)
	if err != nil {
		return err
	}
	return db.ChangePassword(ctx, name, until, hash)
}

// hashes bounds how many hashes are made at a time.
var hashes = semaphore.NewWeighted(hashesATime)

func hashed(ctx context.Context, password string) (string, error) {
	if len(password) < minPassword || len(password) > maxPassword {
		return "", ErrPassword
	}
	if err := hashes.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer hashes.Release(1)
	return argon2id.CreateHash(password, &hashing)
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

	key []byte // of right

	mu       sync.Mutex
	guessers map[string]*rate.Limiter
	right    map[string]bool // names with the passwords that were right, keyed
}

func newDoors() (*doors, error) {
	nobody, err := argon2id.CreateHash(rand.Text(), &hashing)
	d := &doors{nobody: nobody, key: []byte(rand.Text())}
	d.guessers, d.right = map[string]*rate.Limiter{}, map[string]bool{}
	return d, err
}

// guesses are the wrong passwords that somebody has left.
func (d *doors) guesses(who string, a allowance) *rate.Limiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, ok := d.guessers[who]; ok {
		return l
	}
	if len(d.guessers) >= maxGuessers {
		for other, l := range d.guessers {
			if l.Tokens() >= float64(l.Burst()) {
				delete(d.guessers, other)
			}
		}
	}
	for other := range d.guessers { // any, where all have guessed: who guesses keeps nobody else out
		if len(d.guessers) < maxGuessers {
			break
		}
		delete(d.guessers, other)
	}
	l := rate.NewLimiter(rate.Every(a.every), a.atOnce)
	d.guessers[who] = l
	return l
}

// limits bound the wrong passwords of a name from a network.
func (d *doors) limits(address, name string) []*rate.Limiter {
	all := []*rate.Limiter{d.guesses("pair "+address+" "+name, pairGuesses),
		d.guesses("address "+address, allGuesses), d.guesses("user "+name, allGuesses)}
	if site := siteOf(address); site != "" {
		all = append(all, d.guesses("pair "+site+" "+name, sitePairGuesses), d.guesses("address "+site, siteGuesses))
	}
	return all
}

// siteOf is the site that a network is of; "" for an address alone.
func siteOf(address string) string {
	p, err := netip.ParsePrefix(address)
	if err != nil {
		return ""
	}
	return netip.PrefixFrom(p.Addr(), siteBits).Masked().String()
}

// mayReturn counts a way back from the provider, and reports whether a network, and its
// site, may have one more.
func (d *doors) mayReturn(address string) bool {
	may := d.guesses("provider "+address, pairGuesses).Allow()
	if site := siteOf(address); site != "" {
		may = d.guesses("provider "+site, siteGuesses).Allow() && may
	}
	return may
}

// forgive forgets what somebody guessed.
func (d *doors) forgive(who string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.guessers, who)
}

// keyed stands for a user's password that has a hash: programs send theirs with every
// request, and pay for its hash once.
func (d *doors) keyed(name, password, hash string) string {
	mac := hmac.New(sha256.New, d.key)
	_, _ = fmt.Fprintf(mac, "%q %q %q", name, password, hash)
	return string(mac.Sum(nil))
}

// check returns nil for a user's password, errWrong for another, and errTooMany
// where too many were wrong.
func (d *doors) check(ctx context.Context, db store.UserRecords, address, name, password string) error {
	name = folded(name)
	if len(name) > maxName {
		name = "" // nobody's, and none is remembered
	}
	password = password[:min(len(password), maxPassword+1)]
	hash, err := db.Password(ctx, name)
	known := err == nil
	if err != nil && !errors.Is(err, store.ErrNoUser) {
		return err
	}
	key := d.keyed(name, password, hash)
	d.mu.Lock()
	right := known && d.right[key]
	d.mu.Unlock()
	if right {
		return nil
	}
	if err := hashes.Acquire(ctx, 1); err != nil { // first, so that many guesses at a time are counted too
		return err
	}
	defer hashes.Release(1)
	limits := d.limits(address, name)
	for _, l := range limits {
		if l.Tokens() < 1 {
			return errTooMany
		}
	}
	if !known {
		hash = d.nobody
	}
	if right, err = argon2id.ComparePasswordAndHash(password, hash); err != nil {
		return err
	}
	if known && right {
		d.remember(key)
		return nil
	}
	for _, l := range limits {
		l.Allow()
	}
	return errWrong
}

// remember keeps a password that was right.
func (d *doors) remember(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.right) >= maxRight {
		clear(d.right)
	}
	d.right[key] = true
}

// folded is a user's name as it is kept: in small letters, in the one spelling that
// Unicode has for it. What is no name is returned as it is.
func folded(name string) string {
	if f, err := precis.UsernameCaseMapped.String(name); err == nil {
		return f
	}
	return name
}

// address is whose guesses count together. Behind proxies that are believed it is the
// one that the outermost of them names.
func (c *Console) address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	named := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for at := len(named) - 1; at >= 0 && c.believes(host); at-- {
		last := strings.TrimSpace(named[at])
		if last == "" {
			break
		}
		host = last[:min(len(last), maxName)]
		if with, err := netip.ParseAddrPort(host); err == nil {
			host = with.Addr().String()
		}
	}
	return network(host)
}

// believes reports whether an address is a proxy's that names who asked it.
func (o *Options) believes(host string) bool {
	ip, err := netip.ParseAddr(host)
	ours := slices.ContainsFunc(o.Proxies, func(n netip.Prefix) bool { return n.Contains(ip.Unmap()) })
	return err == nil && (ours || o.URL != nil && ip.Unmap().IsLoopback())
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

func (c *Console) loginForm(next, wrong string) loginForm {
	f := loginForm{Next: next, Wrong: wrong}
	if c.portal != nil {
		f.Provider = providerPath + "?next=" + url.QueryEscape(next)
	}
	return f
}

func (c *Console) loginPage(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, http.StatusOK, "login", c.loginForm(local(r.URL.Query().Get("next")), ""))
}

func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	if err := (&asked{Request: r}).read(); err != nil {
		c.fail(w, r, err)
		return
	}
	name := folded(r.PostFormValue("user"))
	err := c.doors.check(r.Context(), c.App.DB.UserRecords, c.address(r), name, r.PostFormValue("password"))
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
