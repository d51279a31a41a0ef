package match_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gleaner/internal/match"
	"gleaner/internal/venue"
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

func (r release) paper() venue.Paper {
	p := venue.Paper{Title: r.Title, Year: r.Year, DOI: r.ExtIDs.DOI, ArXiv: r.ExtIDs.ArXiv, Pages: r.Pages}
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
			p.Authors = append(p.Authors, venue.Author{Name: name})
		}
	}
	return p
}

// TestRecordsOnHardPairs prints precision and recall of exact + strong on pairs
// that were collected for being hard.
func TestRecordsOnHardPairs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(shared(t, "data/matching"), "data")
	f, err := os.Open(filepath.Join(dir, "verify.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	load := func(id string) (venue.Paper, bool) {
		b, err := os.ReadFile(filepath.Join(dir, "release", id))
		if err != nil {
			return venue.Paper{}, false
		}
		var rel release
		if err := json.Unmarshal(b, &rel); err != nil {
			t.Fatal(id, err)
		}
		return rel.paper(), true
	}
	var right, wrong, missed, none int
	for _, row := range rows {
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
		v, score, why := match.Records(a, b)
		same, said := truth != "DIFFERENT", v == match.Exact || v == match.Strong
		switch {
		case same && said:
			right++
			continue
		case said:
			wrong++
		case same:
			missed++
		default:
			continue
		}
		t.Logf("%s %s, said %s %.2f %q\n\t%s | %v | %d | %s\n\t%s | %v | %d | %s", truth, row[3], v, score, why,
			a.Title, a.Authors, a.Year, a.Pages, b.Title, b.Authors, b.Year, b.Pages)
	}
	precision := float64(right) / float64(right+wrong)
	recall := float64(right) / float64(right+missed)
	t.Logf("pairs: right %d, wrong %d, missed %d, not loadable %d: precision %.3f, recall %.3f", right, wrong, missed, none, precision, recall)
	if precision < 0.95 || recall < 0.88 {
		t.Errorf("precision %.3f (want 0.95), recall %.3f (want 0.88)", precision, recall)
	}
}
