package page_test

import (
	"strings"
	"testing"
	"unicode"

	"gleaner/internal/lab/realdata"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// lettersOf reduces a text to its letters and digits, lower case.
func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// TestContextsHoldTitles measures on real pages how often a link's texts hold
// the title of the paper behind it, and how often other papers' titles too.
func TestContextsHoldTitles(t *testing.T) {
	titles := map[string]string{} // by key of the document's URL
	for _, row := range realdata.Table(t, "truth", "papers.tsv") {
		for _, u := range realdata.List(row["urls"]) {
			titles[weburl.Key(u)] = lettersOf(row["title"])
		}
	}
	found, own, mixed := map[string]bool{}, map[string]bool{}, 0
	for _, fp := range farmPages(t) {
		p, err := page.Parse(fp.url, nil, fp.body)
		if err != nil {
			continue
		}
		for _, l := range p.Links {
			key := weburl.Key(l.URL)
			title, ok := titles[key]
			if !ok || len(title) < 12 {
				continue
			}
			found[key] = true
			context := lettersOf(l.Context)
			if strings.Contains(context, title) || strings.Contains(lettersOf(l.Anchor), title) {
				own[key] = true
			}
			for _, other := range titles {
				if other != title && len(other) > 20 && !strings.Contains(title, other) && strings.Contains(context, other) {
					mixed++
					break
				}
			}
		}
	}
	t.Logf("%d documents linked; title in anchor or context %d (%.1f %%); links whose context has another's title %d",
		len(found), len(own), 100*float64(len(own))/float64(max(len(found), 1)), mixed)
	if len(own)*100 < len(found)*85 {
		t.Error("contexts lose titles")
	}
}
