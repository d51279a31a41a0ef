package match_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/realdata"
	"gleaner/internal/match"
	"gleaner/internal/text"
)

// release is a record of the pairs, in the shape of fatcat's API.
type release struct {
	Title    string `json:"title"`
	Subtitle string `json:"subtitle"`
	Contribs []struct {
		RawName string `json:"raw_name"`
		Given   string `json:"given_name"`
		Surname string `json:"surname"`
	} `json:"contribs"`
	Year   int `json:"release_year"`
	ExtIDs struct {
		DOI   string `json:"doi"`
		ArXiv string `json:"arxiv"`
	} `json:"ext_ids"`
	Pages string `json:"pages"`
	Extra struct {
		Subtitle []string `json:"subtitle"`
	} `json:"extra"`
}

func (r release) paper() gleaner.Paper {
	p := gleaner.Paper{Title: r.Title, Year: r.Year, DOI: r.ExtIDs.DOI, ArXiv: r.ExtIDs.ArXiv, Pages: r.Pages}
	switch {
	case r.Subtitle != "":
		p.Title += ": " + r.Subtitle
	case len(r.Extra.Subtitle) > 0:
		p.Title += ": " + r.Extra.Subtitle[0]
	}
	for _, c := range r.Contribs {
		name := c.RawName
		if name == "" {
			name = strings.TrimSpace(c.Given + " " + c.Surname)
		}
		if name != "" {
			p.Authors = append(p.Authors, gleaner.Author{Name: name})
		}
	}
	return p
}

// TestRecordsOnHardPairs prints precision and recall of exact + strong on pairs
// that were collected for being hard.
func TestRecordsOnHardPairs(t *testing.T) {
	t.Parallel()
	dir := realdata.Path(t, "data", "matching", "data")
	f, err := os.Open(filepath.Join(dir, "verify.csv"))
	require.NoError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	require.NoError(t, err)
	load := func(id string) (gleaner.Paper, bool) {
		b, err := os.ReadFile(filepath.Join(dir, "release", id))
		if err != nil {
			return gleaner.Paper{}, false
		}
		var rel release
		if err := json.Unmarshal(b, &rel); err != nil {
			t.Fatal(id, err)
		}
		return rel.paper(), true
	}
	var pairs, right, wrong, missed, none int
	var folds [5]score // a rule that fits a few pairs alone shows as one bad fold
	for n, row := range rows {
		truth := strings.TrimPrefix(row[2], "Status.")
		if truth != "EXACT" && truth != "STRONG" && truth != "DIFFERENT" {
			continue
		}
		a, okA := load(row[0])
		b, okB := load(row[1])
		if !okA || !okB {
			none++
			continue
		}
		pairs++
		v, score, why := match.Records(a, b)
		same, said := truth != "DIFFERENT", v == match.Exact || v == match.Strong
		switch {
		case same && said:
			right++
			folds[n%5].right++
			continue
		case said:
			wrong++
			folds[n%5].wrong++
		case same:
			missed++
			folds[n%5].missed++
		default:
			continue
		}
		t.Logf("%s %s, said %s %.2f %q\n\t%s | %v | %d | %s\n\t%s | %v | %d | %s", truth, row[3], v, score, why,
			a.Title, a.Authors, a.Year, a.Pages, b.Title, b.Authors, b.Year, b.Pages)
	}
	precision := float64(right) / float64(right+wrong)
	recall := float64(right) / float64(right+missed)
	t.Logf("%d pairs: right %d, wrong %d, missed %d, not loadable %d: precision %.3f, recall %.3f", pairs, right, wrong, missed, none, precision, recall)
	for i, f := range folds {
		t.Logf("fold %d: precision %.3f, recall %.3f", i+1, f.precision(), f.recall())
	}
	require.GreaterOrEqual(t, precision, 0.95, "precision")
	assert.GreaterOrEqual(t, recall, 0.88, "recall")
}

// TestHeldOfLists: a library's list of titles and years is found among the
// wanted papers, and nothing else is.
func TestHeldOfLists(t *testing.T) {
	t.Parallel()
	dir := realdata.Path(t, "truth")
	wanted := each.Of(wantedPapers(t, "truth"), func(row wantedRow) gleaner.Paper { return row.paper })
	for _, name := range []string{"holdings-farm.csv", "holdings-colt.csv"} {
		f, err := os.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		rows, err := csv.NewReader(f).ReadAll()
		_ = f.Close()
		require.NoError(t, err)
		var list []gleaner.Paper
		listed := map[string]bool{}
		for _, row := range rows[1:] {
			year, _ := strconv.Atoi(row[1])
			list = append(list, gleaner.Paper{Title: row[0], Year: year})
			listed[text.Normalise(row[0])] = true
		}
		held := match.Held(wanted, list)
		found := map[string]bool{}
		wrong := 0
		for _, p := range wanted {
			if _, ok := held[p.Key]; !ok {
				continue
			}
			found[text.Normalise(p.Title)] = true
			if !listed[text.Normalise(p.Title)] {
				wrong++
				t.Logf("held by another title: %q, by %q", p.Title, held[p.Key].Held.Title)
			}
		}
		t.Logf("%s: %d titles listed, %d of them found, %d held by another title", name, len(listed), len(found)-wrong, wrong)
		require.GreaterOrEqual(t, len(found)-wrong, len(listed), name)
		assert.LessOrEqual(t, wrong, 0, name)
	}
}
