package document

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/growthtest"
)

func TestCountPages(t *testing.T) {
	t.Parallel()
	const root = "<< /Type /Pages /Kids [3 0 R 4 0 R] /Resources << /Font << /F1 7 0 R >> >> /Count 31 >>"
	const node = "<< /Type /Pages /Parent 2 0 R /Kids [5 0 R] /Count 8 >>"
	packed := func(s string) string {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, err := z.Write([]byte(s))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		return fmt.Sprintf("9 0 obj\n<< /Type /ObjStm /N 3 /First 20 /Filter /FlateDecode /Length %d >>\nstream\r\n%s\nendstream endobj\n", b.Len(), b.String())
	}
	for name, c := range map[string]struct {
		pdf  string
		want int
	}{
		"plain":                {"2 0 obj " + root + " endobj 3 0 obj " + node + " endobj", 31},
		"entries in any order": {"<</Count 5/Kids[1 0 R]/Type/Pages>>", 5},
		"in an object stream":  {packed("2 0 3 99 " + root + node), 31},
		"none":                 {"2 0 obj << /Type /Page >> endobj", 0},
		"a node alone":         {node, 0},
		"updated":              {root + strings.Replace(root, "31", "32", 1), 0},
		"updated in a stream":  {root + packed(strings.Replace(root, "31", "32", 1)), 0},
		"encrypted":            {root + "trailer << /Encrypt 8 0 R >>", 0},
		"a broken stream":      {strings.Replace(packed(root), "stream", "strewn", 1), 0},
		"nothing":              {"", 0},
		"half a dictionary":    {"<< /Type /Pages /Count 7", 0},
	} {
		assert.Equal(t, c.want, countPages([]byte(c.pdf)), name)
	}
	assert.Equal(t, 8, countPages(paperPDF(t, 8)))
}

func TestCountingPagesGrowsWithTheFile(t *testing.T) {
	busy := func(n int) []byte { return bytes.Repeat([]byte("<< /Type /Pages >> /ObjStm stream "), n) }
	growthtest.Linear(t, 1<<12, busy, func(b []byte) { assert.Zero(t, countPages(b)) })
}
