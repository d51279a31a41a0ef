package archive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/packtest"
	"gleaner/internal/lab/realdata"
)

// seen is what a test looks at of a record.
type seen struct {
	at        Position
	kind, url string
	status    int
	body      string
	err       error
}

// bytesOf is an archive in memory.
func bytesOf(data []byte) Source {
	return func(offset int64) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data[min(offset, int64(len(data))):])), nil
	}
}

// all reads what data has from a position on.
func all(t testing.TB, data []byte, at Position) ([]seen, error) {
	a, err := New(bytesOf(data), at)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var out []seen
	var damage error // the first
	for {
		r, err := a.Next()
		if err == io.EOF {
			return out, damage
		}
		if _, ok := errors.AsType[*Damage](err); ok {
			damage = cmp.Or(damage, err)
			continue
		}
		require.NoError(t, err)
		s := seen{at: r.At, kind: r.Type, url: r.URL}
		p, err := r.Payload()
		if s.err = err; err == nil {
			var body []byte
			body, s.err = io.ReadAll(io.LimitReader(p.Body, 1<<20))
			s.status, s.body = p.Status, string(body)
			p.Close()
		}
		out = append(out, s)
	}
}

func warc(kind, url, media, block string) string {
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, url, media, len(block), block)
}

func response(url, head, body string) string {
	return warc(Response, url, "application/http; msgtype=response", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"+head+"\r\n"+body)
}

// parts are the records of the tests, and what they say.
func parts() []string {
	return []string{
		warc(Info, "", "application/warc-fields", "software: a test\r\n"),
		response("http://a.test/1", "", "plain"),
		response("<http://a.test/2>", "Transfer-Encoding: chunked\r\n", "3;x=y\r\nchu\r\n4;x=y\r\nnked\r\n0\r\n\r\n"),
		response("http://a.test/3", "Transfer-Encoding: chunked\r\n", "not chunked"),
		response("http://a.test/4", "Content-Encoding: gzip\r\n", string(packtest.Gzip("packed"))),
		response("http://a.test/5", "Content-Encoding: gzip\r\n", "not packed"),
		response("http://a.test/6", "Content-Encoding: none\r\nbroken\r\nX: y\r\n z\r\n", "odd header"),
		warc(Resource, "http://a.test/7", "text/plain", "a file"),
		warc(Response, "dns:a.test", "text/dns", "20260102030405\na.test 10 IN A 127.0.0.1\n"),
		response("http://a.test/8", "", strings.Repeat("long ", 20000)),
	}
}

var bodies = []string{"software: a test\r\n", "plain", "chunked", "not chunked", "packed", "not packed", "odd header", "a file", "20260102030405\na.test 10 IN A 127.0.0.1\n", strings.Repeat("long ", 20000)}

// packings are the ways in which archives are written.
func packings(t testing.TB) map[string][]byte {
	text := strings.Join(parts(), "")
	gz := packtest.Gzip[string]
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	var frames, one bytes.Buffer
	for _, p := range parts() {
		frames.Write(enc.EncodeAll([]byte(p), nil))
		frames.WriteString("\x50\x2a\x4d\x18\x03\x00\x00\x00abc") // a skippable frame
	}
	one.Write(enc.EncodeAll([]byte(text), nil))
	within := packtest.Gzip(slices.Collect(slices.Chunk([]byte(text), 3500))...)
	return map[string][]byte{"plain": []byte(text), "gzip": gz(parts()...), "gzip, one member": gz(text), "gzip, members within records": within,
		"zstd": frames.Bytes(), "zstd, one frame": one.Bytes()}
}

// TestPackings: however an archive is packed its records are the same, and reading
// can begin at any of them.
func TestPackings(t *testing.T) {
	t.Parallel()
	for name, data := range packings(t) {
		got := everywhere(t, name, data)
		require.Equal(t, "http://a.test/2", got[2].url)
		require.Equal(t, 200, got[2].status)
	}
}

// everywhere reads the records of the tests, also from each of them on.
func everywhere(t *testing.T, name string, data []byte) []seen {
	got, err := all(t, data, Position{})
	require.NoError(t, err, name)
	require.Len(t, got, len(bodies), name)
	for i, s := range got {
		require.NoError(t, s.err, "%s %d", name, i)
		require.Equal(t, bodies[i], s.body, "%s %d", name, i)
		rest, err := all(t, data, s.at)
		require.NoError(t, err, "%s %d", name, i)
		require.Equal(t, got[i:], rest, "%s %d", name, i)
	}
	return got
}

// TestCutOff: an archive that is cut off anywhere gives the records before the cut
// and says that it is damaged, unless the cut is between two records.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for name, data := range packings(t) {
		whole, err := all(t, data, Position{})
		require.NoError(t, err)
		for n := 1; n < len(data); n += 1 + len(data)/60 {
			got, err := all(t, data[:n], Position{})
			require.LessOrEqual(t, len(got), len(whole), name)
			if _, damaged := errors.AsType[*Damage](err); err != nil && !damaged && !errors.Is(err, ErrNoArchive) {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s cut at %d", name, n)
			}
			for i := range got {
				if i < len(got)-1 {
					require.Equal(t, whole[i].body, got[i].body, "%s cut at %d", name, n)
				} else if got[i].body != whole[i].body {
					require.Error(t, errors.Join(got[i].err, err), "%s cut at %d: a part passes for the whole", name, n)
				}
			}
		}
	}
}

// TestHostile: what an archive claims is not believed.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no archive":      {"<html>", "neither a WARC nor an ARC"},
		"huge length":     {"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 9223372036854775807\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx", "ends within the record at byte 0"},
		"negative length": {"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: -1\r\n\r\nx", `a record of length "-1"`},
		"endless header":  {"WARC/1.0\r\nA: " + strings.Repeat("a", 2<<20), "more than 1 MiB"},
		"endless fields":  {"WARC/1.0\r\n" + strings.Repeat("A: b\r\n", 1<<20), "more than 1 MiB"},
		"no record next":  {warc(Resource, "u", "text/plain", "x") + "garbage\r\n", `a record begins with "garbage"`},
		"arc length":      {"filedesc://x 0.0.0.0 20140301000000 text/plain 8\n1 0 x\nU\n\nhttp://a.test/ 1.2.3.4 20140301000000 text/html abc\nx", `a record of length "abc"`},
		"arc line":        {"filedesc://x 0.0.0.0 20140301000000 text/plain 8\n1 0 x\nU\n\nhttp://a.test/\n", `a record begins with "http://a.test/"`},
	} {
		_, err := all(t, []byte(c.text), Position{})
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestARC(t *testing.T) {
	t.Parallel()
	for format, text := range map[string]string{
		"ARC/1": "filedesc://x.arc 0.0.0.0 20140301000000 text/plain %d\n1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n\n" +
			"http://a.test/a b 127.0.0.1 20140102030405 text/html 27\nHTTP/1.1 200 OK\nX: y\n\nbody\n" +
			"dns:a.test 127.0.0.1 20140102030405 text/dns 3\nabc\n",
		"ARC/2": "filedesc://x.arc 0.0.0.0 20140301000000 text/plain 200 - - 0 x.arc %d\n2 0 Test\nURL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length\n\n" +
			"http://a.test/a b 127.0.0.1 20140102030405 text/html 200 abc - 99 x.arc 27\nHTTP/1.1 200 OK\nX: y\n\nbody\n" +
			"dns:a.test 127.0.0.1 20140102030405 text/dns 200 abc - 99 x.arc 3\nabc\n",
	} {
		_, block, _ := strings.Cut(text, "\n")
		block, _, _ = strings.Cut(block, "\n\n")
		// A line of version 2 has the length in the place of the filename's, too.
		text = fmt.Sprintf(text, len(block)+1)
		got, err := all(t, []byte(text), Position{})
		require.NoError(t, err, format)
		require.Len(t, got, 2, format)
		require.Equal(t, "http://a.test/a b", got[0].url, format)
		require.Equal(t, "body\n", got[0].body, format)
		require.Equal(t, "abc", got[1].body, format)
		rest, err := all(t, []byte(text), got[1].at)
		require.NoError(t, err, format)
		require.Len(t, rest, 1, format)
	}
}

// TestRealArchives reads archives of five projects, good and bad, and compares the
// digests that they carry with those of what was read.
func TestRealArchives(t *testing.T) {
	t.Parallel()
	root := realdata.Path(t, "data", "archives")
	want := map[string]struct {
		records int
		damage  string
	}{
		"aut/badexample.arc.gz": {5, "longer than it is"}, "aut/example.arc.gz": {299, ""}, "aut/example.docs.warc.gz": {21, ""}, "aut/example.pdf.warc.gz": {76, ""},
		"aut/issue-493.warc": {32, ""}, "aut/issue-514.warc": {8, ""},
		"gowarc/corrupted-mid-record.warc.gz.open": {12, "no gzip member"}, "gowarc/corrupted-trailing-bytes.warc.gz.open": {30, "no gzip member"},
		"gowarc/empty.warc.gz.open": {0, ""}, "gowarc/good.warc.gz.open": {50, ""}, "gowarc/single-record.warc.gz.open": {1, ""},
		"gowarc/skip-non-open.warc.gz": {10, ""}, "gowarc/test.warc.gz": {3, ""}, "jwarc/cc.warc.gz": {1, ""}, "jwarc/gzip_extra_sl.warc.gz": {1, ""},
		"warcio/bad.arc": {1, "begins with no record"}, "warcio/example-bad-non-chunked.warc.gz": {6, ""}, "warcio/example-bad.warc.gz.bad": {6, ""},
		"warcio/example-digest.warc": {4, ""}, "warcio/example-iana.org-chunked.warc": {3, ""}, "warcio/example-resource.warc.gz": {3, ""},
		"warcio/example-space-in-target-uri.warc.gz": {2, ""}, "warcio/example-space-in-url.arc": {1, "ends within"}, "warcio/example-trunc.warc": {4, ""},
		"warcio/example-wget-bad-target-uri.warc.gz": {6, ""}, "warcio/example-wrong-chunks.warc.gz": {2, ""}, "warcio/example.arc": {1, ""},
		"warcio/example.arc.gz": {1, ""}, "warcio/example.warc": {6, ""}, "warcio/example.warc.gz": {6, ""}, "warcio/post-test.warc.gz": {6, ""},
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*"))
	require.NoError(t, err)
	digests, differ := 0, 0
	for _, file := range files {
		name, _ := filepath.Rel(root, file)
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		got, err := all(t, data, Position{})
		w, known := want[filepath.ToSlash(name)]
		require.True(t, known, "%s: %d records, %v: no outcome is named for it", name, len(got), err)
		require.Len(t, got, w.records, name)
		if require.Equal(t, w.damage == "", err == nil, "%s: %v", name, err); err != nil {
			require.ErrorContains(t, err, w.damage, name)
		}
		for i, s := range got {
			if s.err != nil && s.kind != Request {
				t.Logf("%s: record %d %s %s: %v", name, i, s.kind, s.url, s.err)
			}
			if i%(1+len(got)/10) > 0 {
				continue
			}
			rest, _ := all(t, data, s.at)
			require.Len(t, rest, len(got)-i, "%s from record %d", name, i)
		}
		n, bad := checkDigests(t, data)
		digests, differ = digests+n, differ+bad
	}
	t.Logf("%d files, %d block digests, %d differ", len(files), digests, differ)
	require.Greater(t, digests, 100)
	require.LessOrEqual(t, differ, 5, "files with wrong digests are among them")
}

// checkDigests compares the digests of blocks.
func checkDigests(t *testing.T, data []byte) (n, differ int) {
	t.Helper()
	a, err := New(bytesOf(data), Position{})
	if err != nil {
		return 0, 0
	}
	for {
		r, err := a.Next()
		if err != nil {
			return n, differ
		}
		said := r.Header.Get("WARC-Block-Digest")
		if len(said) != len("sha1:")+32 {
			continue
		}
		block, err := io.ReadAll(r.Block)
		require.NoError(t, err)
		if n++; digest(string(block)) != said {
			differ++
			t.Logf("%s: its digest differs", r.URL)
		}
	}
}

// FuzzReader: whatever is read, reading ends, without a panic.
func FuzzReader(f *testing.F) {
	short := strings.Join(parts()[:9], "")
	f.Add([]byte(short))
	f.Add(packtest.Gzip(short))
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	require.NoError(f, err)
	f.Add(enc.EncodeAll([]byte(short), nil))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd}) // a frame that ends with its first word
	f.Add([]byte("filedesc://x 0.0.0.0 20140301000000 text/plain 8\n1 0 x\nU\n\nhttp://a.test/ 1.2.3.4 20140301000000 text/html 3\nabc\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := all(t, data, Position{})
		for _, s := range got {
			rest, _ := all(t, data, s.at)
			require.NotEmpty(t, rest, s.at)
			require.Equal(t, s.url, rest[0].url, s.at)
		}
	})
}
