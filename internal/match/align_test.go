package match

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFewestIsWhatAlignFinds on titles of one block and of several, close to a text and not.
func TestFewestIsWhatAlignFinds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var a aligner
	for range 3000 {
		title := make([]byte, 1+r.IntN(300))
		for i := range title {
			title[i] = "abcdé"[r.IntN(6)]
		}
		text := make([]byte, r.IntN(100))
		for _, c := range title {
			switch r.IntN(12) {
			case 0:
			case 1:
				text = append(text, 'x')
			case 2:
				text = append(text, c, 'y')
			default:
				text = append(text, c)
			}
		}
		lo := r.IntN(60) - 30
		hi := lo + len(title) + r.IntN(100) - 30
		require.Equal(t, a.align(title, text, lo, hi, len(title)).edits, a.fewest(title, text, lo, hi), "%s in %s", title, text)
	}
}
