package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

func TestCheckIP(t *testing.T) {
	t.Parallel()
	closed := &addressPolicy{}
	for _, s := range []string{
		"0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1", "169.254.1.1",
		"169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1", "198.18.0.1", "224.0.0.1",
		"239.255.255.255", "255.255.255.255", "168.63.129.16", "100.100.100.200",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::10.0.0.1", "fe80::1", "fe80::1%eth0", "fec0::1",
		"fc00::1", "fd00:ec2::254", "ff02::1", "2002:7f00:1::", "2002:0a00:0001::1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe",
		"64:ff9b:1::1", "2001::1", "2001:db8::1", "100::1", "::ffff:0:7f00:1",
	} {
		var e *AddressError
		require.ErrorAs(t, closed.checkIP(netip.MustParseAddr(s)), &e, s)
	}
	for _, s := range []string{"1.1.1.1", "128.2.42.10", "172.32.0.1", "100.128.0.1", "198.20.0.1", "2606:4700::1111", "2a00:1450::1", "2002:0808:0808::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"} {
		require.NoError(t, closed.checkIP(netip.MustParseAddr(s)), s)
	}
	open := &addressPolicy{allowLoopback: true, allowed: networks(t, "10.0.0.0/8", "169.254.0.0/16", "100.100.100.200/32")}
	for s, ok := range map[string]bool{
		"127.0.0.1": true, "::1": true, "::ffff:127.0.0.1": true, "10.9.9.9": true, "::ffff:10.9.9.9": true, "192.168.0.1": false,
		"169.254.1.1": true, "169.254.169.254": false, "100.100.100.200": true, "100.100.100.201": false,
	} {
		require.Equal(t, ok, open.checkIP(netip.MustParseAddr(s)) == nil, s)
	}
}

func networks(t *testing.T, all ...string) (ns []Network) {
	for _, text := range all {
		var n Network
		require.NoError(t, n.UnmarshalText([]byte(text)), text)
		require.Equal(t, text, n.String())
		ns = append(ns, n)
	}
	return ns
}

// TestOpenedNetworksOpenNothingElse: of what is not public exactly the addresses that are
// named can be asked, at exactly the ports, however they are written and with a proxy, too.
func TestOpenedNetworksOpenNothingElse(t *testing.T) {
	t.Parallel()
	p := &addressPolicy{allowed: networks(t, "127.0.0.2/32:8000", "127.0.0.3/32", "10.1.0.0/16", "::1/128:8000"), ports: []uint16{80, 443}}
	for at, want := range map[string]bool{
		"127.0.0.2:8000": true, "127.0.0.2:80": false, "127.0.0.2:5432": false, "[::ffff:127.0.0.2]:8000": true,
		"127.0.0.1:8000": false, "127.0.0.1:80": false, "127.0.0.3:80": true, "127.0.0.3:8000": false,
		"[::1]:8000": true, "[::1]:80": false, "10.1.2.3:443": true, "10.1.2.3:8000": false, "10.2.0.1:80": false, "8.8.8.8:80": true, "8.8.8.8:8000": false,
	} {
		g := guard{policy: p, hasContact: true}
		require.Equal(t, want, g.control(t.Context(), "tcp", at, nil) == nil, at)
		u, err := url.Parse("http://" + at + "/")
		require.NoError(t, err)
		require.Equal(t, want, p.checkURL(u, true) == nil, "by a proxy: %s", at)
	}
	for _, wrong := range []string{"127.0.0.1", "127.0.0.1:80", "127.0.0.1/32:0", "127.0.0.1/32:", "127.0.0.1/32:70000", "10.0.0.0/33", "x/8"} {
		require.Error(t, (&Network{}).UnmarshalText([]byte(wrong)), wrong)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	type verdict int
	const (
		yes verdict = iota
		denied
		bad
	)
	tests := []struct {
		url             string
		direct, proxied verdict
	}{
		{"http://www.example.edu/~ada/", yes, yes},
		{"https://www.example.edu:443/", yes, yes},
		{"http://www.example.edu:8080/", yes, yes},
		{"http://www.example.edu:22/", yes, denied}, // direct: checked with the address
		{"ftp://www.example.edu/", bad, bad},
		{"file:///etc/passwd", bad, bad},
		{"http://user:pw@www.example.edu/", bad, bad},
		{"http:///x", bad, bad},
		{"http://127.0.0.1/", denied, denied},
		{"http://[::1]/", denied, denied},
		{"http://[::ffff:127.0.0.1]/", denied, denied},
		{"http://2130706433/", denied, denied},
		{"http://0x7f000001/", denied, denied},
		{"http://0177.0.0.1/", denied, denied},
		{"http://127.1/", denied, denied},
		{"http://0xa9.254.0xa9fe/", denied, denied},
		{"http://10.0.0.1./", denied, denied},
		{"http://134744072/", yes, yes}, // 8.8.8.8
		{"http://256.1.1.1/", bad, bad},
		{"http://1.2.3.4.5/", bad, bad},
		{"http://0x1ffffffff/", bad, bad},
		{"http://99999999999999999999999/", bad, bad},
		{"http://localhost/", yes, denied},
		{"http://a.localhost/", yes, denied},
		{"http://metadata.google.internal/", yes, denied},
		{"http://printer.local/", yes, denied},
		{"http://intranet/", yes, denied},
		{"http://router.home.arpa/", yes, denied},
		{"http://www.local.example.org/", yes, yes},
	}
	p := &addressPolicy{ports: []uint16{80, 443, 8080}}
	for _, tt := range tests {
		u, err := url.Parse(tt.url)
		require.NoError(t, err)
		for proxied, want := range map[bool]verdict{false: tt.direct, true: tt.proxied} {
			err := p.checkURL(u, proxied)
			got := bad
			var e *AddressError
			switch {
			case err == nil:
				got = yes
			case errors.As(err, &e):
				got = denied
			}
			require.Equal(t, want, got, "%s (proxied %v): %v", tt.url, proxied, err)
		}
	}
	opened := &addressPolicy{allowLoopback: true, allowed: networks(t, "10.0.0.0/8"), ports: []uint16{80}}
	for _, s := range []string{"http://localhost:1234/", "http://wiki.internal/", "http://10.1.1.1/"} {
		u, _ := url.Parse(s)
		require.NoError(t, opened.checkURL(u, true), s)
	}
}

// fakeDNS answers every name with the addresses that next gives, over a pipe.
func fakeDNS(next func(name string) []netip.Addr) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serveDNS(server, next)
		return packetConn{client}, nil
	}}
}

// named is a name server that knows the addresses of some names, parted by blanks.
func named(addrs map[string]string) *net.Resolver {
	return fakeDNS(func(name string) []netip.Addr {
		if all := addrs[strings.TrimSuffix(name, ".")]; all != "" {
			return each.Of(strings.Fields(all), netip.MustParseAddr)
		}
		return nil
	})
}

// packetConn makes the resolver speak as over UDP, one message a read.
type packetConn struct{ net.Conn }

func (packetConn) ReadFrom([]byte) (int, net.Addr, error) { return 0, nil, net.ErrClosed }
func (packetConn) WriteTo([]byte, net.Addr) (int, error)  { return 0, net.ErrClosed }

func serveDNS(conn net.Conn, next func(string) []netip.Addr) {
	defer func() { _ = conn.Close() }()
	buf := make([]byte, 1500)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			return
		}
		q := m.Questions[0]
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		addrs := next(q.Name.String())
		if addrs == nil {
			m.RCode = dnsmessage.RCodeNameError
		}
		for _, a := range addrs {
			answer := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}}
			switch {
			case q.Type == dnsmessage.TypeA && a.Is4():
				answer.Header.Type, answer.Body = q.Type, &dnsmessage.AResource{A: a.As4()}
			case q.Type == dnsmessage.TypeAAAA && a.Is6():
				answer.Header.Type, answer.Body = q.Type, &dnsmessage.AAAAResource{AAAA: a.As16()}
			default:
				continue
			}
			m.Answers = append(m.Answers, answer)
		}
		out, err := m.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

// TestResolvedAddress has names that lead where nobody may go: what counts is
// the address that is connected to, each time.
func TestResolvedAddress(t *testing.T) {
	t.Parallel()
	dns := named(map[string]string{
		"private.example.org": "10.0.0.7", "metadata.example.org": "169.254.169.254", "loop.example.org": "127.0.0.1", "public.example.org": "8.8.8.8",
	})
	closed := testClient(t, func(cfg *Config) { cfg.AllowLoopback, cfg.Resolver, cfg.Contact = false, dns, "a@example.org" })
	for host, want := range map[string]gleaner.Outcome{
		"private.example.org": AddressDenied, "metadata.example.org": AddressDenied, "loop.example.org": AddressDenied,
		"nowhere.example.org": DNSFailure,
	} {
		require.Equal(t, want, outcome(closed, "http://"+host+"/"), host)
	}

	s := site(t, nil)
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	open := testClient(t, func(cfg *Config) { cfg.Resolver = dns })
	require.Equal(t, NotFound, outcome(open, "http://loop.example.org:"+u.Port()+"/robots.txt"),
		"a name of a loopback address, at any port, where that is allowed")
	_, err = open.Fetch(context.Background(), Request{URL: "http://public.example.org/"})
	require.Equal(t, NoContact, fetchError(t, err).Outcome, "no packet leaves without a contact")
	require.ErrorIs(t, err, errContact)

	ported := testClient(t, func(cfg *Config) { cfg.Resolver, cfg.Contact = dns, "https://example.org/about" })
	require.Equal(t, AddressDenied, outcome(ported, "http://public.example.org:25/"))
}
