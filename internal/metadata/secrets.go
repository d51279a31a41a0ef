package metadata

import (
	"errors"
	"net/url"
	"strings"
)

// secrets are keys that leave the process only in requests. Logs and errors must not contain
// them: errors are stored with the harvest and in Temporal's histories.
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

// hideIn removes secrets from an error of a service. It keeps the type; a cause that contains a
// secret becomes its text.
func (s secrets) hideIn(err error) error {
	switch e := err.(type) { //nolint:errorlint // a service does not wrap these
	case nil:
		return nil
	case ErrRefused:
		e.URL, e.Reason = s.hide(e.URL), s.hide(e.Reason)
		return e
	case ErrUnavailable:
		e.URL, e.Err = s.hide(e.URL), s.hideIn(e.Err)
		return e
	case ErrBadAnswer:
		e.URL, e.Err = s.hide(e.URL), s.hideIn(e.Err)
		return e
	case ErrNotFound:
		e.URL = s.hide(e.URL)
		return e
	}
	if hidden := s.hide(err.Error()); hidden != err.Error() {
		return errors.New(hidden)
	}
	return err
}
