package ingest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/packtest"
)

// TestWACZ: the archives of a WACZ file are read in place, whether it stores or packs
// them, from any resource on; a zip file without any is no archive.
func TestWACZ(t *testing.T) {
	t.Parallel()
	one, two, three := plainRecord("http://a.test/1", "", "1"), plainRecord("http://a.test/2", "", "2"), plainRecord("http://a.test/3", "", "3")
	files := []string{"datapackage.json", "{}", "archive/a.warc.gz", string(packtest.Gzip(one, two)), "archive/b.warc", three}
	for name, method := range map[string]uint16{"stored.wacz": zip.Store, "packed.WACZ": zip.Deflate} {
		path := written(t, name, zipOf(t, method, files...))
		got, places := resources(t, path, Position{}, false)
		require.Equal(t, []string{"/1 read", "/2 read", "/3 read"}, got, name)
		for i, at := range places {
			rest, _ := resources(t, path, at, false)
			require.Equal(t, got[i:], rest, "%s from %+v", name, at)
		}
	}
	path := written(t, filepath.Join("a!", "b.wacz"), zipOf(t, zip.Store, files...))
	all, places := resources(t, path, Position{}, false)
	rest, _ := resources(t, path, places[1], false)
	require.Equal(t, all[1:], rest, "where a folder is called as if it were a WACZ file")
	readsNothing(t, zipOf(t, zip.Store, files[:2]...))
}

// zipOf is a zip file of files, the name of each before its text. Its deflate packs nothing.
func zipOf(t *testing.T, method uint16, files ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for method, level := range map[uint16]int{zip.Deflate: flate.NoCompression, countedMethod: flate.DefaultCompression} {
		z.RegisterCompressor(method, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, level) })
	}
	for file := range slices.Chunk(files, 2) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: file[0], Method: method})
		require.NoError(t, err)
		_, err = io.WriteString(w, file[1])
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// readsNothing reads a WACZ file of which nothing is read.
func readsNothing(t *testing.T, wacz []byte) {
	t.Helper()
	got, _ := resources(t, written(t, "a.wacz", wacz), Position{}, false)
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

// TestUnpackedAgain: a damaged archive that a WACZ file packs is unpacked a few times at
// most, however often it is read again from within.
func TestUnpackedAgain(t *testing.T) {
	t.Parallel()
	const records, own = 3500, 4 * packedResource
	var text strings.Builder
	bodies := noise(records * own)
	for i := range records {
		text.WriteString(plainRecord("http://a.test/1", "", strings.Repeat("1", 2000-own)+bodies[i*own:][:own]) + "x")
	}
	got, _ := resources(t, written(t, "a.wacz", zipOf(t, countedMethod, "archive/a.warc", text.String())), Position{}, false)
	require.Greater(t, len(got), records)
	require.Less(t, unpackedBytes.Load(), int64(6*text.Len()+16<<20), "of %d bytes", text.Len())
}

// TestNamesInAWACZ: a position tells archives apart by their names, and each resource is noted
// with that of its archive. All names are held at once.
func TestNamesInAWACZ(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range maxInside + 1 {
		many = append(many, fmt.Sprintf("%d.warc", i))
	}
	for _, names := range [][]string{{"a.warc", "a.warc"}, {strings.Repeat("a", maxName) + ".warc"}, many} {
		var files []string
		for _, name := range names {
			files = append(files, name, plainRecord("http://a.test/1", "", "1"))
		}
		readsNothing(t, zipOf(t, zip.Store, files...))
	}
}

// TestOverlap: a WACZ file whose directory has the same bytes many times is no archive.
func TestOverlap(t *testing.T) {
	t.Parallel()
	b := zipOf(t, countedMethod, "archive/a.warc", plainRecord("http://a.test/1", "", noise(4000)))
	at, end := bytes.Index(b, []byte("PK\x01\x02")), bytes.Index(b, []byte("PK\x05\x06"))
	entries := bytes.Repeat(b[at:end], 3)
	b = slices.Concat(b[:at], entries, b[end:])
	end = at + len(entries)
	binary.LittleEndian.PutUint16(b[end+8:], 3)
	binary.LittleEndian.PutUint16(b[end+10:], 3)
	binary.LittleEndian.PutUint32(b[end+12:], uint32(len(entries)))
	readsNothing(t, b)
}

// TestWACZElsewhere: of a WACZ file of a server no byte is asked for twice, however many archives
// it has. What the server says of its size makes neither room for entries of its directory that
// are not there, nor for resources that its bytes cannot hold.
func TestWACZElsewhere(t *testing.T) {
	t.Parallel()
	made := func(archives int, method uint16, text string) []byte {
		var files []string
		for i := range archives {
			files = append(files, fmt.Sprintf("archive/%d.warc.zst", i), text)
		}
		return zipOf(t, method, files...)
	}
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	dense := z.EncodeAll(bytes.Repeat([]byte("WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: dns:a\r\nContent-Length: 0\r\n\r\n\r\n\r\n"), 8*freeResources), nil)
	const claimed = 1 << 30
	end := zip64end(claimed/30-1000, claimed)
	for name, c := range map[string]struct {
		data        []byte
		size        int64
		least, most int // resources
		detail      string
	}{
		"many stored": {data: made(260, zip.Store, plainRecord("http://a.test/1", "", strings.Repeat("\x00", 260<<10))), least: 260, most: 260},
		"deflated":    {data: made(1, zip.Deflate, strings.Repeat(plainRecord("http://a.test/1", "", noise(1<<20)), 20)), least: 20, most: 20},
		"entries":     {data: end, size: claimed, least: 1, most: 1, detail: "a directory of more than 8 MiB"},
		"resources":   {data: made(1, zip.Store, string(dense)), size: 1 << 40, least: 1, most: len(dense)/8 + packedResource + 4, detail: "more resources than its bytes can hold"},
	} {
		e := &elsewhere{data: append(make([]byte, 1<<20), c.data...)}
		size := max(c.size, int64(len(e.data)))
		e.before = size - int64(len(e.data))
		a := &archives{files: []stored{{name: "http://a.test/x.wacz", place: e, size: size}}}
		n, detail := 0, ""
		for r := range rest(t, a) {
			n, detail = n+1, r.Detail
		}
		require.LessOrEqual(t, c.least, n, name)
		require.LessOrEqual(t, n, c.most, name)
		require.Contains(t, detail, c.detail, name)
		require.Equal(t, c.detail == "", detail == "", "%s: %s", name, detail)
		require.Less(t, e.asked, 2*len(e.data)+1<<20, "%s: of %d bytes", name, len(e.data))
		for _, f := range a.files {
			require.Nil(t, f.inside, name)
		}
	}
}

// zip64end is the end of a directory of so many entries, which is that of a zip file of that size.
func zip64end(entries, size uint64) []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 56), "PK\x06\x07\x00\x00\x00\x00"...)
	copy(b, "PK\x06\x06")
	le.PutUint64(b[32:], entries)
	le.PutUint64(b[40:], leastEntry)
	at := size - 56 - 20 - 22
	le.PutUint64(b[48:], at-leastEntry)
	b = le.AppendUint32(le.AppendUint64(b, at), 1)
	return append(append(b, "PK\x05\x06\x00\x00\x00\x00"...),
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00"...)
}
