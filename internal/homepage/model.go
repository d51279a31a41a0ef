package homepage

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
)

//go:embed data/model.json
var modelJSON []byte

// Model is a logistic regression over the features of a candidate, as data.
type Model struct {
	Origin    string             `json:"origin"`  // what it was trained on
	Command   string             `json:"command"` // how to train it again
	Figures   map[string]float64 `json:"figures"` // cross-validated, as measured when it was trained
	Bias      float64            `json:"bias"`
	Weights   map[string]float64 `json:"weights"`
	Threshold float64            `json:"threshold"` // a candidate is kept from this probability on
}

// defaultModel is the model that is part of the program.
func defaultModel() *Model {
	m, err := decodeModel(modelJSON)
	if err != nil {
		panic("homepage: embedded data/model.json: " + err.Error())
	}
	return m
}

// ReadModel reads a model as Write wrote it.
func ReadModel(r io.Reader) (*Model, error) {
	raw, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return nil, err
	}
	return decodeModel(raw)
}

func decodeModel(raw []byte) (*Model, error) {
	var m Model
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("homepage model: %w", err)
	}
	if len(m.Weights) == 0 || m.Threshold <= 0 || m.Threshold >= 1 {
		return nil, fmt.Errorf("homepage model: wants weights and a threshold between 0 and 1")
	}
	return &m, nil
}

// Write stores the model as JSON.
func (m *Model) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(m)
}

// Score is the probability that a candidate with these features is a homepage
// of the author. The sum runs in the order of names, so that it is the same on
// every run to the last bit.
func (m *Model) Score(f map[string]float64) float64 {
	z := m.Bias
	for _, k := range slices.Sorted(maps.Keys(f)) {
		z += m.Weights[k] * f[k]
	}
	return math.Round(1e6/(1+math.Exp(-z))) / 1e6
}
