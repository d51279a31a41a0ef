package rank

import (
	_ "embed" // the default prior is data, beside the code that reads it
	"encoding/json"
	"fmt"

	"gleaner/internal/each"
)

//go:embed prior.json
var defaultPrior []byte

// Prior holds the weights with which gleaner begins on a new site, in log-odds by shared feature:
// for documents (the probability of a paper) and for pages (the papers per request they lead to).
type Prior struct {
	Origin   string             `json:"origin"`  // training data
	Command  string             `json:"command"` // command that trains it again
	Figure   string             `json:"figure"`  // result on held-out sites
	Document map[string]float64 `json:"document"`
	Page     map[string]float64 `json:"page"`
}

// ParsePrior reads a prior from JSON.
func ParsePrior(data []byte) (Prior, error) {
	var p Prior
	if err := json.Unmarshal(data, &p); err != nil {
		return Prior{}, fmt.Errorf("rank: prior: %w", err)
	}
	return p, nil
}

// weights returns a prior in the order of the features' names. A feature without a weight starts
// at 0.
func weights(named map[string]float64, names []string) []float32 {
	return each.Of(names, func(n string) float32 { return float32(named[n]) })
}
