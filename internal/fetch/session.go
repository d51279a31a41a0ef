package fetch

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"time"

	"gleaner/internal/gleaner"
)

// Dial connects to a server that speaks another protocol than HTTP, in a turn of its
// host that ends when the connection stands, by the blacklist and the checks of
// addresses that hold for every request. port, beside those of Config.Ports, is the
// protocol's own. Every error is an *Error.
func (c *Client) Dial(ctx context.Context, host string, port, own uint16) (net.Conn, error) {
	shown := net.JoinHostPort(host, strconv.Itoa(int(port)))
	fail := func(o gleaner.Outcome, err error) (net.Conn, error) {
		return nil, &Error{Outcome: o, URL: shown, Err: err}
	}
	if proxy, err := c.proxy(&url.URL{Scheme: "https", Host: shown}); err != nil || proxy != nil {
		return fail(AddressDenied, errors.Join(err, errors.New("what is fetched goes through a proxy, and only HTTP can; NO_PROXY may name the host")))
	}
	switch why, err := c.cfg.Blocked(ctx, host); {
	case err != nil:
		return fail(Canceled, err)
	case why != "":
		return fail(Blacklisted, errors.New(why))
	}
	done, err := c.cfg.Gate.Turn(ctx, host, 0)
	if err != nil {
		return nil, turnError(shown, err)
	}
	began := time.Now()
	conn, err := c.dial(ctx, shown, func(p uint16) bool { return p == own })
	if err == nil {
		done(Visit{Elapsed: time.Since(began)})
		return conn, nil
	}
	outcome := connectOutcome(err, false)
	done(Visit{Elapsed: time.Since(began), Failed: hostFailed(outcome), Void: !hostFailed(outcome)})
	return fail(outcome, err)
}

// DialBeside makes one more connection to a server that Dial connected to, at a port
// that it named, as FTP does for what it sends: within that conversation, and so
// without a turn of its own. Ports of the system's services are none of those.
func (c *Client) DialBeside(ctx context.Context, address string) (net.Conn, error) {
	conn, err := c.dial(ctx, address, func(p uint16) bool { return p >= 1024 })
	if err != nil {
		return nil, &Error{Outcome: connectOutcome(err, false), URL: address, Err: err}
	}
	return conn, nil
}

func (c *Client) dial(ctx context.Context, address string, port func(uint16) bool) (net.Conn, error) {
	g := c.guard
	g.port = port
	dialer := newDialer(c.cfg)
	dialer.ControlContext = g.control
	return dialer.DialContext(ctx, "tcp", address)
}
