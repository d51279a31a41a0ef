package document

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/realdata"
)

// TestYardstickGoReader compares the built-in reader with poppler on the PDFs of
// recorded sites: whose first page has most of poppler's words, whose printed title
// is the same, and what the filter says. It looks at each tenth.
func TestYardstickGoReader(t *testing.T) {
	farm := realdata.Path(t, "farm")
	opt := withPoppler(t)
	var files []string
	for i, row := range realdata.Table(t, "truth", "labels.tsv") {
		f, err := localFile(farm, row["url"])
		require.NoError(t, err)
		if i%10 == 3 {
			files = append(files, f)
		}
	}
	poppler, builtIn, filter := NewReader(opt), NewReader(goOnly()), NewFilter(Balanced)
	var mu sync.Mutex
	var read, words, titled, titles, same, saved int
	eachFile(files, func(f string) {
		b, err := os.ReadFile(f)
		if err != nil || !bytes.HasPrefix(b, []byte("%PDF-")) {
			return
		}
		part := Part{Name: f, Kind: PDF, Body: b}
		p, perr := poppler.Read(t.Context(), part)
		g, gerr := builtIn.Read(t.Context(), part)
		mu.Lock()
		defer mu.Unlock()
		if perr != nil || gerr != nil {
			t.Error(perr, gerr)
			return
		}
		if !p.HasText() {
			saved += boolInt(g.Words() > p.Words())
			return
		}
		read++
		share := 0.0
		if g.HasText() {
			share = wordsKept(p.Pages[0], g.Pages[0])
		}
		words += boolInt(share >= 0.8)
		if title := titleGuess(p); title != "" {
			titled++
			titles += boolInt(squeezed(title) == squeezed(titleGuess(g)))
		}
		agree := filter.Judge(p, Hints{Name: f}).Academic == filter.Judge(g, Hints{Name: f}).Academic
		same += boolInt(agree)
		if share < 0.8 || !agree {
			t.Logf("%s: %.2f of the first page's words, %s %s", f, share, g.Outcome, g.Detail)
		}
	})
	t.Logf("of %d PDFs that poppler reads: four fifths of the first page's words of %d, the printed title of %d of %d, the same decision of %d; %d that poppler does not", read, words, titles, titled, same, saved)
	assert.GreaterOrEqual(t, words*4, read*3, "the built-in reader reads less than it did")
}

// wordsKept is the share of the words of one text that are in another.
func wordsKept(of, in string) float64 {
	have, kept, all := map[string]int{}, 0, 0
	for _, w := range strings.Fields(in) {
		have[w]++
	}
	for _, w := range strings.Fields(of) {
		all++
		if have[w] > 0 {
			have[w]--
			kept++
		}
	}
	return float64(kept) / float64(max(1, all))
}

func squeezed(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }
