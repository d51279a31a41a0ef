package ingest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/ingest/source"
)

// TestAnImportStaysWithinItsFolder: an archive that a folder links to from outside is passed
// over by name, and its crawl.log is not read.
func TestAnImportStaysWithinItsFolder(t *testing.T) {
	t.Parallel()
	top := lay(t, t.TempDir(), map[string]string{"secret.warc": string(dns("secret.example")), "imports/a.warc": string(dns("a.example"))})
	folder := filepath.Join(top, "imports")
	require.NoError(t, os.Symlink(filepath.Join(top, "secret.warc"), filepath.Join(folder, "b.warc")))
	require.NoError(t, os.Symlink("a.warc", filepath.Join(folder, "c.warc")))
	all, _ := read(t, Options{Paths: []string{folder}, Within: folder}, Position{})
	var got []string
	for _, r := range all {
		if got = append(got, filepath.Base(r.Source)+" "+r.URL); r.URL == "" {
			require.Equal(t, Outside, r.Skip)
		}
	}
	require.Equal(t, []string{"a.warc dns:a.example", "b.warc ", "c.warc dns:a.example"}, got)
}

// TestAFolderThatBecameALink out of the import's folder, since the import was set up, is not
// opened, whatever it is read as.
func TestAFolderThatBecameALink(t *testing.T) {
	t.Parallel()
	private := lay(t, t.TempDir(), map[string]string{
		"a.warc": string(dns("secret.example")), "crawl.log": "x", "list.csv": "path,url\n", "hts-cache/new.txt": "x",
	})
	folder := t.TempDir()
	up := filepath.Join(folder, "up")
	require.NoError(t, os.Symlink(private, up))
	for _, o := range []Options{
		{Format: Auto, Paths: []string{up}}, {Format: Auto, Paths: []string{filepath.Join(up, "a.warc")}}, {Format: Mirror, Paths: []string{up}},
		{Format: Folder, Paths: []string{up}, URLs: "https://www.example.edu/{path}"}, {Format: Heritrix, Paths: []string{up}},
		{Format: CSV, Paths: []string{filepath.Join(up, "list.csv")}},
	} {
		o.Within = folder
		refused(t, source.Places{}, o, ErrInput, "")
		refused(t, source.Places{}, o, source.ErrOutside, "")
	}
	_, err := disk{within: folder}.open(filepath.Join(up, "a.warc"))
	require.ErrorIs(t, err, source.ErrOutside, "what became a link after it was looked at")
}
