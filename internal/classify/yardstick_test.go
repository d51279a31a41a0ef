package classify_test

import (
	"bufio"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/classify"
	"gleaner/internal/lab/realdata"
	"gleaner/internal/learn"
	"gleaner/internal/topic"
	"gleaner/internal/web/page"
)

// labelled is a row of testdata/pages.tsv: testdata/README.md tells of it.
type labelled struct {
	page, site  string // where it lies, and of which site it is
	label       string // cs, other or none, as the page was read
	field       string // what its site would have it be; "" where that is of no one field
	note        string // why the two differ, or that it is doubtful
	mayBeEither bool
}

func labels(t *testing.T) []labelled {
	t.Helper()
	f, err := os.Open("testdata/pages.tsv")
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	var out []labelled
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		c := append(strings.Split(lines.Text(), "\t"), "", "", "")
		parts := strings.SplitN(c[0], "/", 3)
		if len(parts) < 3 {
			continue // the head
		}
		out = append(out, labelled{page: c[0], site: parts[0] + "/" + parts[1], label: c[1], field: c[2], note: c[3],
			mayBeEither: strings.HasPrefix(c[3], "doubtful")})
	}
	require.NoError(t, lines.Err())
	return out
}

// Each page is labelled once, with one of the three labels, and a label that its site
// does not have says why.
func TestLabelsAreWhole(t *testing.T) {
	all := labels(t)
	seen, count := map[string]bool{}, map[string]int{}
	for _, l := range all {
		assert.False(t, seen[l.page], l.page)
		seen[l.page] = true
		count[l.label]++
		assert.Contains(t, []string{"", "cs", "other"}, l.field, l.page)
		assert.True(t, l.field == "" || l.field == l.label || l.note != "", "%s: without a reason", l.page)
	}
	assert.Equal(t, map[string]int{"cs": 297, "other": 249, "none": 22}, count)
}

// example reads a labelled page; it is about the topic where its label is cs.
func example(t *testing.T, words *topic.Filter, l labelled, label string) classify.Example {
	t.Helper()
	body, err := os.ReadFile(realdata.Path(t, filepath.FromSlash(l.page)))
	require.NoError(t, err)
	_, address, _ := strings.Cut(l.page, "/")
	p, err := page.Parse("http://"+address, nil, body)
	require.NoError(t, err)
	return classify.Example{Words: classify.Words(words, topic.Page{Title: p.Title, Text: p.Text}), Topic: label == "cs", Site: l.site}
}

// On pages of sites that were left out, each with the label of its site, the
// classifier is right on four of five at least. The thesis leaves out pages, not sites.
func TestUnseenSitesByField(t *testing.T) {
	var all []classify.Example
	words := filter(t)
	for _, l := range labels(t) {
		if l.field != "" {
			all = append(all, example(t, words, l, l.field))
		}
	}
	c, err := classify.Cross(all, classify.SiteFolds(all, 5), classify.Options{})
	require.NoError(t, err)
	t.Logf("%d pages, left out by site:\n%s", len(all), c)
	require.GreaterOrEqual(t, c.Accuracy(), 0.78)
}

// The same with the labels that the pages have by their own text, on all sites; those
// that are about nothing are neither learnt from nor asked about.
func TestUnseenSitesByPage(t *testing.T) {
	var rows []labelled
	var all []classify.Example
	words := filter(t)
	for _, l := range labels(t) {
		if l.label != "none" {
			rows, all = append(rows, l), append(all, example(t, words, l, l.label))
		}
	}
	said := learn.NewConfusion([]string{"cs", "other"})
	sure := learn.NewConfusion([]string{"cs", "other"})
	ofField := learn.NewConfusion([]string{"cs", "other"}) // of the sites whose field is known
	right, pages := map[string]float64{}, map[string]float64{}
	for _, f := range classify.SiteFolds(all, 5) {
		c, err := classify.Train(learn.Pick(all, f.Train), classify.Options{})
		require.NoError(t, err)
		for _, i := range f.Test {
			verdict := "other"
			if c.Score(all[i].Words) >= classify.Sure {
				verdict = "cs"
			}
			said.Add(rows[i].label, verdict)
			if !rows[i].mayBeEither {
				sure.Add(rows[i].label, verdict)
			}
			if rows[i].field != "" {
				ofField.Add(rows[i].label, verdict)
			}
			pages[rows[i].site]++
			if verdict == rows[i].label {
				right[rows[i].site]++
			}
		}
	}
	sites := slices.SortedFunc(maps.Keys(pages), func(a, b string) int {
		return cmp.Or(cmp.Compare(right[a]/pages[a], right[b]/pages[b]), strings.Compare(a, b))
	})
	t.Logf("%d pages of %d sites, left out by site:\n%s", len(all), len(sites), said)
	t.Logf("without the doubtful ones: %.4f; on sites of one field: %.4f", sure.Accuracy(), ofField.Accuracy())
	middle := sites[len(sites)/2]
	t.Logf("the site in the middle: %.3f; the worst:", right[middle]/pages[middle])
	for _, s := range sites[:10] {
		t.Logf("  %-36s %2.0f of %2.0f", s, right[s], pages[s])
	}
	require.GreaterOrEqual(t, said.Accuracy(), 0.78)
}

// TestRelearning: on sites that nothing was learnt from, a classifier that learnt a
// quarter of the sites by label, and saw the pages of two others, is as good as one that
// did not see them, at least but for chance.
func TestRelearning(t *testing.T) {
	var all []classify.Example
	words := filter(t)
	for _, l := range labels(t) {
		if l.label != "none" {
			all = append(all, example(t, words, l, l.label))
		}
	}
	first, anew := learn.NewConfusion([]string{"cs", "other"}), learn.NewConfusion([]string{"cs", "other"})
	say := map[bool]string{true: "cs", false: "other"}
	parts, taken, own, guess := classify.SiteFolds(all, 4), 0, 0, 0.0
	for k := range parts {
		told := learn.Pick(all, parts[k].Test)
		read := append(learn.Pick(all, parts[(k+1)%4].Test), learn.Pick(all, parts[(k+2)%4].Test)...)
		before, err := classify.Relearn(t.Context(), told, nil, classify.Options{})
		require.NoError(t, err)
		after, err := classify.Relearn(t.Context(), told, read, classify.Options{})
		require.NoError(t, err)
		own += after.Own
		if after.Own > 0 {
			taken++
		}
		guess += *after.Accuracy / float64(len(parts))
		for _, e := range learn.Pick(all, parts[(k+3)%4].Test) {
			first.Add(say[e.Topic], say[before.Classifier.Score(e.Words) >= classify.Sure])
			anew.Add(say[e.Topic], say[after.Classifier.Score(e.Words) >= classify.Sure])
		}
	}
	t.Logf("%d pages: a quarter of the sites %.4f; with %d pages of its own labelling, where that does no harm, %d of %d times, %.4f, which it takes for %.4f",
		len(all), first.Accuracy(), own, taken, len(parts), anew.Accuracy(), guess)
	require.GreaterOrEqual(t, anew.Accuracy(), first.Accuracy()-0.02)
}
