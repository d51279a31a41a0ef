package match_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gleaner/internal/venue"
)

// shared finds the folder of measuring data, or skips.
func shared(t testing.TB, sub string) string {
	t.Helper()
	root := os.Getenv("GLEANER_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(root, sub)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no measuring data at %s (set GLEANER_SHARED)", path)
	}
	return path
}

type wantedRow struct {
	paper  venue.Paper
	urls   []string
	sha256 []string
}

func wantedPapers(t testing.TB) []wantedRow {
	t.Helper()
	f, err := os.Open(filepath.Join(shared(t, "truth"), "wanted.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []wantedRow
	for _, row := range rows[1:] {
		year, _ := strconv.Atoi(row[2])
		p := venue.Paper{Key: row[0], Venue: row[1], Year: year, Title: row[3]}
		for _, a := range strings.Split(row[4], ";") {
			if a = strings.TrimSpace(a); a != "" {
				p.Authors = append(p.Authors, venue.Author{Name: a})
			}
		}
		w := wantedRow{paper: p}
		if len(row) > 5 {
			w.urls = strings.Fields(strings.NewReplacer(";", " ", "|", " ").Replace(row[5]))
		}
		if len(row) > 6 {
			w.sha256 = strings.Fields(strings.NewReplacer(";", " ", "|", " ").Replace(row[6]))
		}
		out = append(out, w)
	}
	return out
}
