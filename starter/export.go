package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"gleaner/internal/biblio"
	"gleaner/internal/store"
	"gleaner/internal/venue"
)

// exportAs writes found papers in one of the formats.
func exportAs(w io.Writer, format string, found []store.Exported) error {
	switch format {
	case "jsonl":
		enc := json.NewEncoder(w)
		for _, f := range found {
			if err := enc.Encode(f); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return exportCSV(w, found)
	case "bibtex":
		papers := make([]venue.Paper, len(found))
		for i, f := range found {
			papers[i] = venue.Paper{Key: f.Paper, Title: f.Title, Year: f.Year, Authors: f.Authors, DOI: f.DOI, Links: []string{f.URL}}
		}
		return biblio.Write(w, biblio.BibTeX, papers)
	}
	return fmt.Errorf("%w: --format is jsonl, csv or bibtex, not %q", errUsage, format)
}

func exportCSV(w io.Writer, found []store.Exported) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"paper", "title", "year", "sha256", "url", "parent_url", "matched_by", "score", "fetched_at", "path"}}
	for _, f := range found {
		rows = append(rows, []string{f.Paper, f.Title, strconv.Itoa(f.Year), f.SHA256, f.URL, f.ParentURL, f.MatchedBy,
			strconv.FormatFloat(f.Score, 'f', 3, 64), f.FetchedAt.UTC().Format(time.RFC3339), f.Path})
	}
	return out.WriteAll(rows)
}
