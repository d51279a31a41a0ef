package rank

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"gleaner/internal/web/page"
)

// Example is a link with a known outcome.
type Example struct {
	Site      string
	Candidate page.Candidate
	Outcome   float64 // documents: 1 for a paper; pages: papers per request, 0–1
}

// Constants of fitting a prior, chosen on held-out sites. Weights for pages have a stronger
// penalty: few pages lead to papers, and their features differ more between sites.
const (
	documentRidge = 2.0  // the inverse variance of the penalty on the weights for documents
	pageRidge     = 16.0 // the same for pages
	siteWeight    = 60.0 // greatest total weight of a site, in links, so that large sites do not dominate
)

// TrainPrior fits a prior to links of several sites by logistic regression with a Gaussian
// penalty.
func TrainPrior(lists Lists, examples []Example) (Prior, error) {
	x, err := newExtractor(&lists)
	if err != nil {
		return Prior{}, err
	}
	docs, err := x.train(examples, true, documentRidge)
	if err != nil {
		return Prior{}, err
	}
	pages, err := x.train(examples, false, pageRidge)
	if err != nil {
		return Prior{}, err
	}
	return Prior{Document: docs, Page: pages}, nil
}

// train returns the weights for documents or for pages, by feature name.
func (x *extractor) train(examples []Example, document bool, ridge float64) (map[string]float64, error) {
	var rows [][]feature
	var outcomes []float64
	var sites []string
	count := map[string]float64{}
	for i := range examples {
		e := &examples[i]
		if e.Candidate.Document != document {
			continue
		}
		fs, _, _ := x.extract(&e.Candidate, 0, nil)
		fs = slices.DeleteFunc(fs, func(f feature) bool { return int(f.index) >= x.shared || f.index == traitWanted })
		rows, outcomes, sites = append(rows, fs), append(outcomes, e.Outcome), append(sites, e.Site)
		count[e.Site]++
	}
	if len(rows) == 0 {
		return nil, errors.New("rank: train: no documents or no pages among the examples")
	}
	weight := make([]float64, len(rows))
	for i, s := range sites {
		weight[i] = math.Min(1, siteWeight/count[s])
	}
	w, err := fitLogistic(rows, outcomes, weight, x.shared, ridge)
	if err != nil {
		return nil, err
	}
	w[traitWanted], w[traitSeed] = wantedWeight, seedWeight
	named := map[string]float64{}
	for i, n := range x.named {
		if v := math.Round(w[i]*1000) / 1000; v != 0 {
			named[n] = v
		}
	}
	return named, nil
}

// wantedWeight is set, not trained: full similarity to a wanted title outweighs everything else,
// and a similarity of one half, which is chance, adds nothing.
const wantedWeight = 8

// seedWeight is set, not trained: crawls from one seed give no evidence about the worth of other
// seeds.
const seedWeight = 3

// fitLogistic returns the solution of iteratively reweighted least squares with a ridge; the bias
// has hardly any penalty.
func fitLogistic(rows [][]feature, outcome, weight []float64, n int, ridge float64) ([]float64, error) {
	w := make([]float64, n)
	for range 25 {
		h := mat.NewSymDense(n, nil)
		g := mat.NewVecDense(n, nil)
		for j := range n {
			penalty := ridge
			if j == traitBias {
				penalty = 0.01
			}
			h.SetSym(j, j, penalty)
			g.SetVec(j, -penalty*w[j])
		}
		for i, fs := range rows {
			z := 0.0
			for _, f := range fs {
				z += w[f.index] * float64(f.value)
			}
			p := sigmoid(z)
			slope := weight[i] * math.Max(p*(1-p), 1e-4)
			for a, f := range fs {
				g.SetVec(int(f.index), g.AtVec(int(f.index))+weight[i]*(outcome[i]-p)*float64(f.value))
				for _, e := range fs[a:] {
					r, c := int(f.index), int(e.index)
					h.SetSym(r, c, h.At(r, c)+slope*float64(f.value)*float64(e.value))
				}
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(h) {
			return nil, errors.New("rank: train: the examples do not determine the weights")
		}
		var step mat.VecDense
		if err := chol.SolveVecTo(&step, g); err != nil {
			return nil, err
		}
		largest := 0.0
		for j := range n {
			w[j] += step.AtVec(j)
			largest = math.Max(largest, math.Abs(step.AtVec(j)))
		}
		if largest < 1e-4 {
			break
		}
	}
	return w, nil
}
