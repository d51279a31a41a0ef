package fetch

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Unaddressed returns an error of net/http without the address in it, which may contain a key of
// an external service.
func Unaddressed(err error) error {
	var whole *url.Error
	if !errors.As(err, &whole) {
		return err
	}
	if strings.HasPrefix(whole.Err.Error(), "failed to parse Location") {
		return errors.New("it redirects to what is no address")
	}
	return whole.Err
}

// RedirectHost returns only the host of a redirect, for the same reason.
func RedirectHost(resp *http.Response) string {
	to, err := resp.Location()
	if err != nil || to.Host == "" {
		return "what is no address"
	}
	return to.Host
}
