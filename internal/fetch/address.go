package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gleaner/internal/web/weburl"
)

// AddressError reports a host, address or port to which no request may be sent.
type AddressError struct {
	Address string
	Reason  string
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("address %s is not allowed: %s", e.Address, e.Reason)
}

var errBadHost = errors.New("not a host name")

// addressPolicy decides to which addresses requests may be sent.
type addressPolicy struct {
	allowLoopback bool
	allowed       []Network // non-public networks opened by the operator
	ports         []uint16
}

// Network is an opened range of addresses, at one port, or if Port is 0 at the ports that are
// allowed everywhere.
type Network struct {
	netip.Prefix
	Port uint16
}

// UnmarshalText reads a network such as 10.1.0.0/16 or 127.0.0.1/32:8000.
func (n *Network) UnmarshalText(text []byte) error {
	prefix, port, named := string(text), "", false
	if at := strings.LastIndex(prefix, "/"); at >= 0 {
		var bits string
		bits, port, named = strings.Cut(prefix[at:], ":")
		prefix = prefix[:at] + bits
	}
	var err error
	if n.Prefix, err = netip.ParsePrefix(prefix); err != nil {
		return err
	}
	if !named {
		return nil
	}
	p, err := strconv.ParseUint(port, 10, 16)
	if n.Port = uint16(p); err == nil && p == 0 {
		err = errors.New("no port")
	}
	return err
}

// MarshalText writes a network as UnmarshalText reads it.
func (n Network) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// String returns a network as UnmarshalText reads it.
func (n Network) String() string {
	if n.Port == 0 {
		return n.Prefix.String()
	}
	return n.Prefix.String() + ":" + strconv.Itoa(int(n.Port))
}

// opens reports whether a network contains an address, for any port.
func (n Network) opens(ip netip.Addr) bool {
	return n.Contains(ip) && (!isMetadata(ip) || n.IsSingleIP())
}

// denied are the special-purpose networks of the IANA registries (RFC 6890 and later) without
// public web servers, each with its name. Those that embed an IPv4 address are in embedded below.
var denied = []struct {
	net  netip.Prefix
	name string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared (CGNAT)"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "protocol assignments"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "local translation"},
	{netip.MustParsePrefix("100::/64"), "discard"},
	{netip.MustParsePrefix("2001::/23"), "protocol assignments"},
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
	{netip.MustParsePrefix("5f00::/16"), "segment routing"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "site-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

// metadata are the addresses of clouds' metadata services, which return credentials. An opened
// network does not include them; only their exact address opens them.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("169.254.170.2"), netip.MustParseAddr("169.254.170.23"),
	netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"),
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd00:ec2::23"), netip.MustParseAddr("fd20:ce::254"),
}

// embedded are IPv6 networks whose addresses contain an IPv4 address at an offset in bytes, which
// is checked instead (6to4, NAT64, IPv4-compatible).
var embedded = []struct {
	net netip.Prefix
	at  int
}{
	{netip.MustParsePrefix("2002::/16"), 2},
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("::/96"), 12},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12},
}

// checkIP returns an *AddressError for an address that is denied at all ports.
func (p *addressPolicy) checkIP(ip netip.Addr) error {
	ip = ip.WithZone("").Unmap()
	reason := specialPurpose(ip)
	if reason == "" || (p.allowLoopback && isLoopback(ip)) {
		return nil
	}
	for _, n := range p.allowed {
		if n.opens(ip) {
			return nil
		}
	}
	return &AddressError{Address: ip.String(), Reason: reason}
}

// checkAddress returns an *AddressError for an address that is denied at a port.
func (p *addressPolicy) checkAddress(ip netip.Addr, port uint16) error {
	if err := p.checkIP(ip); err != nil {
		return err
	}
	ip = ip.WithZone("").Unmap()
	if p.allowLoopback && isLoopback(ip) {
		return nil
	}
	usual := specialPurpose(ip) == ""
	for _, n := range p.allowed {
		if n.opens(ip) && n.Port == port {
			return nil
		}
		usual = usual || n.opens(ip) && n.Port == 0
	}
	if !usual {
		return &AddressError{Address: netip.AddrPortFrom(ip, port).String(), Reason: "this port is not opened"}
	}
	return p.checkPortNumber(port)
}

func isLoopback(ip netip.Addr) bool { return ip.WithZone("").Unmap().IsLoopback() }

func isMetadata(ip netip.Addr) bool { return slices.Contains(metadata, ip) }

// specialPurpose returns the purpose of an address; "" for a public one.
func specialPurpose(ip netip.Addr) string {
	if isMetadata(ip) {
		return "metadata service"
	}
	for _, d := range denied {
		if d.net.Contains(ip) {
			return d.name
		}
	}
	for _, e := range embedded {
		if e.net.Contains(ip) {
			b := ip.As16()
			v4 := netip.AddrFrom4([4]byte(b[e.at : e.at+4]))
			if reason := specialPurpose(v4); reason != "" {
				return reason + " (" + v4.String() + ")"
			}
		}
	}
	return ""
}

// checkURL checks the URL without a lookup: scheme, host, a literal address in any notation, and,
// if a proxy would resolve the name, the port and names of private networks.
func (p *addressPolicy) checkURL(u *url.URL, proxied bool) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%w: scheme %q", errBadHost, u.Scheme)
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "" || len(host) > 253 || strings.HasPrefix(host, ".") || strings.HasSuffix(host, ".") || strings.Contains(host, "..") || u.User != nil {
		return fmt.Errorf("%w: %q", errBadHost, u.Host)
	}
	ip, isIP, err := literalIP(host)
	if err != nil {
		return err
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		ip, isIP = netip.AddrFrom4([4]byte{127, 0, 0, 1}), proxied
	}
	if !proxied { // the port is checked when the address is dialled
		if isIP {
			return p.checkIP(ip)
		}
		return nil
	}
	port, err := portOf(u)
	if err != nil {
		return err
	}
	if isIP {
		return p.checkAddress(ip, port)
	}
	if err := p.checkName(host); err != nil {
		return err
	}
	return p.checkPortNumber(port)
}

// checkName rejects names that a proxy would resolve inside its own network. If a network is
// opened, localNames resolves them instead.
func (p *addressPolicy) checkName(host string) error {
	if len(p.allowed) == 0 && insideName(host) {
		return &AddressError{Address: host, Reason: "a name inside a network"}
	}
	return nil
}

// insideName reports whether a name is only resolved inside a private network.
func insideName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	suffixes := []string{".internal", ".local", ".localdomain", ".intranet", ".private", ".corp", ".home", ".lan", ".home.arpa"}
	return !strings.Contains(host, ".") || slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(host, s) })
}

// portOf returns the port of a URL, or that of its scheme.
func portOf(u *url.URL) (uint16, error) {
	if u.Port() == "" {
		return map[string]uint16{"http": 80, "https": 443}[u.Scheme], nil
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%w: port %q", errBadHost, u.Port())
	}
	return uint16(n), nil
}

func (p *addressPolicy) checkPortNumber(n uint16) error {
	if slices.Contains(p.ports, n) {
		return nil
	}
	return &AddressError{Address: "port " + strconv.Itoa(int(n)), Reason: "not among the allowed ports"}
}

// literalIP parses a host that is an address: dotted, bracketed, or an IPv4 number in the
// notations of resolvers, as browsers parse it (the WHATWG IPv4 parser). It returns an error for
// a host that browsers reject.
func literalIP(host string) (netip.Addr, bool, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip, true, nil
	}
	canonical, err := weburl.Canonical("", "http://"+host+"/")
	if err != nil {
		return netip.Addr{}, false, fmt.Errorf("%w: %q", errBadHost, host)
	}
	ip, err := netip.ParseAddr(weburl.Host(canonical))
	return ip, err == nil, nil
}
