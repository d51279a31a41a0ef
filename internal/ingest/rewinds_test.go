package ingest

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/ingest/source"
)

// elsewhere is a place with one file, of which a piece is asked for at each opening.
type elsewhere struct {
	source.Place
	before int64 // bytes before data, which are as its first are
	data   []byte
	asked  int
}

func (e *elsewhere) Open(_ context.Context, _ string, at int64) (io.ReadCloser, error) {
	at = max(0, at-e.before)
	e.asked += min(source.Piece, len(e.data)-int(at))
	return io.NopCloser(bytes.NewReader(e.data[at:])), nil
}

// TestRewindsOfRemoteArchivesAreBounded: members that are cut off are looked into again, for
// which a file elsewhere is asked for anew, as often as its size allows. What is whole
// behind them is found.
func TestRewindsOfRemoteArchivesAreBounded(t *testing.T) {
	t.Parallel()
	body := make([]byte, 16<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(body)
	cut := answer("http://a.example/cut", "", string(body))
	e := &elsewhere{data: slices.Concat(
		answer("http://a.example/first", "", "a text"),
		bytes.Repeat(cut[:len(cut)-9], 200),
		bytes.Repeat(answer("http://a.example/last", "", string(body)), 10),
	)}
	a := &archives{files: []stored{{name: "x.warc.gz", place: e, size: int64(len(e.data))}}}
	var last string
	for r := range rest(t, a) {
		if r.Skip == "" {
			last = r.URL
		}
	}
	require.Equal(t, "http://a.example/last", last)
	require.Less(t, e.asked, 6*len(e.data)+32<<20)
}
