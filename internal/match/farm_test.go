package match_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/realdata"
	"gleaner/internal/match"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

// spoil turns a text into what a poor reader makes of it.
var spoil = map[string]func(string, *rand.Rand) string{
	"as read":   func(s string, _ *rand.Rand) string { return s },
	"no spaces": func(s string, _ *rand.Rand) string { return strings.NewReplacer(" ", "", "\t", "").Replace(s) },
	"no spaces, no lines": func(s string, _ *rand.Rand) string {
		return strings.NewReplacer(" ", "", "\t", "", "\n", "").Replace(s)
	},
	"no ligatures": func(s string, _ *rand.Rand) string {
		return strings.NewReplacer("ffi", "", "ffl", "", "ff", "", "fi", "", "fl", "", "ﬁ", "", "ﬂ", "", "ﬀ", "", "ﬃ", "", "ﬄ", "").Replace(s)
	},
	"1 % of letters changed": func(s string, r *rand.Rand) string {
		b := []byte(s)
		for i, c := range b {
			if (c|0x20) >= 'a' && (c|0x20) <= 'z' && r.IntN(100) == 0 {
				b[i] = byte('a' + r.IntN(26))
			}
		}
		return string(b)
	},
}

// TestDocumentsOfSites prints, for each venue and each way of reading, how many
// documents were matched to the right wanted paper.
func TestDocumentsOfSites(t *testing.T) {
	t.Parallel()
	rows := wantedPapers(t, "truth")
	samples := recordedTexts(t, "farm")
	byKey := map[string]wantedRow{}
	for _, r := range rows {
		byKey[r.paper.Key] = r
	}
	judged, owners := labels(t), ownersOf(t, "truth")
	ix := match.NewIndex(papersOf(rows))
	for _, how := range []string{"as read", "no spaces", "no spaces, no lines", "no ligatures", "1 % of letters changed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			scores := map[string]*score{}
			got := map[string]bool{} // key + document
			for _, s := range samples {
				ev := match.Evidence{FirstPages: spoil[how](s.text, r), MetaTitle: s.title, Owners: owners[weburl.Host(s.url)]}
				for _, m := range ix.Document(ev) {
					if !m.Taken() {
						if how == "as read" && isRight(byKey[m.Paper.Key], s) {
							t.Logf("NOT TAKEN %s %s %s %s %q", m.Verdict, m.Form, m.Paper.Key, s.url, m.Reasons)
						}
						continue
					}
					sc := of(scores, m.Paper.Venue)
					switch {
					case isRight(byKey[m.Paper.Key], s):
						sc.right++
						got[m.Paper.Key+" "+s.sha256] = true
					case contradicted(rows, byKey[m.Paper.Key], s, judged):
						sc.wrong++
						t.Logf("WRONG %s %s %s %q\n\t%s %q\n\t%.300q", m.Verdict, m.Form, m.Paper.Key, m.Paper.Title, s.url, m.Reasons, s.text)
					default:
						sc.unlisted++
						if how == "as read" {
							t.Logf("NOT LISTED %s %s %s %q\n\t%s %q\n\t%.300q", m.Verdict, m.Form, m.Paper.Key, m.Paper.Title, s.url, m.Reasons, s.text)
						}
					}
				}
			}
			for _, row := range rows {
				for _, s := range samples {
					if isRight(row, s) && !got[row.paper.Key+" "+s.sha256] {
						of(scores, row.paper.Venue).missed++
						if how == "as read" {
							t.Logf("MISSED %s %q %v\n\t%s\n\t%.400q", row.paper.Key, row.paper.Title, row.paper.Authors, s.url, s.text)
						}
					}
				}
			}
			for v, sc := range scores {
				t.Logf("%s, %s: right %d, wrong %d, not listed %d, missed %d: precision %.3f, recall %.3f",
					how, v, sc.right, sc.wrong, sc.unlisted, sc.missed, sc.precision(), sc.recall())
				require.GreaterOrEqual(t, sc.recall(), least[how], v)
				assert.GreaterOrEqual(t, sc.precision(), 0.99, v)
			}
		})
	}
}

// TestDocumentsByTitleAlone matches the same documents against every title that
// stands on a page beside its link, with no author known.
func TestDocumentsByTitleAlone(t *testing.T) {
	t.Parallel()
	var papers []gleaner.Paper
	rows := map[string]wantedRow{}
	for _, row := range realdata.Table(t, "truth", "papers.tsv") {
		p := gleaner.Paper{Key: row["id"], Title: row["title"]}
		papers = append(papers, p)
		rows[p.Key] = wantedRow{paper: p, urls: realdata.List(row["urls"]), sha256: realdata.List(row["sha256"])}
	}
	samples := recordedTexts(t, "farm")
	ix := match.NewIndex(papers)
	var right, other, missed int
	for _, s := range samples {
		var own []string
		for key, row := range rows {
			if isRight(row, s) {
				own = append(own, key)
			}
		}
		hit := false
		for _, m := range ix.Document(match.Evidence{FirstPages: s.text, MetaTitle: s.title}) {
			if !m.Taken() {
				continue
			}
			if slices.Contains(own, m.Paper.Key) {
				hit = true
				continue
			}
			other++
			t.Logf("OTHER %s %q %s %q\n\t%.300q", m.Verdict, m.Paper.Title, s.url, m.Reasons, s.text)
		}
		switch {
		case hit:
			right++
		case len(own) > 0:
			missed++
			t.Logf("MISSED %q %s\n\t%.300q", rows[own[0]].paper.Title, s.url, s.text)
		}
	}
	t.Logf("title alone, %d titles, %d documents: right %d, another or not listed %d, missed %d", len(papers), len(samples), right, other, missed)
	// The truth's titles are what links say, so that many are not on the page.
	require.GreaterOrEqual(t, right, 400, "right")
	assert.LessOrEqual(t, other, 12, "right")
}

// least is the recall that each way of reading must reach without the words of the
// links: some titles of the farm's truth are a journal's name or a sentence, and on no
// document.
var least = map[string]float64{
	"as read": 0.94, "no spaces": 0.94, "no spaces, no lines": 0.85, "no ligatures": 0.94, "1 % of letters changed": 0.93,
}

// contradicted: the truth lists the document as another paper, or its reader
// judged it to be no paper. A document that is merely not listed may be right:
// the truth knows one copy where there are several.
func contradicted(rows []wantedRow, row wantedRow, s sample, judged map[string]string) bool {
	for _, other := range rows {
		if isRight(other, s) && text.Normalise(other.paper.Title) != text.Normalise(row.paper.Title) {
			return true
		}
	}
	label := judged[s.url]
	return label != "" && label != "paper"
}

// labels reads what a reader judged each document to be.
func labels(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, row := range realdata.Table(t, "truth", "labels.tsv") {
		out[row["url"]] = row["label"]
	}
	return out
}

type score struct{ right, wrong, unlisted, missed int }

func (s score) precision() float64 { return float64(s.right) / float64(max(1, s.right+s.wrong)) }
func (s score) recall() float64    { return float64(s.right) / float64(max(1, s.right+s.missed)) }

func of(m map[string]*score, venue string) *score {
	if m[venue] == nil {
		m[venue] = &score{}
	}
	return m[venue]
}

func isRight(row wantedRow, s sample) bool {
	if slices.Contains(row.sha256, s.sha256) {
		return true
	}
	for _, u := range row.urls {
		if plain, err := url.PathUnescape(u); err == nil && strings.TrimPrefix(strings.TrimPrefix(plain, "https://"), "http://") == strings.TrimPrefix(s.url, "http://") {
			return true
		}
	}
	return false
}

func ExampleNormalise() {
	fmt.Println(text.Normalise(`Erd&#337;s&#8211;R&eacute;nyi $\lambda$-graphs`))
	// Output: erdosrenyilambdagraphs
}
