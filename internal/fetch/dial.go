package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"

	"gleaner/internal/gleaner"
)

// proxyFunc returns the proxy for a URL, or nil.
type proxyFunc func(*url.URL) (*url.URL, error)

func newProxyFunc(setting string) (proxyFunc, error) {
	if setting == "" {
		return httpproxy.FromEnvironment().ProxyFunc(), nil
	}
	proxy, err := parseProxy(setting)
	if err != nil {
		return nil, err
	}
	return func(*url.URL) (*url.URL, error) { return proxy, nil }, nil
}

// guard checks each address right before the connection, after the lookup of names: a name may
// resolve to another address than a moment ago.
type guard struct {
	policy     *addressPolicy
	hasContact bool
}

func (g *guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return &AddressError{Address: address, Reason: "not an address"}
	}
	if err := g.policy.checkIP(ap.Addr()); err != nil {
		return err
	}
	if !g.hasContact && !isLoopback(ap.Addr()) {
		return errContact
	}
	return g.policy.checkAddress(ap.Addr(), ap.Port())
}

// newTransports returns two transports: direct checks every address it connects to, and proxied
// connects only to proxies, which the operator trusts. They are separate so that neither uses a
// connection of the other.
func newTransports(cfg Config, g *guard, proxy proxyFunc) (direct, proxied *http.Transport, err error) {
	pool, err := certPool(cfg.CAFile)
	if err != nil {
		return nil, nil, err
	}
	dialer := &net.Dialer{Timeout: cfg.Limits.Dial, KeepAlive: 30 * time.Second, Resolver: cfg.Resolver}
	guarded := *dialer
	guarded.ControlContext = g.control
	direct = newTransport(cfg.Limits, pool)
	direct.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
		if ip, _ := ctx.Value(addressKey{}).(netip.Addr); ip.IsValid() {
			_, port, err := net.SplitHostPort(to)
			if err != nil {
				return nil, err
			}
			to = net.JoinHostPort(ip.String(), port)
		}
		return guarded.DialContext(ctx, network, to)
	}
	direct.DisableKeepAlives = cfg.PaceBy&PaceByAddress != 0 // a kept connection may be to an earlier address
	direct.MaxIdleConnsPerHost = 2
	proxied = newTransport(cfg.Limits, pool)
	proxied.DialContext = dialer.DialContext
	proxied.Proxy = func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }
	proxied.MaxIdleConnsPerHost = 64 // plain http shares all connections to a proxy
	return direct, proxied, nil
}

func newTransport(l Limits, pool *x509.CertPool) *http.Transport {
	return &http.Transport{
		TLSClientConfig:        &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    l.TLS,
		ResponseHeaderTimeout:  l.Header,
		MaxResponseHeaderBytes: headerBytes,
		DisableCompression:     true, // decode.go decodes within limits
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           1024,
		ReadBufferSize:         16 << 10, // a page in one read
		IdleConnTimeout:        90 * time.Second,
	}
}

func certPool(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil // the system's, and SSL_CERT_FILE
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("fetch: CA file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("fetch: CA file %s holds no certificate", file)
	}
	return pool, nil
}

// connectOutcome returns the outcome of an error before the answer's header was read. answered
// means that at least one byte of an answer was read.
func connectOutcome(err error, answered bool) gleaner.Outcome {
	var (
		dns      *net.DNSError
		address  *AddressError
		op       *net.OpError
		cert     *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		alert    tls.AlertError
		timeout  interface{ Timeout() bool }
		isDialOp = errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect")
	)
	switch {
	case errors.Is(err, errContact):
		return NoContact
	case errors.As(err, &address):
		return AddressDenied
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.As(err, &dns):
		return DNSFailure
	case errors.As(err, &cert), errors.As(err, &record), errors.As(err, &alert):
		return TLSFailure
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return Timeout
	case isDialOp, !answered:
		return ConnectFailure
	default:
		return BadAnswer
	}
}
