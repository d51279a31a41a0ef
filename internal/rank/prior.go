package rank

import (
	_ "embed" // the default prior is data, beside the code that reads it
	"encoding/json"
	"fmt"

	"gleaner/internal/each"
)

//go:embed prior.json
var defaultPrior []byte

// Prior is what gleaner believes before it has seen anything of a site: one
// weight for each shared feature, in log-odds, for documents (is it a paper)
// and for pages (the papers per request that it leads to).
type Prior struct {
	Origin   string             `json:"origin"`  // what it was trained on
	Command  string             `json:"command"` // how to train it again
	Figure   string             `json:"figure"`  // what it reached on sites that it had not seen
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

// weights lays out a prior in the order of the features' names. A feature that
// the prior does not know starts at 0.
func weights(named map[string]float64, names []string) []float32 {
	return each.Of(names, func(n string) float32 { return float32(named[n]) })
}
