package fetch

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOneHostHasOneTurnHoweverItIsSpelt: who redirects to a host by an odd spelling
// of its name gets no turn beside that host's own, for a page or for robots.txt.
func TestOneHostHasOneTurnHoweverItIsSpelt(t *testing.T) {
	t.Parallel()
	var spelt string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.Host, "liar.test"):
			w.Header().Set("Location", strings.TrimSuffix(spelt, "/x")+r.URL.Path)
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		default:
			_, _ = w.Write([]byte("found"))
		}
	}))
	t.Cleanup(s.Close)
	port := ":" + mustURL(t, s.URL).Port()
	dns := fakeDNS(func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} })
	for name, odd := range map[string]string{
		"bücher.test": "xn--bcher-kva.test", "xn--bcher-kva.test": "xn--bcher-kva.test", "b%C3%BCcher.test": "xn--bcher-kva.test", "XN--BCHER-KVA.Test": "xn--bcher-kva.test",
		"bu\u0308cher.test": "xn--bcher-kva.test", "victim.test.": "victim.test", "victim。test": "victim.test", "ＶＩＣＴＩＭ.test": "victim.test",
		"vic\u00adtim.test": "victim.test", "VICTIM.TEST": "victim.test",
	} {
		for _, p := range []string{port, ":0" + port[1:]} {
			spelt = "http://" + name + p + "/x"
			g := &recordingGate{}
			c := testClient(t, func(cfg *Config) { cfg.Gate, cfg.Resolver = g, dns })
			resp, err := c.Fetch(context.Background(), Request{URL: "http://liar.test" + port + "/x", FollowOffHost: true})
			require.NoError(t, err, spelt)
			require.Equal(t, "found", string(resp.Body), spelt)
			slices.Sort(g.turns)
			require.Equal(t, []string{"liar.test" + port, odd + port}, slices.Compact(g.turns), spelt)
		}
	}
}
