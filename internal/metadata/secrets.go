package metadata

import (
	"errors"
	"net/url"
	"strings"
)

// secrets are keys that must not leave the process but in requests: neither in
// logs nor in errors, which are kept with the harvest and in Temporal's histories.
type secrets struct{ replacer *strings.Replacer }

func newSecrets(keys ...string) secrets {
	var pairs []string
	for _, k := range keys {
		if k != "" {
			pairs = append(pairs, url.QueryEscape(k), "…", url.PathEscape(k), "…", k, "…")
		}
	}
	return secrets{strings.NewReplacer(pairs...)}
}

func (s secrets) hide(text string) string { return s.replacer.Replace(text) }

// hideIn takes secrets out of an error. Its type stays; a cause that shows one
// becomes its text.
func (s secrets) hideIn(err error) error {
	if err == nil || s.hide(err.Error()) == err.Error() && s.hide(addressOf(err)) == addressOf(err) {
		return err
	}
	var refused ErrRefused
	var down ErrUnavailable
	var bad ErrBadAnswer
	var none ErrNotFound
	switch {
	case errors.As(err, &refused):
		refused.URL, refused.Reason = s.hide(refused.URL), s.hide(refused.Reason)
		return refused
	case errors.As(err, &down):
		down.URL, down.Err = s.hide(down.URL), s.hideIn(down.Err)
		return down
	case errors.As(err, &bad):
		bad.URL, bad.Err = s.hide(bad.URL), s.hideIn(bad.Err)
		return bad
	case errors.As(err, &none):
		none.URL = s.hide(none.URL)
		return none
	}
	return errors.New(s.hide(err.Error()))
}

// addressOf is the address in an error that its text may not show.
func addressOf(err error) string {
	var refused ErrRefused
	var down ErrUnavailable
	switch {
	case errors.As(err, &refused):
		return refused.URL
	case errors.As(err, &down):
		return down.URL
	}
	return ""
}
