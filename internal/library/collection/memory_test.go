package collection

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
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
	giveBack := devtest.Must(s.memory.Hold(t.Context(), "", 32<<20))(t)

	stop := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	_, err := s.Add(ctx, packed)
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
	opened := 0
	s.reached = func(at point) {
		if at == fetched {
			opened++
		}
		if opened == 2 {
			panic("over the second file")
		}
	}
	require.Panics(t, func() { _, _ = s.KeepAll(t.Context(), []File{packed, packed}) })
	within, over := context.WithTimeout(t.Context(), time.Minute)
	defer over()
	giveBack, err = s.memory.Hold(within, "", 32<<20)
	require.NoError(t, err, "all is given back")
	giveBack()
}

// TestADocumentAtManyAddresses: of each a little is kept, and of any number some are read.
func TestADocumentAtManyAddresses(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	f := fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF))
	f.Header = http.Header{"Etag": {strings.Repeat("x", 1<<20)}}
	sha := s.mustAdd(f)[0]
	storetest.Exec(t, s.db.Pool, `INSERT INTO locations (hash, sha256, site_id, url, found_at)
		SELECT sha256(n::text::bytea), $1, 1, 'http://a.example/' || n, now() FROM generate_series(1, 1100) n`, sha)
	_, places, err := s.db.Document(t.Context(), sha)
	require.NoError(t, err)
	require.Len(t, places, 1000)
	for _, at := range places {
		require.LessOrEqual(t, len(at.Header["Etag"]), maxHeader)
	}
}
