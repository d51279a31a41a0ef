package weburl

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// ErrNotWeb is returned for a reference that is not an http or https address
// (mailto:, javascript:, ftp:, …).
var ErrNotWeb = errors.New("not an http(s) address")

// ErrMalformed is returned for a reference of which no browser could make an
// address: an impossible host or port, or a relative reference without a base.
var ErrMalformed = errors.New("malformed address")

// maxReference bounds what is looked at; few servers take half of it.
const maxReference = 8 << 10

// maxHost bounds the name of a host, in bytes. Names may have 253; but the crawl of
// a host is known by its name, with its port, and an id of Temporal holds 255. No
// library is behind a name that is nearly as long.
const maxHost = 240

// Canonical resolves ref against base ("" for none) and returns its canonical
// form, the one under which it is asked for. Without a base a missing scheme is
// taken for http. Canonical of a canonical URL is that URL, and net/url parses
// it. The errors are ErrNotWeb and ErrMalformed.
func Canonical(base, ref string) (string, error) {
	if len(ref) > maxReference {
		return "", fmt.Errorf("%w: %d bytes: %s", ErrMalformed, len(ref), clip(ref))
	}
	ref = strings.TrimFunc(ref, isC0OrSpace)
	if s, ok := fast(base, ref); ok && len(s) <= maxReference {
		return s, nil
	}
	if scheme, ok := schemeOf(ref); ok && scheme != "http" && scheme != "https" {
		return "", fmt.Errorf("%w: %s", ErrNotWeb, clip(ref))
	}
	if tooDear(ref) || len(base) > maxReference || tooDear(base) {
		return "", fmt.Errorf("%w: %s", ErrMalformed, clip(ref))
	}
	if base == "" {
		ref = assumeHTTP(ref)
	} else if bare, _, _ := strings.Cut(base, "#"); bare != "" {
		base = bare
	}
	s, err := slow(base, ref)
	if err == nil && (len(s) > maxReference || tooDear(s)) {
		return "", fmt.Errorf("%w: %d bytes: %s", ErrMalformed, len(s), clip(s))
	}
	return s, err
}

// isC0OrSpace is what WHATWG strips from both ends.
func isC0OrSpace(r rune) bool { return r <= ' ' }

// schemeOf returns the lower-case scheme of ref, if it has one.
func schemeOf(ref string) (string, bool) {
	for i := 0; i < len(ref); i++ {
		c := ref[i]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(ref[:i]), true
		default:
			return "", false
		}
	}
	return "", false
}

// assumeHTTP gives a reference that has no base the scheme that people leave
// out: "//host/x" and "www.host.org/x".
func assumeHTTP(ref string) string {
	if strings.HasPrefix(ref, "//") || strings.HasPrefix(ref, `\\`) {
		return "http:" + ref
	}
	if _, ok := schemeOf(ref); ok {
		return ref
	}
	if host, _, _ := strings.Cut(ref, "/"); strings.Contains(host, ".") && !strings.HasPrefix(host, ".") {
		return "http://" + ref
	}
	return ref
}

// clip shortens a reference for an error message.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// HostNamed is a host as the record has it, by the name that a person gives; "" if no
// address can have it, or it is a top-level domain such as "com".
func HostNamed(given string) string {
	host := strings.ToLower(strings.TrimSpace(given))
	if url, err := Canonical("", "http://"+host+"/"); err != nil || Host(url) != host {
		return ""
	}
	if top, icann := publicsuffix.PublicSuffix(host); icann && top == host && !strings.Contains(host, ".") {
		return ""
	}
	return host
}

// Host is the lower-case host of a canonical URL, with its port where that is
// not the scheme's own. "" if raw is no web address.
func Host(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || (scheme != "http" && scheme != "https") {
		c, err := Canonical("", raw)
		if err != nil || c == raw {
			return ""
		}
		return Host(c)
	}
	if end := strings.IndexAny(rest, "/?#\\"); end >= 0 {
		rest = rest[:end]
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	rest = strings.ToLower(rest)
	if scheme == "http" {
		return strings.TrimSuffix(rest, ":80")
	}
	return strings.TrimSuffix(rest, ":443")
}

// Domain is the registrable domain of a host ("cs.example.ac.uk" →
// "example.ac.uk"), or the host itself, without its port, where it has none (an
// IP address, a public suffix).
func Domain(host string) string {
	h := withoutPort(host)
	if _, err := netip.ParseAddr(strings.Trim(h, "[]")); err == nil {
		return h
	}
	d, err := publicsuffix.EffectiveTLDPlusOne(h)
	if err != nil {
		return h
	}
	return d
}

// Owner names what one owner is given many hosts of for little: a private suffix under
// which names are free ("ada.github.io" → "github.io"), the /24 of an IPv4 and the /64 of
// an IPv6 address, else the registrable domain.
func Owner(host string) string {
	h := withoutPort(host)
	if ip, err := netip.ParseAddr(strings.Trim(h, "[]")); err == nil {
		ip = ip.WithZone("").Unmap()
		bits := 64
		if ip.Is4() {
			bits = 24
		}
		return netip.PrefixFrom(ip, bits).Masked().String()
	}
	if suffix, icann := publicsuffix.PublicSuffix(h); !icann && strings.Contains(suffix, ".") {
		return suffix
	}
	return Domain(h)
}

// withoutPort cuts ":80" off a name, an IPv4 or a bracketed IPv6 address.
func withoutPort(host string) string {
	if end := strings.LastIndexByte(host, ']'); end >= 0 {
		return host[:end+1]
	}
	h, _, _ := strings.Cut(host, ":")
	return h
}

// SameSite says whether two URLs lie in one registrable domain; false if either
// is no web address.
func SameSite(a, b string) bool {
	ha, hb := Host(a), Host(b)
	if ha == "" || hb == "" {
		return false
	}
	return ha == hb || Domain(ha) == Domain(hb)
}

// split cuts a canonical URL into its host (with port), its path (from "/") and
// its query (without "?"; "" if none). It does not check.
func split(canonical string) (host, path, query string) {
	_, rest, ok := strings.Cut(canonical, "://")
	if !ok {
		rest = canonical
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ = strings.Cut(rest, "?")
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return rest, "/", query
	}
	return rest[:slash], rest[slash:], query
}
