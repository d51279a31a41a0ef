package weburl

import (
	"errors"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// ErrNotWeb is returned for a reference that is not an http or https address.
var ErrNotWeb = errors.New("weburl: not an http(s) address")

// Canonical resolves ref against base ("" for none) and returns its canonical
// form, the one under which it is asked for.
func Canonical(base, ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	u, err := url.Parse(ref)
	if err != nil {
		return "", err
	}
	if base != "" {
		b, err := url.Parse(base)
		if err != nil {
			return "", err
		}
		u = b.ResolveReference(u)
	}
	u.Scheme, u.Host, u.Fragment, u.RawFragment = strings.ToLower(u.Scheme), strings.ToLower(u.Host), "", ""
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", ErrNotWeb
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

// Key is the identity of a canonical URL: http and https of one host are one,
// percent-encoding is normalised, index pages are their directory.
func Key(canonical string) string {
	_, rest, _ := strings.Cut(canonical, "://")
	return rest
}

// Host is the lower-case host of a canonical URL, with its port where that is
// not the scheme's own. "" if raw is no URL.
func Host(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// Domain is the registrable domain of a host ("cs.example.ac.uk" →
// "example.ac.uk"), or the host itself where it has none (an IP address).
func Domain(host string) string {
	h, _, _ := strings.Cut(host, ":")
	d, err := publicsuffix.EffectiveTLDPlusOne(h)
	if err != nil {
		return h
	}
	return d
}
