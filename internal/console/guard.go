package console

import (
	"cmp"
	"context"
	"crypto/hmac"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"gleaner/internal/record/store"
)

// contentRules let a page load the console's own style, script and pictures, send
// forms to it, and nothing else.
const contentRules = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard goes before everything: what browsers may do with the answers, from where
// and by which name the console may be asked, and how much it may be sent.
func (c *Console) guard(public bool, next http.Handler) http.Handler {
	own := http.NewCrossOriginProtection()
	if c.URL != nil {
		_ = own.AddTrustedOrigin(c.URL.Scheme + "://" + c.URL.Host) // what is no origin is the same as none
	}
	own.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.fail(w, r, errForeign) }))
	next = own.Handler(bounded(next))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentRules)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "same-origin") // with none, browsers say of a form only that it is from "null"
		h.Set("Cache-Control", "no-store")
		if c.secure() {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if !public && !c.knows(r.Host) {
			c.fail(w, r, errHost)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bounded bounds what is sent: by maxForm, where lists of papers are sent by maxList, and where files to be imported
// are by maxUpload.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most := int64(maxForm)
		switch r.URL.Path {
		case holdingsPath, listsPath:
			most = maxList
		case uploadsPath:
			most = maxUpload
		}
		http.MaxBytesHandler(next, most).ServeHTTP(w, r)
		if most > maxForm { // a browser reads no answer before it has sent everything
			_, _ = io.CopyN(io.Discard, r.Body, maxDropped)
		}
	})
}

// secure reports whether browsers speak TLS with the console.
func (c *Console) secure() bool {
	return c.TLS || c.BehindTLS || c.URL != nil && c.URL.Scheme == "https"
}

// knows reports whether a console of this machine alone is called by a name of this
// machine. A page of a stranger can have its own name lead here, and would be
// answered as if it were the console's.
func (c *Console) knows(host string) bool {
	return loopback(host) || c.URL != nil && strings.EqualFold(host, c.URL.Host)
}

// forwarded reports whether a proxy passed a request on, maybe from another machine.
func forwarded(r *http.Request) bool {
	for name := range r.Header {
		switch name {
		case "Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip":
			return true
		}
		if strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return !r.ProtoAtLeast(1, 1) // no browser, but a proxy that names itself in no header
}

// loopback reports whether a host, with a port or without, is this machine's own.
func loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// who is who asks, and what they may do.
type who struct {
	name     string // "" where nobody has to log in
	role     store.Role
	password bool // they have one here
}

type whoKey struct{}

func asker(ctx context.Context) who {
	w, _ := ctx.Value(whoKey{}).(who)
	return w
}

// user is who is logged in, "" for nobody.
func user(ctx context.Context) string { return asker(ctx).name }

// may reports whether who has a role may do what another is the least for. Nobody may
// do what has no role.
func (w who) may(least store.Role) bool {
	at := slices.Index(store.Roles(), least)
	return at >= 0 && slices.Index(store.Roles(), w.role) >= at
}

// only serves those who may.
func (c *Console) only(least store.Role, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !asker(r.Context()).may(least) {
			c.log.WarnContext(r.Context(), "console: not allowed", "path", r.URL.Path, "user", user(r.Context()), "needs", least)
			c.fail(w, r, fmt.Errorf("%w: only who is %s may do this", errRole, article(least)))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func article(r store.Role) string {
	if r == store.Reader {
		return "a " + string(r)
	}
	return "an " + string(r)
}

// keyParameter is the parameter of an address by which a console without users lets in.
const keyParameter = "key"

// admit lets in who is logged in. While there are no users, a console of this machine
// alone lets in who has its key, which a browser keeps as a cookie: a request that others
// pass on from another machine may look like one of this machine.
func (c *Console) admit(public bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in, err := c.known(r, public)
		switch {
		case err != nil:
			c.fail(w, r, err)
		case in.role != "" && in.name == "" && r.Method == http.MethodGet && !asJSON(r) && r.URL.Query().Has(keyParameter):
			at, query := *r.URL, r.URL.Query()
			query.Del(keyParameter)
			at.RawQuery = query.Encode()
			http.SetCookie(w, c.cookie(keySuffix(c.key), c.key, 0))
			http.Redirect(w, r, local(at.RequestURI()), http.StatusSeeOther) // #nosec G710 -- the same page
		case in.role != "":
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), whoKey{}, in)))
		case asJSON(r):
			w.Header().Set("WWW-Authenticate", `Basic realm="Gleaner", charset="UTF-8"`)
			c.fail(w, r, errLogin)
		default:
			to := "/login"
			if r.Method == http.MethodGet && r.URL.Path != "/" {
				to += "?next=" + url.QueryEscape(r.URL.RequestURI())
			}
			http.Redirect(w, r, to, http.StatusSeeOther) // #nosec G710 -- the log-in, whatever is asked for after it
		}
	})
}

// known is who asks, by session or by password; without a role they are to log in.
func (c *Console) known(r *http.Request, public bool) (who, error) {
	u, users, err := c.App.DB.Session(r.Context(), c.sessionOf(r))
	if err != nil || u.Name != "" {
		return who{u.Name, u.Role, !u.Provider}, err
	}
	given, password, ok := r.BasicAuth()
	if ok {
		if err := c.doors.check(r.Context(), c.App.DB.UserRecords, c.address(r), given, password); err != nil {
			return who{}, err
		}
		given = folded(given)
		role, err := c.App.DB.RoleOf(r.Context(), given)
		return who{given, role, true}, err
	}
	if !users && !public && c.portal == nil {
		if forwarded(r) {
			return who{}, errForwarded
		}
		given := []string{r.URL.Query().Get(keyParameter)}
		if k, err := r.Cookie(c.cookieName() + keySuffix(c.key)); err == nil {
			given = append(given, k.Value)
		}
		for _, key := range given {
			if hmac.Equal([]byte(key), []byte(c.key)) {
				return who{role: cmp.Or(c.KeyRole, store.Administrator)}, nil
			}
		}
		return who{}, errKey
	}
	return who{}, nil
}

// keySuffix tells the cookies of consoles on different ports of one machine apart.
func keySuffix(key string) string { return "-" + key[:6] }
