package collection

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// A document over which the program panics, or its reader fails, each time, ends neither the
// process that examines what is left nor its work on other documents. It is given up by
// name; one that was judged before keeps its verdict.
func TestTroubleOverADocumentIsItsOwn(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func() error{
		"a panic":  func() error { panic("over what was read") },
		"an error": func() error { return errors.New("over what was read") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, 1)
			able, poisoned := s.reader, &reads{Reader: s.reader, hooks: slices.Repeat([]func() error{trouble}, 9)}
			bad := s.mustAdd(fileAt("http://a.example/2.pdf", s.pile.File(2, sampleweb.AsPDF)))
			s.reader = poisoned
			s.mustJudgeWaiting(store.Unexamined{Site: 1})
			d := s.document(bad[0])
			require.Equal(t, gleaner.DocumentFailed, d.State, d.Detail)
			require.Contains(t, d.Detail, "over what was read")

			s.reader = able
			shas := s.mustAdd(fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
			n := s.mustJudgeWaiting(store.Unexamined{Site: 1})
			require.Equal(t, 1, n)
			s.reader = poisoned
			_, err := s.Judge(t.Context(), Stored(shas[0]), Again)
			require.Error(t, err)
			require.Equal(t, gleaner.DocumentAccepted, s.document(shas[0]).State)
		})
	}
}
