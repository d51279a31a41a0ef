package console

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHomepagesAreSaid: of each author of wanted papers their homepages are listed, or why there
// are none, and what was looked at; a person names a page, rejects one, or takes that back.
func TestHomepagesAreSaid(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	of := "/homepages?harvest=" + url.QueryEscape(sampleHarvest)
	require.Regexp(t, `(?s)is known of 1 of 1 author of wanted.*href="/people/1%2F1">Ada Lovelace.*http://www.ada.example/</a>`, d.page(of))
	require.Contains(t, d.page(of+"&missing=yes"), "There is none")
	require.Contains(t, d.page("/harvests/"+url.PathEscape(sampleHarvest)), of[:10]+"?harvest=conf%2fwebdb%2f1998-1999")
	require.Contains(t, d.page("/papers/conf%2Fwebdb%2FP1"), `href="/people/1%2F1"`)
	d.exec(`INSERT INTO homepage_overrides (author_id, url, word) VALUES ('1/1', 'http://ada.example/odd', 'is-not')`)
	page := d.page("/people/1%2F1")
	for _, want := range []string{"http://ada.example/odd</a> is not their homepage", "a search for the name and the venue", "too little evidence", "Analytical Engines"} {
		require.Contains(t, page, want)
	}
	for form, want := range map[string]int{"do=is": 400, "do=maybe&url=http://a.example/": 400} {
		d.gives(want, "POST", "/people/1%2F1", form)
	}
	d.gives(http.StatusNotFound, "POST", "/people/9%2F9", "do=is&url=http://a.example/")
	for _, word := range []string{"is", "is-not", "forget"} {
		require.Contains(t, d.landed(d.do("POST", "/people/1%2F1", "do="+word+"&url=http://a.example/")),
			`role="status">did it.`)
	}
	require.Equal(t, []string{"homepage 1/1 http://a.example/ is", "homepage 1/1 http://a.example/ is-not",
		"homepage 1/1 http://a.example/ "}, d.ear.heard)
	d.exec(`DELETE FROM homepages`)
	require.Contains(t, d.page(of+"&missing=yes"), "none: no candidate showed enough evidence")
	d.exec(`DELETE FROM homepage_decisions`)
	require.Contains(t, d.page(of), "not looked for yet")
	d.exec(`DELETE FROM harvest_papers WHERE NOT held AND paper_key <> 'conf/webdb/P1'`)
	require.Contains(t, d.page(of), "not looked for: papers found")
}
