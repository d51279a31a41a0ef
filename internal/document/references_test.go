package document

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/growthtest"
)

// The entries of a reference list are taken one by one, whatever labels they have.
func TestReferenceList(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ list, want string }{
		"numbers in brackets": {"[1] A. One. A Study\nof things. 1999.\n[2] B. Two. Hyphen-\nated. 2000.\n[3] C. Three. 2001.\n\nA note at the end.", "[1] A. One. A Study of things. 1999.|[2] B. Two. Hyphenated. 2000.|[3] C. Three. 2001."},
		"letters":             {"[Kle99] J. Kleinberg. Hubs. 1999.\n[BP98] S. Brin. Engine. 1998.\n[X01] X. Last. 2001.", "[Kle99] J. Kleinberg. Hubs. 1999.|[BP98] S. Brin. Engine. 1998.|[X01] X. Last. 2001."},
		"numbers":             {"1. A. One. 1999.\n2. B. Two. 2000.\n3. C. Three. 2001.", "1. A. One. 1999.|2. B. Two. 2000.|3. C. Three. 2001."},
		"names":               {"Brin, S. and Page, L. 1998. Engine.\nKleinberg, J. 1999. Hubs.\nWriter, A. 2001. Looms.", "Brin, S. and Page, L. 1998. Engine.|Kleinberg, J. 1999. Hubs.|Writer, A. 2001. Looms."},
	} {
		text := &Text{Outcome: OK, Pages: []string{"A Paper\n\nIntroduction\nWe say [1] more.\n\nReferences\n" + c.list}}
		text.Front = 1
		j := growthFilter.Judge(text, Hints{})
		require.Equal(t, strings.Split(c.want, "|"), j.ReferenceList, name)
		require.Equal(t, len(j.ReferenceList), j.References, name)
	}
	none := growthFilter.Judge(&Text{Outcome: OK, Pages: []string{"Introduction\n[1] is cited here."}}, Hints{})
	require.Empty(t, none.ReferenceList)
}

func TestReferenceListsAreBounded(t *testing.T) {
	long := func(n int) []byte {
		return []byte("References\n[1] " + strings.Repeat("A. Writer, x ", n) + "\n[2] " + strings.Repeat("é", n) + "\n[3] x\n")
	}
	judge := func(b []byte) []string {
		return growthFilter.Judge(&Text{Outcome: OK, Pages: []string{string(b)}}, Hints{}).ReferenceList
	}
	for _, e := range judge(long(1000)) {
		require.LessOrEqual(t, len(e), longReference)
	}
	require.Len(t, judge([]byte("References\n"+strings.Repeat("[1] a\n", 3000))), mostReferences)
	growthtest.Linear(t, 500, long, func(b []byte) { judge(b) })
}
