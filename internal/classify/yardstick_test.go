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
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/each"
	"gleaner/internal/lab/measure"
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
	f := devtest.Must(os.Open("testdata/pages.tsv"))(t)
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
	body := devtest.Must(os.ReadFile(realdata.Path(t, filepath.FromSlash(l.page))))(t)
	_, address, _ := strings.Cut(l.page, "/")
	p := devtest.Must(page.Parse("http://"+address, nil, body))(t)
	return classify.Example{Words: classify.Words(words, topic.Page{Title: p.Title, Text: p.Text}), Topic: label == "cs", Site: l.site}
}

// subjects are those of computer science and beside it.
func subjects(t *testing.T, words *topic.Filter) []classify.Example {
	f := devtest.Must(os.Open("testdata/subjects.tsv"))(t)
	defer func() { _ = f.Close() }()
	return each.Of(devtest.Must(classify.ReadSubjects(f, words))(t), classify.Labelled.Example)
}

// judged is what classifiers said of pages of sites that they did not see.
type judged struct {
	alone, beside, sure *measure.Confusion // each page by itself; with its site's before; by itself, without doubtful ones
	rows                []labelled         // asked about
	right               []bool             // by itself
}

// unseen has five classifiers, each of which saw four fifths of the sites and the subjects,
// judge the pages of the others, by labels that of says; "" and "none" are left out.
func unseen(t *testing.T, of func(labelled) string, further []classify.Example) judged {
	t.Helper()
	var rows []labelled
	var all []classify.Example
	words := filter(t)
	for _, l := range labels(t) {
		if label := of(l); label != "" && label != "none" {
			rows, all = append(rows, l), append(all, example(t, words, l, label))
		}
	}
	all = append(all, further...)
	confusion := func() *measure.Confusion { return measure.NewConfusion([]string{"cs", "other"}) }
	out := judged{alone: confusion(), beside: confusion(), sure: confusion()}
	say := map[bool]string{true: "cs", false: "other"}
	for _, f := range classify.SiteFolds(all, 5) {
		c := mustTrain(t, learn.Pick(all, f.Train), classify.Options{Beside: 1})
		var sites classify.Sites
		for _, i := range f.Test {
			is, said := say[all[i].Topic], say[c.Score(all[i].Words) >= classify.Sure]
			out.alone.Add(is, said)
			out.beside.Add(is, say[c.ScoreOn(&sites, all[i].Site, all[i].Words) >= classify.Sure])
			if !rows[i].mayBeEither {
				out.sure.Add(is, said)
			}
			out.rows, out.right = append(out.rows, rows[i]), append(out.right, is == said)
		}
	}
	t.Logf("%d pages, sites left out in five parts: each by itself %.4f, without doubtful ones %.4f, with the site's before %.4f\n%s",
		len(out.rows), out.alone.Accuracy(), out.sure.Accuracy(), out.beside.Accuracy(), out.beside)
	return out
}

// worst lists the sites on which most is wrong, the one in the middle and, of the pages that
// are wrong, the paths.
func (j judged) worst(t *testing.T) {
	t.Helper()
	right, pages := map[string]float64{}, map[string]float64{}
	for i, l := range j.rows {
		pages[l.site]++
		if j.right[i] {
			right[l.site]++
		} else {
			t.Logf("  wrong: %s is %s, on a site of %q %s", l.page, l.label, l.field, l.note)
		}
	}
	sites := slices.SortedFunc(maps.Keys(pages), func(a, b string) int {
		return cmp.Or(cmp.Compare(right[a]/pages[a], right[b]/pages[b]), strings.Compare(a, b))
	})
	middle := sites[len(sites)/2]
	t.Logf("%d sites; the one in the middle: %.3f; the worst:", len(sites), right[middle]/pages[middle])
	for _, s := range sites[:10] {
		t.Logf("  %-36s %2.0f of %2.0f", s, right[s], pages[s])
	}
}

// Whether a page is of a site about computer science: with the subjects and the pages of the
// site that were read before, the classifier is right on 93 of a hundred, on sites that it
// never saw. The thesis leaves out pages, not sites, and has 88.5 to 93.5.
func TestUnseenSitesByField(t *testing.T) {
	field := func(l labelled) string { return l.field }
	require.GreaterOrEqual(t, unseen(t, field, nil).alone.Accuracy(), 0.80)
	with := unseen(t, field, subjects(t, filter(t)))
	with.worst(t)
	require.GreaterOrEqual(t, with.alone.Accuracy(), 0.88)
	require.GreaterOrEqual(t, with.beside.Accuracy(), 0.93)
}

// The same with the labels that the pages have by their own text, on all sites; those
// that are about nothing are neither learnt from nor asked about.
func TestUnseenSitesByPage(t *testing.T) {
	own := func(l labelled) string { return l.label }
	require.GreaterOrEqual(t, unseen(t, own, nil).alone.Accuracy(), 0.78)
	with := unseen(t, own, subjects(t, filter(t)))
	with.worst(t)
	require.GreaterOrEqual(t, with.alone.Accuracy(), 0.85)
	require.GreaterOrEqual(t, with.beside.Accuracy(), 0.85)
}
