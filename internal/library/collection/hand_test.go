package collection

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/lab/packtest"
	"gleaner/internal/lab/sampleweb"
)

// TestContentIsLikeReadBack: a document that is judged in hand comes to the record
// that one comes to which is read back, and its file is not looked at: it is gone.
func TestContentIsLikeReadBack(t *testing.T) {
	t.Parallel()
	pile := sampleweb.NewPile(1)
	paper := func(i int) []byte { return pile.File(i, sampleweb.AsPDF) }
	archive := packtest.Zip("a.pdf", string(paper(3)), "b.pdf", string(paper(4)), "notes.txt", "Notes on how it was made.")
	files := map[string][]byte{"1.pdf": paper(1), "2.pdf.gz": packtest.Gzip(paper(2)), "all.zip": archive, "cut.pdf.gz": packtest.Gzip(paper(5))[:2000], "empty.pdf": []byte(" \n"),
		"cut.pdf": paper(6)[:1500], "zeros": make([]byte, 500), "page.html": []byte("<html><body><p>A page</p></body></html>")}
	judged := func(judge func(s *shop, k *Kept)) string {
		s := newShop(t, 1, 2, 3)
		for name, body := range files {
			k := devtest.Must(s.Keep(context.Background(), fileAt("http://www.example.org/~ada/"+name, body)))(t)
			judge(s, k)
			k.Release()
		}
		return s.dump()
	}
	back := judged(func(s *shop, k *Kept) {
		for _, d := range k.Documents {
			s.mustJudge(Stored(d.SHA256), Once)
		}
	})
	hand := judged(func(s *shop, k *Kept) {
		var gone []string
		require.NoError(t, filepath.WalkDir(s.dir, func(name string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() && strings.Contains(name, k.Documents[0].SHA256) {
				gone = append(gone, name)
				return os.Rename(name, name+".away")
			}
			return err
		}))
		require.NotEmpty(t, gone)
		for _, d := range k.Documents {
			s.mustJudge(d, Once)
		}
		for _, name := range gone {
			require.NoError(t, os.Rename(name+".away", name))
		}
	})
	require.Contains(t, back, "accepted")
	require.Equal(t, back, hand)
}
