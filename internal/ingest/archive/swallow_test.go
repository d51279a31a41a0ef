package archive

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/packtest"
)

// TestNoRecordSwallowsOthers: a record that claims more bytes than its member has ends
// where the next member begins with a record, and takes none behind it along.
func TestNoRecordSwallowsOthers(t *testing.T) {
	t.Parallel()
	liar := strings.Replace(response("http://a.test/liar", "", strings.Repeat("x", 900)), "Content-Length: 9", "Content-Length: 19", 1)
	require.Contains(t, liar, "Content-Length: 19")
	parts := []string{response("http://a.test/0", "", "before"), liar, response("http://a.test/1", "", strings.Repeat("y", 5000)), response("http://a.test/2", "", "behind")}
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	var gz, zst, split bytes.Buffer
	for i, p := range parts {
		z := gzip.NewWriter(&gz)
		_, _ = z.Write([]byte(p[:3]))
		_ = z.Flush() // so that not all of "WARC/" comes at once
		_, _ = z.Write([]byte(p[3:]))
		_ = z.Close()
		zst.Write(enc.EncodeAll([]byte(p), nil))
		if i == 1 {
			continue
		}
		split.Write(packtest.Gzip(p[:len(p)/2], p[len(p)/2:])) // a record of two members
	}
	for _, data := range [][]byte{gz.Bytes(), zst.Bytes()} {
		got, err := all(t, data, Position{})
		require.NoError(t, err)
		require.Len(t, got, 4)
		require.ErrorIs(t, got[1].err, io.ErrUnexpectedEOF)
		require.Equal(t, "behind", got[3].body)
		for i, r := range got {
			rest, err := all(t, data, r.at)
			require.NoError(t, err)
			require.Equal(t, got[i:], rest)
		}
		a, err := New(bytesOf(data), Position{})
		require.NoError(t, err)
		for range 4 { // also where nobody reads what they hold
			_, err := a.Next()
			require.NoError(t, err)
		}
		a.Close()
	}
	got, err := all(t, split.Bytes(), Position{})
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, strings.Repeat("y", 5000), got[1].body, "one of two members is whole")
}

// TestAFewBytesAtATime: an archive is known for what it is, and is read, however few bytes
// its server gives at a time.
func TestAFewBytesAtATime(t *testing.T) {
	t.Parallel()
	arc := "filedesc://x.arc 0.0.0.0 20050630120000 text/plain 66\n1 0 Some\nURL IP-address Archive-date Content-type Archive-length\n\n"
	for name, data := range map[string][]byte{"warc": []byte(strings.Join(parts(), "")), "arc": []byte(arc)} {
		a, err := New(Once(iotest.OneByteReader(bytes.NewReader(data))), Position{})
		require.NoError(t, err, name)
		_, err = a.Next()
		require.Equal(t, map[string]error{"arc": io.EOF}[name], err)
		a.Close()
	}
}

// TestDamageSaysHowMuchIsSkipped: the bytes between the records that can be read.
func TestDamageSaysHowMuchIsSkipped(t *testing.T) {
	t.Parallel()
	const garbage = "garbage between two records\n"
	first := response("http://a.test/0", "", "before")
	r, err := New(bytesOf([]byte(first+garbage+response("http://a.test/1", "", "behind"))), Position{})
	require.NoError(t, err)
	defer r.Close()
	_, err = r.Next()
	require.NoError(t, err)
	_, err = r.Next()
	var d *Damage
	require.ErrorAs(t, err, &d)
	require.EqualValues(t, len(garbage), d.Skipped)
	_, err = r.Next()
	require.NoError(t, err)
}
