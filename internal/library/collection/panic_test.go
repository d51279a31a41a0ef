package collection

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// A document over which the program panics, each time, ends neither the process
// that examines what is left nor its work on other documents. It is given up by
// name; one that was judged before keeps its verdict.
func TestAPanicOverADocumentIsItsOwn(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	poisoned := s.mustAdd(fileAt("http://a.example/2.pdf", s.pile.File(2, sampleweb.AsPDF)))
	var poison atomic.Bool
	poison.Store(true)
	s.reached = func(at point) {
		if at == read && poison.Load() {
			panic("over what was read")
		}
	}
	s.mustJudgeWaiting(store.Unexamined{Site: 1})
	d := s.document(poisoned[0])
	require.Equal(t, gleaner.DocumentFailed, d.State, d.Detail)
	require.True(t, strings.Contains(d.Detail, "over what was read"), d.Detail)

	poison.Store(false)
	shas := s.mustAdd(fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	n := s.mustJudgeWaiting(store.Unexamined{Site: 1})
	require.Equal(t, 1, n)
	poison.Store(true)
	_, err := s.Judge(t.Context(), Stored(shas[0]), Again)
	require.Error(t, err)
	require.Equal(t, gleaner.DocumentAccepted, s.document(shas[0]).State)
}
