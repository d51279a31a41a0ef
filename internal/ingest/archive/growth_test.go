package archive

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/growthtest"
	"gleaner/internal/lab/packtest"
)

// TestHeadsGrow: what headers and damages cost grows no faster than they do.
func TestHeadsGrow(t *testing.T) { //nolint:paralleltest // it measures
	growthtest.Each(t, 512, map[string]func(n int) string{
		"folded record header": func(n int) string {
			return "WARC/1.0\r\nWARC-Type: resource\r\nX: a\r\n" + strings.Repeat(" a\r\n", n) + "Content-Length: 0\r\n\r\n"
		},
		"folded answer header": func(n int) string {
			return response("http://a.test/", "X: a\r\n"+strings.Repeat(" a\r\n", n), "")
		},
		"headers that do not end": func(n int) string { return strings.Repeat("WARC/1.0\r\nA: b\r\n", n) },
		"versions within a line":  func(n int) string { return warc(Info, "", "", "") + strings.Repeat("WARC/1.0 WARC/1.0\n", n) },
		"records that say too much": func(n int) string {
			return strings.Repeat("WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 999999\r\n\r\n", n)
		},
		"members that are none": func(n int) string {
			return string(packtest.Gzip(warc(Info, "", "", ""))) + strings.Repeat("\x1f\x8b\x08", 8*n)
		},
		"versions within a field": func(n int) string {
			more := "\r\nX: " + strings.Repeat("WARC/", n) + "\r\nY: " + strings.Repeat("warc/", n) + "\r\n"
			return strings.Replace(warc(Info, "", "", ""), "\r\n", more, 1)
		},
		"versions that are none": func(n int) string { return warc(Info, "", "", "") + strings.Repeat("WARC/", 8*n) },
		"empty members behind a damaged one": func(n int) string {
			one := packtest.Gzip(warc(Info, "", "", ""))
			return string(one[:len(one)-9]) + strings.Repeat(string(packtest.Gzip("")), n)
		},
		"damaged members": func(n int) string {
			one := packtest.Gzip(warc(Info, "", "", ""))
			return strings.Repeat(string(one[:len(one)-9]), n)
		},
	}, func(_ *testing.T, data []byte) {
		a, err := New(bytesOf(data), Position{})
		if err != nil {
			return
		}
		defer a.Close()
		for {
			r, err := a.Next()
			if err == io.EOF {
				return
			}
			if r == nil {
				continue
			}
			if p, err := r.Payload(); err == nil {
				_, _ = io.Copy(io.Discard, p.Body)
				p.Close()
			}
		}
	})
}

// TestTrialsAreCharged: what is tried to be unpacked, since it may be a member, counts among
// what is read again.
func TestTrialsAreCharged(t *testing.T) {
	t.Parallel()
	data := string(packtest.Gzip(warc(Info, "", "", ""))) + strings.Repeat("\x1f\x8b\x08", 1<<17)
	a, err := New(bytesOf([]byte(data)), Position{})
	require.NoError(t, err)
	defer a.Close()
	for err != io.EOF {
		_, err = a.Next()
	}
	require.GreaterOrEqual(t, a.in.again, int64(againFree/2))
	require.LessOrEqual(t, a.in.again, againFactor*max(a.in.total-a.in.again, 0)+againFree)
}

// TestMembersShareWhatIsFree: many small members unpack to no more than one of them might.
func TestMembersShareWhatIsFree(t *testing.T) {
	t.Parallel()
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	data := bytes.Repeat(z.EncodeAll([]byte(warc(Info, "", "", strings.Repeat(" ", againFree-window))), nil), 8)
	a, err := New(bytesOf(data), Position{})
	require.NoError(t, err)
	defer a.Close()
	for err != io.EOF {
		_, err = a.Next()
	}
	require.LessOrEqual(t, a.in.total, int64(againFree+mostUnpacked*len(data)+8*window))
}

// TestEmptyMembers: of members that hold nothing, no more is held than of one.
func TestEmptyMembers(t *testing.T) {
	t.Parallel()
	data := string(packtest.Gzip("W")) + strings.Repeat(string(packtest.Gzip("")), 1000) + string(packtest.Gzip("ARC/"))
	s, err := newStream(bytesOf([]byte(data)), Position{}, unknown, nil)
	require.NoError(t, err)
	defer s.close()
	require.Equal(t, "WARC/", string(s.peek(2)))
	require.LessOrEqual(t, len(s.begun), 2, "members are held")
}

// TestDigests: a digest is understood in base 32 and 16, and one that is wrong is an error
// at the end of the body.
func TestDigests(t *testing.T) {
	t.Parallel()
	for digest, right := range map[string]bool{
		"sha1:HHS3QDV6EKTKQLSSGGVJVNUEPRUCVJ6P":                                   false,
		"sha1:0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33":                           true,
		"SHA-1:BPXMPNPKH4H5XSK5BXKH6PC3YJ25VCRT":                                  true,
		"sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae": true,
		"md5:acbd18db4cc2f85cedef654fccc4a4d8":                                    true,
		"md5:00000000000000000000000000000000":                                    false,
		"other:abc":                                                               true,
	} {
		text := strings.Replace(warc(Resource, "http://a.test/", "text/plain", "foo"), "Content-Length", "WARC-Payload-Digest: "+digest+"\r\nContent-Length", 1)
		a, err := New(bytesOf([]byte(text)), Position{})
		require.NoError(t, err)
		r, err := a.Next()
		require.NoError(t, err)
		p, err := r.Payload()
		require.NoError(t, err)
		body, err := io.ReadAll(p.Body)
		require.Equal(t, right, (err == nil), digest)
		assert.Equal(t, []byte("foo"), body, digest)
		a.Close()
	}
}
