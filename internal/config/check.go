package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// check says what is wrong with a value. It never repeats one that is secret.
func (s Setting) check(v string) error {
	var err error
	switch s.Kind {
	case Duration:
		_, err = ParseDuration(v)
	case Number:
		_, err = strconv.ParseFloat(v, 64)
	case Switch:
		_, err = strconv.ParseBool(v)
	case Choice:
		err = s.Allow(v)
	case List:
		for _, one := range Fields(v) {
			err = errors.Join(err, s.Allow(one))
		}
	case Text:
		if s.Key == "proxy" && v != "" {
			err = checkProxy(v)
		}
	}
	return err
}

// Allow says what is wrong where v is none of the choices.
func (s Setting) Allow(v string) error {
	if slices.Contains(s.Choices, v) {
		return nil
	}
	return fmt.Errorf("want one of %s, not %q", strings.Join(s.Choices, ", "), v)
}

// checkProxy looks at the form of a proxy's address, which may hold a password.
func checkProxy(v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
		return errors.New("want an address such as http://proxy.example:3128 (not shown: it may hold a password)")
	}
	return nil
}

// Fields splits a setting at commas and blanks.
func Fields(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

var daysOrWeeks = regexp.MustCompile(`([0-9]*\.?[0-9]+)([dw])`)

// ParseDuration reads a duration as Go writes it, and days (30d) and weeks (2w).
// It takes none that is negative.
func ParseDuration(v string) (time.Duration, error) {
	hours := daysOrWeeks.ReplaceAllStringFunc(v, func(part string) string {
		n, _ := strconv.ParseFloat(part[:len(part)-1], 64)
		if strings.HasSuffix(part, "w") {
			n *= 7
		}
		return strconv.FormatFloat(n*24, 'f', -1, 64) + "h"
	})
	d, err := time.ParseDuration(hours)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration such as 500ms, 90s, 12h, 30d or 2w", v)
	}
	if d < 0 {
		return 0, fmt.Errorf("%s is negative", v)
	}
	return d, nil
}

const stars = "***"

// hidden is how a secret is shown: an address without its password, all else as
// stars.
func hidden(v string) string {
	if v == "" {
		return ""
	}
	if u, err := url.Parse(v); err == nil && u.Scheme != "" && u.Host != "" {
		return Redact(v)
	}
	return stars
}

// Redact takes the password out of an address. Text that is no address stays as
// it is.
func Redact(v string) string {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" {
		return v
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

// secretName is a name that says that its value is nobody's business.
var secretName = regexp.MustCompile(`(?i)pass|secret|token|key`)
