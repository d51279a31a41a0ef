package collection

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
	"gleaner/internal/lab/sampleweb"
)

// TestUnpackingWaitsForMemory: what is packed waits while others hold all that
// there is, and is unpacked, for as long as it is wanted; what is not packed goes on.
func TestUnpackingWaitsForMemory(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.memory = fetch.NewMemory(32 << 20)
	packed := fileAt("http://a.example/papers.zip", archive(map[string][]byte{"notes.pdf": s.pile.File(1, sampleweb.AsPDF), "b.pdf": s.pile.File(2, sampleweb.AsPDF)}))
	giveBack, err := s.memory.Hold(t.Context(), 32<<20)
	require.NoError(t, err)

	stop := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	_, err = s.Add(ctx, packed)
	require.ErrorIs(t, err, stop)
	giveBack()
	_, err = s.Add(ctx, packed)
	require.ErrorIs(t, err, stop, "nor is it unpacked")
	_, err = s.Add(ctx, fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	require.NoError(t, err, "what was got is kept")
	shas := s.mustAdd(packed)
	require.Len(t, shas, 2)
	for _, sha := range shas {
		s.mustJudge(Stored(sha), Once)
	}
	giveBack, err = s.memory.Hold(t.Context(), 32<<20)
	require.NoError(t, err, "all is given back")
	giveBack()
}
