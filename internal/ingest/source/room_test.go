package source

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
)

type longAnswer struct{ left strings.Reader }

func (a *longAnswer) Stream(_ context.Context, _ fetch.StreamRequest, use func(*fetch.Streamed) error) error {
	return use(&fetch.Streamed{Body: io.NopCloser(&a.left)})
}

// TestADownloadLeavesRoom: a file of a server that gives no parts of it takes no more than a
// quarter of what is free; a larger one is refused, for good.
func TestADownloadLeavesRoom(t *testing.T) {
	t.Parallel()
	for size, fits := range map[int]bool{100: true, 101: false} {
		a := &longAnswer{}
		a.left.Reset(strings.Repeat("x", size))
		w := &web{ask: a, free: func(string) (int64, error) { return 400, nil }}
		err := w.download(t.Context(), &webFile{File: File{Size: -1}})
		require.Equal(t, fits, err == nil, err)
		if !fits {
			require.ErrorIs(t, err, ErrAway)
			require.Nil(t, w.disk)
		}
		require.NoError(t, w.Close())
	}
}
