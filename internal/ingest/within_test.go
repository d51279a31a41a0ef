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
	top := t.TempDir()
	folder := filepath.Join(top, "imports")
	require.NoError(t, os.Mkdir(folder, 0o700))
	secret := filepath.Join(top, "secret.warc")
	require.NoError(t, os.WriteFile(secret, record("response", "dns:secret.example", "text/dns", "", "x"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a.warc"), record("response", "dns:a.example", "text/dns", "", "x"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(folder, "b.warc")))
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
	top := t.TempDir()
	folder, private := filepath.Join(top, "imports"), filepath.Join(top, "private")
	require.NoError(t, os.MkdirAll(filepath.Join(private, "hts-cache"), 0o700))
	require.NoError(t, os.Mkdir(folder, 0o700))
	for name, text := range map[string]string{
		"a.warc": string(record("response", "dns:secret.example", "text/dns", "", "x")), "crawl.log": "x", "list.csv": "path,url\n", "hts-cache/new.txt": "x",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(private, name), []byte(text), 0o600))
	}
	up := filepath.Join(folder, "up")
	require.NoError(t, os.Symlink(private, up))
	for _, o := range []Options{
		{Format: Auto, Paths: []string{up}}, {Format: Auto, Paths: []string{filepath.Join(up, "a.warc")}}, {Format: Mirror, Paths: []string{up}},
		{Format: Folder, Paths: []string{up}, URLs: "https://www.example.edu/{path}"}, {Format: Heritrix, Paths: []string{up}},
		{Format: CSV, Paths: []string{filepath.Join(up, "list.csv")}},
	} {
		o.Within = folder
		log, err := Open(t.Context(), source.Places{}, o, Position{})
		require.ErrorIs(t, err, ErrInput, o.Format)
		require.ErrorIs(t, err, source.ErrOutside, o.Format)
		require.Nil(t, log)
	}
	_, err := disk{within: folder}.open(filepath.Join(up, "a.warc"))
	require.ErrorIs(t, err, source.ErrOutside, "what became a link after it was looked at")
}
