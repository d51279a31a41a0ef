package console

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// TestAnArchiveIsSent to the folder for imports, whole and under its own name, and the form that imports it names it.
func TestAnArchiveIsSent(t *testing.T) {
	t.Parallel()
	d, folder := jobDesk(t)
	archive := strings.Repeat("WARC/1.0\r\n", maxList/8) // longer than a list may be
	page := d.landed(d.uploadTo(uploadsPath, "crawl.warc.gz", archive, nil))
	require.Regexp(t, `(?s)role="status">uploads/crawl.warc.gz is here.*id="new-import" open>.*name="path"[^>]* value="uploads/crawl.warc.gz"`, page)
	kept, err := os.ReadFile(filepath.Join(folder, "uploads", "crawl.warc.gz"))
	require.NoError(t, err)
	require.True(t, string(kept) == archive)
	for name, want := range map[string]int{"crawl.warc.gz": 400, ".hidden": 400, "..": 400, "": 400} {
		res, body := d.uploadTo(uploadsPath, name, "x", nil)
		require.Equal(t, want, res.StatusCode, "%s: %s", name, body)
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "uploads", ".partial-old"), nil, 0o600))
	require.NoError(t, os.Chtimes(filepath.Join(folder, "uploads", ".partial-old"), time.Time{}, time.Unix(1, 0)))
	_, err = writeUpload(folder, "b.warc", io.MultiReader(strings.NewReader("x"), &meanwhile{func() {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "uploads", "b.warc"), []byte("another"), 0o600))
	}}))
	require.ErrorIs(t, err, errInput)
	is, err := os.ReadFile(filepath.Join(folder, "uploads", "b.warc"))
	require.NoError(t, err)
	require.Equal(t, "another", string(is))
	require.NoError(t, os.Remove(filepath.Join(folder, "uploads", "b.warc")))
	all, err := os.ReadDir(filepath.Join(folder, "uploads"))
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "uploads", ".partial-new"), nil, 0o600))
	d.gives(http.StatusSeeOther, "POST", "/jobs", "job=import&path=uploads/crawl.warc.gz")
	require.Equal(t, []string{"start job 3"}, d.ear.heard)
	require.Contains(t, d.page("/jobs"), `action="/uploads/crawl.warc.gz"`)
	require.Regexp(t, `"folder" selected>`, d.page("/jobs?path=uploads/thesis.ZIP"))
	require.Regexp(t, `(?s)>WARC, ARC or WACZ archives, as their.*>a folder or a zip of files<`, d.page("/jobs"))
	for _, name := range []string{"none.warc", ".partial-new", "%2e%2e%2f2026%2fcrawl.warc"} {
		d.gives(http.StatusNotFound, "POST", "/uploads/"+name, "do=remove")
	}
	remove := url.Values{"do": {"remove"}}
	require.Contains(t, d.landed(d.post("/uploads/crawl.warc.gz", remove)), "crawl.warc.gz is removed")
	require.NotContains(t, d.page("/jobs"), `action="/uploads/crawl.warc.gz"`)
	require.NoError(t, os.Rename(filepath.Join(folder, "uploads"), filepath.Join(folder, "away")))
	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "own"), nil, 0o600))
	require.NoError(t, os.Symlink(other, filepath.Join(folder, "uploads")))
	require.NotContains(t, d.page("/jobs"), `action="/uploads/own"`)
	_, _ = d.post("/uploads/own", remove)
	require.FileExists(t, filepath.Join(other, "own"), "it lies in another folder")
	d.Console.ImportFolder = ""
	res, _ := d.uploadTo(uploadsPath, "b.warc", "x", nil)
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	require.NotContains(t, d.page("/jobs"), `action="/uploads"`)
	require.Contains(t, d.page("/jobs"), "the setting GLEANER_CONSOLE_IMPORTS")
}

// meanwhile does something at the end of a file.
type meanwhile struct{ do func() }

func (m *meanwhile) Read([]byte) (int, error) { m.do(); return 0, io.EOF }

// TestAListOfWantedPapersIsSent: it is entered, and the harvest that it is of previewed and then started.
func TestAListOfWantedPapersIsSent(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	require.Contains(t, d.page("/"), `action="/lists"`)
	res, body := d.uploadTo(listsPath, "own.bib", ownList, url.Values{"name": {""}, "list": {""}})
	require.Equal(t, http.StatusOK, res.StatusCode, body)
	require.Regexp(t, `(?s)entry 2</li><li>about 70 requests for papers:own.*name="goal" value="papers:own".*Engines of`, body)
	_, _ = d.post("/harvests", url.Values{"goal": {"papers:own"}})
	require.Equal(t, []string{"list own.bib 318", "start papers:own  0s"}, d.ear.heard)
	paper := gleaner.Paper{Key: "papers:own/1", Title: "A Paper", Year: 2001}
	require.NoError(t, d.SaveListing(t.Context(), "file", "papers:own", "list", []gleaner.Paper{paper}))
	require.Contains(t, d.page("/"), `<option value="papers:own">`)
	_, _ = d.post("/harvests", url.Values{"kind": {"papers"}, "goal": {"Gratzer's Papers"}})
	require.Equal(t, "start papers:gratzer's-papers  0s", d.ear.heard[2], "as it is entered")
	of := store.Harvest{ID: "papers:own", Venue: "papers:own", Options: []byte("{}"), Stage: "complete"}
	require.NoError(t, d.SaveHarvest(t.Context(), of))
	require.Regexp(t, `(?s)<td>own</td>.*>1</td>.*>its harvest</a> is removed first`, d.page("/"))
	d.gives(http.StatusBadRequest, "POST", "/lists/own", "do=remove")
	d.exec(`DELETE FROM harvests WHERE id='papers:own'`)
	require.Contains(t, d.page("/"), `action="/lists/own"`)
	require.Contains(t, d.landed(d.post("/lists/own", url.Values{"do": {"remove"}})), "own is removed.")
	require.NotContains(t, d.page("/"), `action="/lists/own"`)
	body = d.gives(http.StatusBadRequest, "POST", listsPath, "name=x&list=odd")
	require.Regexp(t, `(?s)role="alert">x: format not known.*>odd</textarea>`, body)
}
