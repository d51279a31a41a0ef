package match_test

import (
	"strconv"
	"strings"
	"testing"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/realdata"
)

type wantedRow struct {
	paper  gleaner.Paper
	urls   []string
	sha256 []string
}

// wantedPapers are the papers of the recorded venues, and where each lies.
func wantedPapers(t testing.TB) []wantedRow {
	t.Helper()
	var out []wantedRow
	for _, row := range realdata.Table(t, "truth", "wanted.tsv") {
		year, _ := strconv.Atoi(row["year"])
		p := gleaner.Paper{Key: row["key"], Venue: row["venue"], Year: year, Title: row["title"]}
		for a := range strings.SplitSeq(row["authors"], ";") {
			if a = strings.TrimSpace(a); a != "" {
				p.Authors = append(p.Authors, gleaner.Author{Name: a})
			}
		}
		out = append(out, wantedRow{paper: p, urls: realdata.List(row["urls"]), sha256: realdata.List(row["sha256"])})
	}
	return out
}
