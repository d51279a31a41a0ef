package fetch

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Unaddressed is why a request of net/http brought no answer, without the address
// that stands in its error: of outside services it may hold a key, or what a server
// made of one.
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

// RedirectHost names the host that an answer redirects to, and no more of the
// address, for the same reason.
func RedirectHost(resp *http.Response) string {
	to, err := resp.Location()
	if err != nil || to.Host == "" {
		return "what is no address"
	}
	return to.Host
}
