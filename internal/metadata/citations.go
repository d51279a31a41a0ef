package metadata

import (
	"context"
	"strings"

	"gleaner/internal/gleaner"
)

// Cited returns how often the papers of some DOIs are cited, by DOI in lower
// case; one that Semantic Scholar does not know is left out.
func (s *SemanticScholar) Cited(ctx context.Context, dois []string) (map[string]int64, error) {
	papers := make([]gleaner.Paper, len(dois))
	for i, d := range dois {
		papers[i].DOI = d
	}
	found, err := s.lookUp(ctx, papers, "citationCount")
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for i, p := range found {
		if p != nil {
			out[strings.ToLower(dois[i])] = p.Citations
		}
	}
	return out, nil
}
