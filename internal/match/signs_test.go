package match_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"gleaner/internal/match"
)

// missed lists the papers that a document is found to be, or may be, and bears no
// sign of.
func missed(ix *match.Index, ev match.Evidence) (papers []string, found int) {
	signs := match.Signs(ev)
	for _, m := range ix.Document(ev) {
		found++
		ids, title := match.SignsOf(m.Paper)
		if !slices.ContainsFunc(append(ids, title...), func(s int32) bool { _, is := slices.BinarySearch(signs, s); return is }) {
			papers = append(papers, m.Paper.Key+": "+m.Paper.Title)
		}
	}
	return papers, found
}

// TestNoMatchWithoutASign: whatever a document is matched with, it bears a sign of.
func TestNoMatchWithoutASign(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	words := vocabulary(r)
	papers := synthetic(160)
	for i := range papers {
		switch i % 8 {
		case 1: // a short title
			papers[i].Title = strings.Join(strings.Fields(papers[i].Title)[:2], " ")
		case 2:
			papers[i].Title = words[i][:min(len(words[i]), 6)]
		case 3:
			papers[i].Title = strings.Replace(papers[i].Title, " ", ": ", 1)
		case 4:
			papers[i].DOI, papers[i].ArXiv = "10.5555/x"+words[i], "0301.0"+strings.Repeat("1", 4)
		}
	}
	ix := match.NewIndex(papers)
	all := 0
	for _, how := range slices.Sorted(maps.Keys(spoil)) {
		change := spoil[how]
		for i, p := range papers {
			text := change(pageOf(p, r, words), r)
			for _, ev := range []match.Evidence{
				{FirstPages: text}, {FirstPages: pageOf(papers[0], r, words) + "\f" + text},
				{FirstPages: strings.Join(words[i:i+9], " "), MetaTitle: p.Title}, {FirstPages: text, Anchor: p.Title}, {FirstPages: "x", URLDOI: p.DOI, ArXiv: p.ArXiv},
			} {
				without, n := missed(ix, ev)
				all += n
				assert.Empty(t, without, "%v %v", how, ev.FirstPages)
			}
		}
	}
	assert.GreaterOrEqual(t, all, 1500, "only")
}

// TestNoMatchOfSitesWithoutASign: the same of real documents.
func TestNoMatchOfSitesWithoutASign(t *testing.T) {
	t.Parallel()
	papers := papersOf(wantedPapers(t, "truth"))
	ix := match.NewIndex(papers)
	r := rand.New(rand.NewPCG(1, 2))
	for _, how := range slices.Sorted(maps.Keys(spoil)) {
		change := spoil[how]
		all, bad, signs, samples := 0, 0, 0, recordedTexts(t, "farm")
		for _, s := range samples {
			ev := match.Evidence{FirstPages: change(s.text, r), MetaTitle: s.title}
			without, n := missed(ix, ev)
			all, bad, signs = all+n, bad+len(without), signs+len(match.Signs(ev))
			assert.Empty(t, without, "%v %v", how, s.url)
		}
		t.Logf("%s: %d of %d matches without a sign; %d signs a document", how, bad, all, signs/max(1, len(samples)))
	}
}
