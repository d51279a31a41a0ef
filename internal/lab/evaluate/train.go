package evaluate

import (
	"errors"

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
	return fit(lists, sites, examples, "")
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
		p, err := fit(lists, sites, examples, s.Name)
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

func trainingExamples(sites []Named) (map[string][]rank.Example, error) {
	out := map[string][]rank.Example{}
	for _, s := range sites {
		run, err := BreadthFirst(s.Setup)
		if err != nil {
			return nil, err
		}
		out[s.Name] = Examples(s.Name, run)
	}
	return out, nil
}

func fit(lists rank.Lists, sites []Named, examples map[string][]rank.Example, without string) (rank.Prior, error) {
	var all []rank.Example
	for _, s := range sites {
		if s.Name != without {
			all = append(all, examples[s.Name]...)
		}
	}
	return rank.TrainPrior(lists, all)
}
