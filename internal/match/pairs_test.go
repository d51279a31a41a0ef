package match_test

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/realdata"
	"gleaner/internal/match"
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
		if name := cmp.Or(c.RawName, strings.TrimSpace(c.Given+" "+c.Surname)); name != "" {
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
		require.NoError(t, json.Unmarshal(b, &rel), id)
		return rel.paper(), true
	}
	var pairs, none int
	var all score
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
			all.right++
			folds[n%5].right++
			continue
		case said:
			all.wrong++
			folds[n%5].wrong++
		case same:
			all.missed++
			folds[n%5].missed++
		default:
			continue
		}
		t.Logf("%s %s, said %s %.2f %q\n\t%s | %v | %d | %s\n\t%s | %v | %d | %s", truth, row[3], v, score, why,
			a.Title, a.Authors, a.Year, a.Pages, b.Title, b.Authors, b.Year, b.Pages)
	}
	t.Logf("%d pairs: %+v, not loadable %d: precision %.3f, recall %.3f", pairs, all, none, all.precision(),
		all.recall())
	for i, f := range folds {
		t.Logf("fold %d: precision %.3f, recall %.3f", i+1, f.precision(), f.recall())
	}
	require.GreaterOrEqual(t, all.precision(), 0.95, "precision")
	assert.GreaterOrEqual(t, all.recall(), 0.88, "recall")
}
