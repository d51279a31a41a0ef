package ingest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/packtest"
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
	files := map[string][]byte{"datapackage.json": []byte("{}"), "archive/a.warc.gz": packtest.Gzip(one, two), "archive/b.warc": []byte(three)}
	for name, method := range map[string]uint16{"stored.wacz": zip.Store, "packed.WACZ": zip.Deflate} {
		path := made(name, method, files)
		got, places := resources(t, path, Position{}, false)
		require.Equal(t, []string{"/1 read", "/2 read", "/3 read"}, got, name)
		for i, at := range places {
			rest, _ := resources(t, path, at, false)
			require.Equal(t, got[i:], rest, "%s from %+v", name, at)
		}
	}
	inner := filepath.Join(dir, "a!")
	require.NoError(t, os.Mkdir(inner, 0o700))
	path := made(filepath.Join("a!", "b.wacz"), zip.Store, files)
	all, places := resources(t, path, Position{}, false)
	rest, _ := resources(t, path, places[1], false)
	require.Equal(t, all[1:], rest, "where a folder is called as if it were a WACZ file")
	got, _ := resources(t, made("none.wacz", zip.Store, map[string][]byte{"datapackage.json": []byte("{}")}), Position{}, false)
	require.Equal(t, []string{NoArchive}, got)
}

// countedMethod is deflate, whose unpacked bytes are counted.
const countedMethod = 0x4242

var unpackedBytes = func() *atomic.Int64 {
	n := new(atomic.Int64)
	zip.RegisterDecompressor(countedMethod, func(r io.Reader) io.ReadCloser { return counting{flate.NewReader(r), n} })
	return n
}()

type counting struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// packedWACZ is a WACZ file of one deflated archive.
func packedWACZ(t *testing.T, text string) []byte {
	var packed, b bytes.Buffer
	d, err := flate.NewWriter(&packed, flate.DefaultCompression)
	require.NoError(t, err)
	_, err = io.WriteString(d, text)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{
		Name:               "archive/a.warc",
		Method:             countedMethod,
		CompressedSize64:   uint64(packed.Len()),
		UncompressedSize64: uint64(len(text)),
	})
	require.NoError(t, err)
	_, err = w.Write(packed.Bytes())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// TestUnpackedAgain: a damaged archive that a WACZ file packs is unpacked a few times at
// most, however often it is read again from within.
func TestUnpackedAgain(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(plainRecord("http://a.test/1", "", strings.Repeat("1", 2000))+"x", 3500)
	path := filepath.Join(t.TempDir(), "a.wacz")
	require.NoError(t, os.WriteFile(path, packedWACZ(t, text), 0o600))
	got, _ := resources(t, path, Position{}, false)
	require.Greater(t, len(got), 3500)
	require.Less(t, unpackedBytes.Load(), int64(6*len(text)+16<<20), "of %d bytes", len(text))
}

// TestNamesInAWACZ: a position tells archives apart by their names, and each resource is noted
// with that of its archive.
func TestNamesInAWACZ(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{{"a.warc", "a.warc"}, {strings.Repeat("a", maxName) + ".warc"}} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range names {
			w, err := z.Create(name)
			require.NoError(t, err)
			_, err = io.WriteString(w, plainRecord("http://a.test/1", "", "1"))
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		path := filepath.Join(t.TempDir(), "a.wacz")
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
		got, _ := resources(t, path, Position{}, false)
		require.Equal(t, []string{NoArchive}, got)
	}
}

// TestOverlap: a WACZ file whose directory has the same bytes many times is no archive.
func TestOverlap(t *testing.T) {
	t.Parallel()
	b := packedWACZ(t, plainRecord("http://a.test/1", "", noise(4000)))
	at, end := bytes.Index(b, []byte("PK\x01\x02")), bytes.Index(b, []byte("PK\x05\x06"))
	entries := bytes.Repeat(b[at:end], 3)
	b = slices.Concat(b[:at], entries, b[end:])
	end = at + len(entries)
	binary.LittleEndian.PutUint16(b[end+8:], 3)
	binary.LittleEndian.PutUint16(b[end+10:], 3)
	binary.LittleEndian.PutUint32(b[end+12:], uint32(len(entries)))
	path := filepath.Join(t.TempDir(), "a.wacz")
	require.NoError(t, os.WriteFile(path, b, 0o600))
	got, _ := resources(t, path, Position{}, false)
	require.Equal(t, []string{NoArchive}, got)
}
