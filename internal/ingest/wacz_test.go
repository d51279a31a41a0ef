package ingest

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWACZ: the archives of a WACZ file are read in place, whether it stores or packs
// them, from any resource on; a zip file without any is no archive.
func TestWACZ(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made := func(name string, method uint16, files map[string][]byte) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, n := range []string{"datapackage.json", "archive/a.warc.gz", "archive/b.warc"} {
			if files[n] == nil {
				continue
			}
			w, err := z.CreateHeader(&zip.FileHeader{Name: n, Method: method})
			require.NoError(t, err)
			_, err = w.Write(files[n])
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
		return path
	}
	one, two, three := plainRecord("http://a.test/1", "", "1"), plainRecord("http://a.test/2", "", "2"), plainRecord("http://a.test/3", "", "3")
	files := map[string][]byte{"datapackage.json": []byte("{}"), "archive/a.warc.gz": zipped(one, two), "archive/b.warc": []byte(three)}
	for name, method := range map[string]uint16{"stored.wacz": zip.Store, "packed.WACZ": zip.Deflate} {
		path := made(name, method, files)
		got, places := resources(t, path, Position{}, false)
		require.Equal(t, []string{"/1 read", "/2 read", "/3 read"}, got, name)
		for i, at := range places {
			rest, _ := resources(t, path, at, false)
			require.Equal(t, got[i:], rest, "%s from %+v", name, at)
		}
	}
	got, _ := resources(t, made("none.wacz", zip.Store, map[string][]byte{"datapackage.json": []byte("{}")}), Position{}, false)
	require.Equal(t, []string{NoArchive}, got)
}
