package fetch

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// product is the name of the crawler in robots.txt and in logs of servers.
const product = "Gleaner"

// Version is the crawler's, as web masters see it.
const Version = "1.0"

// Config configures a Client. Its zero value is polite, and sends requests only to loopback
// hosts and a proxy until Contact is set.
type Config struct {
	// Contact is an e-mail address or a web page of the operator. It is required for all
	// hosts except loopback ones, and those behind a proxy.
	Contact string

	// Gate grants turns [a memoryGate with Pacing].
	Gate   Gate
	Pacing Pacing
	// PaceBy widens turns beyond the host [PaceByHost].
	PaceBy PaceBy
	// Robots keeps robots.txt [in memory].
	Robots RobotsCache

	// Blocked returns why no request may be sent to a host, "" if requests may [no host is
	// blocked]. It is called before each request, also for redirects and robots.txt.
	Blocked func(ctx context.Context, host string) (why string, err error)

	// Proxy is the URL of an HTTP, HTTPS or SOCKS5 proxy for every request, or
	// "none". If empty, HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured.
	Proxy string
	// CAFile names a PEM file of certificate authorities that are trusted
	// beside the system's.
	CAFile string
	// AllowPrivate opens networks that are not public. AllowLoopback opens 127.0.0.0/8 and
	// ::1 at any port, for tests.
	AllowLoopback bool
	AllowPrivate  []Network
	// Ports are allowed beside 80, 443, 8080 and 8443.
	Ports []uint16

	Limits Limits
	// Memory bounds the memory of all large bodies in flight [no bound].
	Memory *Memory
	// Linger is how long a request that was sent may still wait for its answer after its
	// caller is cancelled [0].
	Linger time.Duration
	// Resolver looks up names [the system's]; Clock is for tests [the system's].
	Resolver *net.Resolver
	Clock    Clock
}

// PaceBy is what is paced together, beside the host itself.
type PaceBy int

// PaceByDomain paces hosts of one registrable domain together, PaceByAddress those of one
// server address. Their turns are taken from the Gate as "domain:NAME" and "address:IP",
// after the host's own.
const (
	PaceByHost    PaceBy = 0
	PaceByDomain  PaceBy = 1
	PaceByAddress PaceBy = 2
)

// Limits bound a single fetch. Zero means the default in brackets.
type Limits struct {
	Dial   time.Duration // name look-up and connection [15 s]
	TLS    time.Duration // handshake [15 s]
	Header time.Duration // from the request to the end of the answer's header [30 s]
	Idle   time.Duration // without a byte of the body [30 s]
	Total  time.Duration // for one hop, body included [10 min]
	// MinRate is the least average speed of a body in bytes per second [512],
	// asked after Grace [20 s].
	MinRate int64
	Grace   time.Duration

	PageBytes     int64 // HTML and its kin, inflated [10 MiB]
	DocumentBytes int64 // anything else, inflated [100 MiB]
	MediaBytes    int64 // images, sound, film, fonts [10 MiB]
}

// Bounds of every fetch.
const (
	robotsAge    = 24 * time.Hour // of a robots.txt that is kept
	headerBytes  = 256 << 10      // of an answer
	maxRatio     = 200            // of what a body of more than 1 MiB inflates to, to what came over the wire
	maxRedirects = 10             // followed in one fetch
	urlBytes     = 4096
)

// withDefaults returns l with its zero fields filled in.
func (l Limits) withDefaults() Limits {
	l.Dial = cmp.Or(l.Dial, 15*time.Second)
	l.TLS = cmp.Or(l.TLS, 15*time.Second)
	l.Header = cmp.Or(l.Header, 30*time.Second)
	l.Idle = cmp.Or(l.Idle, 30*time.Second)
	l.Total = cmp.Or(l.Total, 10*time.Minute)
	l.Grace = cmp.Or(l.Grace, 20*time.Second)
	l.MinRate, l.PageBytes = cmp.Or(l.MinRate, 512), cmp.Or(l.PageBytes, 10<<20)
	l.DocumentBytes, l.MediaBytes = cmp.Or(l.DocumentBytes, 100<<20), cmp.Or(l.MediaBytes, 10<<20)
	return l
}

// bodyBytes is the limit of a kind of body.
func (l Limits) bodyBytes(k Kind) int64 {
	switch k {
	case KindPage:
		return l.PageBytes
	case KindMedia:
		return l.MediaBytes
	default:
		return l.DocumentBytes
	}
}

// withDefaults checks the configuration and fills in its defaults.
func (c Config) withDefaults() (Config, error) {
	if err := checkContact(c.Contact); err != nil {
		return c, fmt.Errorf("fetch: %w", err)
	}
	if c.PaceBy < PaceByHost || c.PaceBy > PaceByDomain|PaceByAddress {
		return c, fmt.Errorf("fetch: PaceBy %d is not known", c.PaceBy)
	}
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	c.Resolver = cmp.Or(c.Resolver, net.DefaultResolver)
	c.Pacing, c.Limits = c.Pacing.WithDefaults(), c.Limits.withDefaults()
	if c.Gate == nil {
		c.Gate = newMemoryGate(c.Pacing, c.Clock)
	}
	if c.Robots == nil {
		c.Robots = newMemoryRobots(10_000)
	}
	if c.Blocked == nil {
		c.Blocked = func(context.Context, string) (string, error) { return "", nil }
	}
	c.Ports = append([]uint16{80, 443, 8080, 8443}, c.Ports...)
	return c, nil
}

// parseProxy reads Config.Proxy; nil for "none".
func parseProxy(s string) (*url.URL, error) {
	if s == "none" {
		return nil, nil
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("fetch: proxy %q is not a URL", s)
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	default:
		return nil, fmt.Errorf("fetch: proxy %q: only http, https and socks5 are known", s)
	}
}
