package match_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"gleaner/internal/gleaner"
	"gleaner/internal/match"
)

// Titles as pages print them: the same work, whatever the setting.
func TestTitlesAsPrinted(t *testing.T) {
	t.Parallel()
	body := "\n\nAbstract\n" + strings.Repeat("We show that the method works and compare it with others on many pages. ", 20)
	for name, c := range map[string]struct {
		paper gleaner.Paper
		page  string
	}{
		"capitals":       {gleaner.Paper{Title: "Efficient Crawling of Academic Homepages", Authors: by("Ada King")}, "EFFICIENT CRAWLING OF\nACADEMIC HOMEPAGES\n\nADA KING"},
		"hyphenated":     {gleaner.Paper{Title: "Efficient Crawling of Distributed Homepages", Authors: by("Ada King")}, "Efficient Crawling of Distri-\nbuted Homepages\n\nAda King"},
		"small capitals": {gleaner.Paper{Title: "Efficient Crawling of Academic Homepages", Authors: by("Ada King")}, "E FFICIENT C RAWLING OF A CADEMIC H OMEPAGES\n\nA DA K ING"},
		"diacritics":     {gleaner.Paper{Title: "Erdős–Rényi Graphs and Gröbner Bases", Authors: by("Paul Erdős")}, "Erdos-Renyi graphs and Grobner bases\n\nP. Erdos"},
		"LaTeX":          {gleaner.Paper{Title: `On $\lambda$-terms and G\"odel Numbers of Proofs`, Authors: by("Kurt Gödel")}, "On λ-terms and Gödel numbers of proofs\n\nKurt Gödel"},
		"markup":         {gleaner.Paper{Title: "Learning <i>k</i>-means in O(n<sup>2</sup>) Time", Authors: by("Ada King")}, "Learning k-means in O(n2) Time\n\nAda King"},
		"footnote mark":  {gleaner.Paper{Title: "Efficient Crawling of Academic Homepages", Authors: by("Ada King")}, "Efficient Crawling of Academic Homepages∗\n\nAda King†"},
		"running head":   {gleaner.Paper{Title: "Efficient Crawling of Academic Homepages", Authors: by("Ada King")}, "Proceedings of the 3rd Conference on Webs, 2004, pages 12–20\nPermission to make digital copies is granted\n\nEfficient Crawling of Academic Homepages\n\nAda King\nUniversity of Somewhere"},
		"cover page":     {gleaner.Paper{Title: "Efficient Crawling of Academic Homepages", Authors: by("Ada King")}, "HAL Id: hal-01234567\nhttps://hal.science/hal-01234567\nSubmitted on 3 May 2010\nHAL is a multi-disciplinary open access archive\n\nEfficient Crawling of Academic Homepages\nAda King\n\nTo cite this version:\nAda King. Efficient Crawling of Academic Homepages. 2010"},
		"Russian":        {gleaner.Paper{Title: "Эффективный обход академических страниц", Authors: by("Анна Иванова")}, "ЭФФЕКТИВНЫЙ ОБХОД\nАКАДЕМИЧЕСКИХ СТРАНИЦ\n\nАнна Иванова"},
		"Chinese":        {gleaner.Paper{Title: "学术主页的高效抓取方法研究", Authors: by("王小明")}, "学术主页的高效抓取方法研究\n\n王小明"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.paper.Key = "k"
			found := match.NewIndex([]gleaner.Paper{c.paper}).Document(match.Evidence{FirstPages: c.page + body})
			if assert.Len(t, found, 1) {
				assert.True(t, found[0].Taken(), "%s: %q", found[0].Verdict, found[0].Reasons)
			}
		})
	}
}
