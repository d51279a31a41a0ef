package console

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHostsArePutOnTheBlacklist and taken off it, each with a reason; what is no host
// is said.
func TestHostsArePutOnTheBlacklist(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	res, body := d.do("POST", "/blacklist", url.Values{"do": {"add"}, "host": {" WWW.Example.edu "}, "reason": {"asked us " + hostile}}.Encode())
	require.Equal(t, http.StatusSeeOther, res.StatusCode, body)
	page := d.page(res.Header.Get("Location"))
	require.Contains(t, page, "www.example.edu")
	require.Contains(t, page, "bad.example", "the others are still listed")
	why, err := d.Blocked(t.Context(), "www.example.edu")
	require.NoError(t, err)
	require.Contains(t, why, "asked us")
	p := answer[blacklistPage](d, "/blacklist")
	require.Len(t, p.Hosts, 2)
	_, body = d.do("POST", "/blacklist", "do=remove&host=bad.example&reason=again", "Accept", "application/json")
	require.JSONEq(t, `{"name": "bad.example", "did": "is off the blacklist: it may be asked again"}`, body)
	for form, want := range map[string]int{"do=remove&host=bad.example": 404, "do=add&host=www.example.edu&reason=else": 400, "do=add&host=a+b": 400, "do=add&host=http://x.example/": 400, "do=add": 400, "do=add&host=com": 400, "do=drop&host=x.example": 400} {
		d.gives(want, "POST", "/blacklist", form)
	}
	d.gives(http.StatusForbidden, "POST", "/blacklist", "do=add&host=x.example", "Origin", "https://stranger.example")
}
