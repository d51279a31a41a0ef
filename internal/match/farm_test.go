package match_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/realdata"
	"gleaner/internal/match"
	"gleaner/internal/text"
)

// sample is one document of the recorded sites.
type sample struct {
	url, sha256, text, title string
}

// farmTexts are read once for all tests of a run.
var farmTexts struct {
	sync.Once
	samples []sample
	err     error
}

// farmSamples reads the text of all PDFs.
func farmSamples(t testing.TB) []sample {
	t.Helper()
	farm := realdata.Path(t, "farm")
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("pdftotext (poppler-utils) is not installed")
	}
	farmTexts.Do(func() { farmTexts.samples, farmTexts.err = readFarm(farm) })
	if farmTexts.err != nil {
		t.Fatal(farmTexts.err)
	}
	return farmTexts.samples
}

func readFarm(farm string) ([]sample, error) {
	var out []sample
	err := filepath.WalkDir(farm, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.EqualFold(filepath.Ext(path), ".pdf") {
			return err
		}
		rel, _ := filepath.Rel(farm, path)
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		s := sample{url: "http://" + filepath.ToSlash(rel), sha256: hex.EncodeToString(sum[:])}
		text, _ := exec.Command("pdftotext", "-l", "2", path, "-").Output() // broken files have none
		s.text = string(text)
		info, _ := exec.Command("pdfinfo", path).Output()
		for line := range strings.Lines(string(info)) {
			if v, ok := strings.CutPrefix(line, "Title:"); ok {
				s.title = strings.TrimSpace(v)
				break
			}
		}
		out = append(out, s)
		return nil
	})
	return out, err
}

// TestFarmTextsCutAnywhere begins and ends real texts within their titles.
func TestFarmTextsCutAnywhere(t *testing.T) {
	t.Parallel()
	rows := wantedPapers(t)
	papers := make([]gleaner.Paper, len(rows))
	for i, r := range rows {
		papers[i] = r.paper
	}
	ix := match.NewIndex(papers)
	for i, s := range farmSamples(t) {
		if len(ix.Document(match.Evidence{FirstPages: s.text})) == 0 {
			continue
		}
		for cut := i % 7; cut < min(len(s.text), 420); cut += 7 {
			ix.Document(match.Evidence{FirstPages: s.text[cut:]})
			ix.Document(match.Evidence{FirstPages: s.text[:cut]})
		}
	}
}

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
	rows := wantedPapers(t)
	samples := farmSamples(t)
	papers := make([]gleaner.Paper, len(rows))
	byKey := map[string]wantedRow{}
	for i, r := range rows {
		papers[i] = r.paper
		byKey[r.paper.Key] = r
	}
	judged := labels(t)
	ix := match.NewIndex(papers)
	for _, how := range []string{"as read", "no spaces", "no spaces, no lines", "no ligatures", "1 % of letters changed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			scores := map[string]*score{}
			got := map[string]bool{} // key + document
			for _, s := range samples {
				ev := match.Evidence{FirstPages: spoil[how](s.text, r), MetaTitle: s.title}
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
				if sc.recall() < least[how] || sc.precision() < 0.99 {
					t.Errorf("%s, %s: precision %.3f (want 0.99), recall %.3f (want %.2f)", how, v, sc.precision(), sc.recall(), least[how])
				}
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
	samples := farmSamples(t)
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
	if right < 400 || other > 12 {
		t.Errorf("right %d (want 400), another or not listed %d (at most 12)", right, other)
	}
}

// least is the recall that each way of reading must reach: some titles of the
// farm's truth are a journal's name or a sentence, and on no document.
var least = map[string]float64{
	"as read": 0.96, "no spaces": 0.94, "no spaces, no lines": 0.85, "no ligatures": 0.96, "1 % of letters changed": 0.95,
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
