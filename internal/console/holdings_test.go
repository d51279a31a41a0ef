package console

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

// A list that names two papers that a harvest looks for, one that nobody knows, and
// something else.
const ownList = `@article{a, title={Analytical Engines for Everyone and Their Machines}, year=1999, author={Lovelace, Ada}}
@article{b, title={Difference Engines in the Large}, year=1998, author={Lovelace, Ada}}
@article{c, title={A Paper of Another Field}, year=2003, author={Roe, Richard}}
@article{d, title={No Year}, year={in 2x}}
`

// upload sends a form with a file.
func (d *desk) upload(name, text string, form url.Values) (*http.Response, string) {
	d.t.Helper()
	return d.uploadTo(holdingsPath, name, text, form, "Accept", "application/json")
}

func (d *desk) uploadTo(path, name, text string, form url.Values, headers ...string) (*http.Response, string) {
	d.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for field, values := range form {
		require.NoError(d.t, w.WriteField(field, values[0]))
	}
	part, err := w.CreateFormFile("file", name)
	require.NoError(d.t, err)
	_, err = part.Write([]byte(text))
	require.NoError(d.t, err)
	require.NoError(d.t, w.Close())
	return d.do("POST", path, body.String(), append(headers, "Content-Type", w.FormDataContentType())...)
}

// TestHoldingsAreLookedAtFirst: a list says what it would come to before anything is held,
// what of it cannot be read is named, and it can be taken back.
func TestHoldingsAreLookedAtFirst(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	held := func() int {
		all, err := d.Holdings(t.Context())
		require.NoError(t, err)
		return len(all)
	}
	form := url.Values{"do": {"preview"}, "name": {"own"}, "list": {ownList}}
	body := d.gives(http.StatusOK, "POST", holdingsPath, form.Encode())
	for _, want := range []string{
		"3 papers: 3 new, 0 that", "2 of the papers that harvests look for", "line 4", "in 2x",
		"These 3 papers are held",
		`name="name" maxlength="200" value="own"`, "Papers that harvests look for, and will not any more",
		"<td>A Paper of Another Field", `<td data-name="authors">Richard Roe`,
	} {
		require.Contains(t, body, want)
	}
	require.Equal(t, 1, held(), "nothing was entered yet")

	form.Set("do", "enter")
	require.Contains(t, d.landed(d.post(holdingsPath, form)), "3 papers are held, 3 of them new; 1 could not be read")
	require.Equal(t, 4, held())
	shelf := "title,year\nA Paper of Another Field,2003\nAnother One,2004\n"
	utf16 := "\xff\xfe" + strings.Join(strings.Split(shelf, ""), "\x00") + "\x00"
	res, body := d.upload("shelf.csv", utf16, url.Values{"do": {"enter"}})
	require.Equal(t, http.StatusOK, res.StatusCode, body)
	p := answer[holdingsPage](d, holdingsPath)
	require.Len(t, p.Lists, 3)
	require.Equal(t, "shelf.csv", p.Lists[0].Source)

	shorter := url.Values{"do": {"preview"}, "name": {"shelf.csv"}, "list": {"title,year,Signatur,\nA Paper of Another Field,2003,X 1,\n"}}
	_, body = d.post(holdingsPath, shorter)
	require.Contains(t, body, "Not read: the column Signatur.")
	require.Contains(t, body, "1 of the list of this name so far are not in it")
	shorter.Set("do", "enter")
	require.Contains(t, d.landed(d.post(holdingsPath, shorter)), "1 of before are not any more")
	require.Equal(t, 5, held(), "a list replaces the one of its name")
	require.Contains(t, d.landed(d.post(holdingsPath, url.Values{"do": {"forget"}, "name": {"own"}})),
		"own is taken back: 3 papers are not held any more")
	require.Equal(t, 2, held())
}

// TestBadListsAreRefused with what is wrong with them, and the form keeps what was written.
func TestBadListsAreRefused(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	many := "title,year\n" + strings.Repeat("A Paper,soon\n", 60)
	for list, want := range map[string]string{
		"":                                     "the list is empty",
		"Dear colleagues,\nwe hold a lot.":     "neither BibTeX",
		"title,year\n":                         "names no paper",
		"title,year\nA Paper,soon\n":           "no paper could be read: line 2",
		many:                                   "line 51",
		"title\nG\xf6del\n":                    "line 2 is no text in UTF-8",
		"title\nA\x00B\n":                      "a list as UTF-8",
		"[{\"title\": \"A Paper\"}]":           "CSL-JSON",
		"title\n" + strings.Repeat("a", 1<<17): "too many of its papers are none",
	} {
		for _, do := range []string{"preview", "enter"} {
			res, body := d.post(holdingsPath, url.Values{"do": {do}, "name": {"bad"}, "list": {list}})
			require.Equal(t, http.StatusBadRequest, res.StatusCode, "%.60q: %s", list, body)
			require.Contains(t, body, want)
			require.Contains(t, body, `value="bad"`, "what was written is there still")
		}
	}
	long := strings.Repeat("a", 201)
	for _, form := range []string{
		"do=preview&list=title", "do=enter&name=%00&list=title", "do=enter&name=" + long + "&list=title", "do=forget",
		"do=else&name=a",
	} {
		d.gives(http.StatusBadRequest, "POST", holdingsPath, form)
	}
	d.gives(http.StatusNotFound, "POST", holdingsPath, "do=forget&name=none")
	res, body := d.upload("a.csv", "title\nA Paper\n", url.Values{"do": {"preview"}, "list": {"title\nAnother\n"}})
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	require.Contains(t, body, "not both")
	res, body = d.upload("a.csv", strings.Repeat("a", maxList), url.Values{"do": {"preview"}})
	require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
	require.Contains(t, body, "a list has at most 8 MB (`starter holdings import FILE` takes longer ones)")
	res, _ = d.do("POST", "/blacklist", "do=add&host=a.example&reason="+strings.Repeat("a", maxForm))
	require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode, "elsewhere no more than before")
	lists, err := d.HeldSources(t.Context())
	require.NoError(t, err)
	require.Len(t, lists, 1)
}

// TestHoldingsInABrowser: a person picks a file, sees what it comes to on a phone, and
// enters it.
func TestHoldingsInABrowser(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	file := filepath.Join(t.TempDir(), "own.bib")
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(ownList, "\n", "\r\n")), 0o600))
	w := d.window()
	w.size(360, "dark")
	w.open(holdingsPath)
	w.do(chromedp.SetUploadFiles("#file", []string{file}), chromedp.Click(`button[value=preview]`))
	w.until(`document.querySelector("#seen")?.textContent.includes("own.bib")`)
	require.Contains(t, see[string](w, `document.querySelector("main").textContent`), "3 papers: 3 new")
	require.Empty(t, see[string](w, looks))
	w.picture("holdings-preview")
	w.do(chromedp.Click(`button[value=enter]`))
	w.until(`document.querySelector("[role=status]")?.textContent.includes("own.bib is entered: 3 papers")`)
	require.Empty(t, w.complaints())
	all, err := d.HeldSources(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, store.HeldSource{Source: "own.bib", Papers: 3, Alone: 3, Imported: all[0].Imported}, all[0])
}
