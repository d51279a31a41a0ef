package console

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestCollectionsAreListed: of the collection of a topic each entry is on one page, the
// most similar first, and those of the others are counted.
func TestCollectionsAreListed(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	all := answer[collectionsPage](d, "/collections")
	require.Len(t, all.Collections, 1)
	require.Equal(t, "ended", all.Collections[0].State)
	const path = "/collections/conf%2Fmaths"
	seen, last := map[string]bool{}, 2.0
	for next := path; next != ""; {
		p := answer[collectionPage](d, next)
		require.Equal(t, []topicRow{{"graphs", 120, 0.4}, {"knots", 10, 0.35}}, p.Topics)
		require.Equal(t, "graphs", p.Topic)
		for _, e := range p.Entries {
			require.False(t, seen[e.URL], "%s is there twice", e.URL)
			require.LessOrEqual(t, e.Correlation, last)
			seen[e.URL], last = true, e.Correlation
		}
		next = follow(path, p.Next)
	}
	require.Len(t, seen, 120)
	body := d.page(path)
	require.Contains(t, body, `<a href="/documents/`+sampleSHA)
	require.Contains(t, body, "1.000")
	require.NotContains(t, body, `value="cancel"`)
	require.Contains(t, body, `action="/collections/conf%2Fmaths/export"`)
	for path, code := range map[string]int{"/collections/none": http.StatusNotFound, path + "?after=x": http.StatusBadRequest, path + "?after=0.5%20-9223372036854775808": http.StatusBadRequest,
		path + "?after=0.5%2099999999999": http.StatusOK, "/collections?after=99999999999": http.StatusBadRequest} {
		d.gives(code, "GET", path, "")
	}
}

// TestCollectionsInABrowser goes by keyboard and mouse from the list of collections to the
// last page of a topic, and from the list of parents to what is known of one: all is on
// pages of the console, and the words of strangers do nothing.
func TestCollectionsInABrowser(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	d.exec(`UPDATE collection_urls SET parent='javascript:alert(3)'`)
	d.exec(`UPDATE parents SET url='javascript:alert(4)' WHERE host='p1.example'`)
	w := d.window()
	w.size(1280, "light")
	const at = `decodeURIComponent(location.pathname) + location.search`
	rows := func() int { return see[int](w, `document.querySelectorAll("tbody tr").length`) }
	harmless := func() {
		require.Zero(t, see[int](w, `[...document.querySelectorAll("main script, main img, main a")].filter(e => !/^https?:$/.test(e.protocol)).length`))
		require.Empty(t, w.complaints())
	}
	w.open("/")
	w.do(chromedp.Click(`nav a[href="/collections"]`))
	w.until(`document.querySelector("[aria-current]")?.textContent == "Collections" && document.readyState == "complete"`)
	harmless()
	w.do(chromedp.Click("tbody a"))
	w.until(at + ` == "/collections/conf/maths" && document.readyState == "complete"`)
	require.Equal(t, pageSize, rows())
	harmless()
	for range 2 {
		was := see[string](w, `location.href`)
		w.do(chromedp.Click("a[rel=next]"))
		w.until(fmt.Sprintf(`location.href != %q && document.readyState == "complete"`, was))
	}
	require.Equal(t, 20, rows())
	require.False(t, see[bool](w, `!!document.querySelector("a[rel=next]")`))
	w.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#topic").value = "knots"`), chromedp.Click("form:has(#topic) button"))
	w.until(at + ` == "/collections/conf/maths?topic=knots" && document.readyState == "complete"`)
	require.Equal(t, 10, rows())
	harmless()

	w.do(chromedp.Click(`nav a[href="/parents"]`))
	w.until(`location.pathname == "/parents" && document.readyState == "complete"`)
	harmless()
	w.write("#site", "p1.example"+kb.Enter)
	w.until(`location.search == "?site=p1.example" && document.readyState == "complete"`)
	require.Equal(t, 1, rows())
	require.Contains(t, see[string](w, `document.querySelector("tbody").textContent`), "javascript:alert(4)")
	harmless()
	w.write("#site", "www.ada.example"+kb.Enter)
	w.until(`location.search == "?site=www.ada.example" && document.readyState == "complete"`)
	require.Equal(t, "http://www.ada.example/", see[string](w, `document.querySelector("tbody a").href`),
		"no crawl can say more of it")
	d.exec(`UPDATE parents SET page=u.hash, url=u.url, host='www.ada.example' FROM urls u WHERE u.url='http://www.ada.example/p0.pdf' AND parents.host='p2.example'`)
	w.open("/parents?site=www.ada.example")
	w.do(chromedp.Click(`tbody a[href*="p0.pdf"]`))
	w.until(`location.pathname == "/urls" && document.readyState == "complete"`)
	harmless()
}

// TestParentsAreListed: each page that leads to documents is on one page of the list, with
// the days of its crawls.
func TestParentsAreListed(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	seen := map[string]bool{}
	for next := "/parents"; next != ""; {
		p := answer[parentsPage](d, next)
		for _, r := range p.Parents {
			require.False(t, seen[r.URL], "%s is there twice", r.URL)
			seen[r.URL] = true
		}
		next = follow("/parents", p.Next)
	}
	require.Len(t, seen, 121)
	one := answer[parentsPage](d, "/parents?site=www.ada.example")
	require.Len(t, one.Parents, 1)
	require.Equal(t, 2, one.Parents[0].Documents)
	require.False(t, one.Parents[0].Read)
	body := d.page("/parents?site=p7.example")
	require.Contains(t, body, "30 Jun 2005")
	require.Contains(t, body, "no document")
	d.gives(http.StatusBadRequest, "GET", "/parents?after=x", "")
}

// TestACollectionIsMade of topics or venues with its main options, paused, resumed and cancelled.
func TestACollectionIsMade(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	require.Contains(t, d.page("/collections"), `action="/collections"`)
	require.NotContains(t, d.page("/collections/conf%2Fmaths"), `value="cancel"`, "it has ended")
	d.exec(`UPDATE collections SET state='running'`)
	require.Contains(t, d.page("/collections/conf%2Fmaths"), `value="cancel"`)
	made := url.Values{"name": {"conf/maths"}, "topics": {"knots\r\nnumber theory: prime numbers\r\n\r\n"},
		"size": {"20"}, "time": {"6h"}, "policy": {"gleaner"}}
	require.Contains(t, d.landed(d.post("/collections", made)), `role="status">conf/maths did it.`)
	require.Contains(t, d.landed(d.post("/collections", url.Values{"name": {"conf/maths"},
		"venues": {"conf/webdb conf/vldb"}})), "did it")
	require.Contains(t, d.landed(d.post("/collections/conf%2Fmaths", url.Values{"do": {"pause"}})), "did it")
	require.Equal(t, []string{
		"collect conf/maths [{knots } {number theory prime numbers}] [] map[policy:gleaner size:20 time:6h]",
		"collect conf/maths [] [conf/webdb conf/vldb] map[]", "pause collection conf/maths",
	}, d.ear.heard)
	for _, wrong := range []url.Values{{"name": {"x"}}, {"topics": {"knots"}}, {"name": {"x"}, "topics": {"knots"}, "venues": {"conf/x"}}, {"name": {"x"}, "topics": {"knots"}, "policy": {"odd"}}} {
		d.gives(http.StatusBadRequest, "POST", "/collections", wrong.Encode())
	}
}
