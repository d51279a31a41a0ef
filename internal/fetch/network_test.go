package fetch

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	require.Equal(t, TLSFailure, outcome(testClient(t, nil), s.URL+"/"), "nobody vouches for the certificate")

	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	resp, err := testClient(t, func(cfg *Config) { cfg.CAFile = ca }).Fetch(context.Background(), Request{URL: s.URL + "/"})
	require.NoError(t, err)
	require.Equal(t, "HTTP/2.0", string(resp.Body))

	plain := site(t, nil)
	require.Equal(t, TLSFailure, outcome(testClient(t, nil), "https"+plain.URL[len("http"):]+"/"), "no TLS spoken there")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	require.Equal(t, TLSFailure, outcome(testClient(t, nil), "https://"+listener.Addr().String()+"/"),
		"hung up in the handshake")
}

func TestCAFileErrors(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, file := range []string{empty, empty + ".missing"} {
		_, err := New(Config{CAFile: file})
		require.ErrorContains(t, err, "CA file")
	}
}

// forwardProxy answers for every host, and notes what it was asked.
type forwardProxy struct {
	mu    sync.Mutex
	asked []string
}

func (p *forwardProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.URL.String())
	p.mu.Unlock()
	switch {
	case r.Method == http.MethodConnect:
		w.WriteHeader(http.StatusBadGateway)
	case r.URL.Path == "/robots.txt":
		w.WriteHeader(http.StatusNotFound)
	case r.URL.Path == "/inside":
		http.Redirect(w, r, "http://metadata.google.internal/", http.StatusFound)
	default:
		_, _ = io.WriteString(w, "through the proxy")
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	p := &forwardProxy{}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	c := testClient(t, func(cfg *Config) { cfg.Proxy, cfg.AllowLoopback = s.URL, false })
	get := func(u string) gleaner.Outcome {
		_, err := c.Fetch(context.Background(), Request{URL: u, FollowOffHost: true})
		return OutcomeOf(err)
	}
	require.Equal(t, gleaner.OK, get("http://www.example.edu/"), "the proxy is on loopback and needs no contact: it is the operator's word")
	require.Equal(t, []string{"http://www.example.edu/robots.txt", "http://www.example.edu/"}, p.asked)
	p.asked = nil
	for _, u := range []string{
		"http://127.0.0.1/", "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://0x7f.1/", "http://[fd00:ec2::254]/",
		"http://localhost/", "http://metadata.google.internal/", "http://intranet/", "http://www.example.edu:22/",
	} {
		require.Equal(t, AddressDenied, get(u), u)
	}
	require.Empty(t, p.asked)
	require.Equal(t, AddressDenied, get("http://www.example.edu/inside"), "neither by redirect")
	require.Equal(t, ConnectFailure, get("https://secure.example.edu/"), "the proxy opens no tunnel")
}

func TestProxyFromEnvironment(t *testing.T) {
	p := &forwardProxy{}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	t.Setenv("HTTP_PROXY", s.URL)
	t.Setenv("NO_PROXY", "direct.example.org")
	t.Setenv("REQUEST_METHOD", "")
	dns := fakeDNS(func(string) []netip.Addr { return nil })
	c := testClient(t, func(cfg *Config) { cfg.Proxy, cfg.Resolver = "", dns })
	resp := mustFetch(t, c, Request{URL: "http://www.example.edu/"})
	require.Equal(t, "through the proxy", string(resp.Body))
	u := Request{URL: "http://direct.example.org/"}
	c.cfg.Resolver = dns
	proxied, err := c.proxy(mustURL(t, u.URL))
	require.NoError(t, err)
	require.Nil(t, proxied)
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	var got http.Header
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
		_, _ = io.WriteString(w, "ok")
	})
	c := testClient(t, func(cfg *Config) { cfg.Contact = "ada@example.edu" })
	require.Equal(t, "Gleaner/1.0 (+ada@example.edu)", c.UserAgent())
	for range 2 {
		mustFetch(t, c, Request{URL: s.URL + "/"})
	}
	require.Equal(t, "Gleaner/1.0 (+ada@example.edu)", got.Get("User-Agent"))
	require.Equal(t, "ada@example.edu", got.Get("From"))
	require.Empty(t, got.Get("Cookie"))
	require.Empty(t, got.Get("Transfer-Encoding"))
	require.Empty(t, got.Get("Content-Length"))
	require.Equal(t, "gzip, deflate, br, zstd", got.Get("Accept-Encoding"))
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"contact of one word":    {Contact: "me"},
		"contact with a newline": {Contact: "a@example.org\r\nX: y"},
		"contact without a host": {Contact: "https://"},
		"e-mail without domain":  {Contact: "root@localhost"},
		"proxy":                  {Proxy: "gopher://x"},
		"proxy without host":     {Proxy: "http://"},
		"pace":                   {PaceBy: 9},
	} {
		_, err := New(cfg)
		require.Error(t, err, name)
	}
	for _, contact := range []string{"", "a@example.org", "mailto:a@example.org", "https://www.example.org/crawler?x=1"} {
		c, err := New(Config{Contact: contact})
		require.NoError(t, err, contact)
		c.Close()
	}
	_, err := New(Config{Contact: "me"})
	require.False(t, errors.Is(err, errContact), "set, but wrong")
}
