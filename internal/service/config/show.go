package config

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"regexp"
	"strings"

	"gleaner/internal/each"
)

// Value is one setting as `starter config` shows it.
type Value struct {
	Key    string `json:"key"`
	Env    string `json:"env,omitempty"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // flag, environment, file:PATH, policy:PATH, dev, default
	Help   string `json:"help"`
}

// Show lists all settings, without what is secret, and what a policy file says.
func (c *Config) Show() []Value {
	said := each.Where(c.ShowPolicy(), func(v Value) bool { return v.Origin != "default" })
	return append(c.values(c), said...)
}

// ShowPolicy lists all of the policy.
func (c *Config) ShowPolicy() []Value { return c.values(&c.Policy) }

func (c *Config) values(of any) (all []Value) {
	for s, field := range fields(of) {
		shown := Redact(text(field))
		if s.Secret {
			shown = hidden(text(field))
		}
		all = append(all, Value{Key: s.Key, Env: s.Env, Value: shown, Origin: c.Origin(s.Key), Help: s.Help})
	}
	return all
}

// Write writes a policy as a policy file, with what everything is and what it is
// where nothing else is said.
func (p Policy) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "# The policy of Gleaner. The setting policy names this file; what is not in it is as printed here by default.")
	t, begun := reflect.TypeFor[Policy](), ""
	for s, field := range fields(&p) {
		section, name, _ := strings.Cut(s.Key, ".")
		if section != begun {
			f, _ := t.FieldByName(s.subject)
			fmt.Fprintf(b, "\n# %s\n%s:\n", f.Tag.Get("help"), section)
			begun = section
		}
		value, was := text(field), ""
		if value != s.Default {
			was = fmt.Sprintf(" (default: %s)", quoted(field, s.Default))
		}
		fmt.Fprintf(b, "  # %s%s\n  %s: %s\n", s.Help, was, name, quoted(field, value))
	}
	return b.Flush()
}

// quoted puts names, addresses and lists between quotes, where YAML might read
// something else into them.
func quoted(field reflect.Value, value string) string {
	if k := field.Kind(); k == reflect.String || k == reflect.Slice {
		return fmt.Sprintf("%q", value)
	}
	return value
}

const stars = "***"

// hidden is how a secret is shown: an address without its password, one of the web
// without its path, all else as stars.
func hidden(v string) string {
	if v == "" {
		return ""
	}
	if u, err := url.Parse(v); err == nil && u.Scheme != "" && u.Host != "" {
		if strings.HasPrefix(u.Scheme, "http") && len(u.Path) > 1 { // of a webhook it is a password
			u.Path, u.RawPath = "/"+stars, ""
		}
		return Redact(u.String())
	}
	return stars
}

// Redact takes the password out of an address, or what stands before the host of
// something like one. Other text stays as it is.
func Redact(v string) string {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" {
		return userinfo.ReplaceAllString(v, "//"+stars+"@")
	}
	if _, ok := u.User.Password(); ok {
		u.User = url.UserPassword(u.User.Username(), stars)
	} else if u.User != nil {
		u.User = url.User(stars) // a token, maybe
	}
	query := u.Query()
	for name := range query {
		if secretName.MatchString(name) {
			query.Set(name, stars)
			u.RawQuery = query.Encode()
		}
	}
	return strings.ReplaceAll(u.String(), url.QueryEscape(stars), stars)
}

var userinfo = regexp.MustCompile(`//[^/?#]*@`)

// secretName is a name that says that its value is nobody's business.
var secretName = regexp.MustCompile(`(?i)pass|secret|token|key`)
