package fetch

import (
	"errors"
	"fmt"
	"net/http"
)

// blacklist is the part of the chain that rejects requests to hosts blocked by the operator.
type blacklist struct {
	next http.RoundTripper
	cfg  *Config
}

func (b *blacklist) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r)
	why, err := b.cfg.Blocked(r.Context(), x.host)
	switch {
	case err != nil:
		return nil, &Error{Outcome: Canceled, URL: x.raw, Err: fmt.Errorf("blacklist: %w", err)}
	case why != "":
		return nil, &Error{Outcome: Blacklisted, URL: x.raw, Err: errors.New(why)}
	}
	return b.next.RoundTrip(r)
}
