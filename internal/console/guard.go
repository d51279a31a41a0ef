package console

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
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
	next = own.Handler(http.MaxBytesHandler(next, maxForm))
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

// secure reports whether browsers speak TLS with the console.
func (c *Console) secure() bool { return c.TLS || c.URL != nil && c.URL.Scheme == "https" }

// knows reports whether a console of this machine alone is called by a name of this
// machine. A page of a stranger can have its own name lead here, and would be
// answered as if it were the console's.
func (c *Console) knows(host string) bool {
	return loopback(host) || c.URL != nil && strings.EqualFold(host, c.URL.Host)
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

type userKey struct{}

// user is who is logged in, "" for nobody.
func user(ctx context.Context) string {
	name, _ := ctx.Value(userKey{}).(string)
	return name
}

// admit lets in who is logged in, and everybody where nobody has to be: on this
// machine alone, while there are no users.
func (c *Console) admit(public bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, users, err := c.App.DB.Session(r.Context(), c.sessionOf(r))
		if err != nil {
			c.fail(w, r, err)
			return
		}
		if given, password, ok := r.BasicAuth(); ok && name == "" {
			if err := c.doors.check(r.Context(), c.App.DB, c.address(r), given, password); err != nil {
				c.fail(w, r, err)
				return
			}
			name = given
		}
		switch {
		case name != "", !users && !public:
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, name)))
		case asJSON(r):
			w.Header().Set("WWW-Authenticate", `Basic realm="Gleaner", charset="UTF-8"`)
			c.fail(w, r, errLogin)
		default:
			to := "/login"
			if r.Method == http.MethodGet && r.URL.Path != "/" {
				to += "?next=" + escape(r.URL.RequestURI())
			}
			http.Redirect(w, r, to, http.StatusSeeOther) // #nosec G710 -- the log-in, whatever is asked for after it
		}
	})
}
