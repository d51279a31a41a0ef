package evaluate

import (
	"errors"

	"gleaner/internal/each"
	"gleaner/internal/rank"
)

// Named is a snapshot with a name.
type Named struct {
	Name  string
	Setup Setup
}

// TrainPrior crawls each snapshot breadth-first and fits gleaner's prior to
// what its links led to.
func TrainPrior(lists rank.Lists, sites []Named) (rank.Prior, error) {
	examples, err := trainingExamples(sites)
	if err != nil {
		return rank.Prior{}, err
	}
	return rank.TrainPrior(lists, examples)
}

// LeaveOneOut trains a prior for each snapshot on all the others: what is
// measured with it has not been seen in training.
func LeaveOneOut(lists rank.Lists, sites []Named) (map[string]*rank.Prior, error) {
	if len(sites) < 2 {
		return nil, errors.New("evaluate: leaving one site out takes two at least")
	}
	examples, err := trainingExamples(sites)
	if err != nil {
		return nil, err
	}
	out := map[string]*rank.Prior{}
	for _, s := range sites {
		p, err := rank.TrainPrior(lists, each.Where(examples, func(e rank.Example) bool { return e.Site != s.Name }))
		if err != nil {
			return nil, err
		}
		out[s.Name] = &p
	}
	return out, nil
}

// BreadthFirst crawls a whole site.
func BreadthFirst(s Setup) (Run, error) {
	strategy, err := rank.New(rank.BreadthFirst, rank.Options{})
	if err != nil {
		return Run{}, err
	}
	return Simulate(s, strategy)
}

func trainingExamples(sites []Named) (all []rank.Example, err error) {
	for _, s := range sites {
		run, err := BreadthFirst(s.Setup)
		if err != nil {
			return nil, err
		}
		all = append(all, Examples(s.Name, run)...)
	}
	return all, nil
}
