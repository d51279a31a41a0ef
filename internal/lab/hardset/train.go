package hardset

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"
	"gleaner/internal/lab/homepages"
)

// parallel is how many authors are looked for at a time.
const parallel = 4

// Run generates a web and finds its authors' homepages with the model given
// (nil: the embedded one), by what is known of them, which known may lessen. Author ids
// carry the seed, so that several webs can be judged together.
func Run(ctx context.Context, seed uint64, authors int, m *homepage.Model, known func([]homepage.Subject)) ([]evidence.Decision, []homepages.Label, error) {
	w, err := Generate(ctx, seed, authors)
	if err != nil {
		return nil, nil, err
	}
	known(w.Subjects)
	f := homepage.New(homepage.Config{Searcher: w.Searcher(), Getter: w, Model: m})
	ds, err := homepages.FindAll(ctx, f, w.Subjects, parallel)
	if err != nil {
		return nil, nil, err
	}
	for i := range ds {
		pid := fmt.Sprintf("%d:%s", seed, strings.TrimPrefix(ds[i].Author.ID(), "name:"))
		ds[i].Author.PID, w.Labels[i].Author.PID = pid, pid
	}
	return ds, w.Labels, nil
}

// TrainingSeeds are the webs that the embedded model is trained on.
func TrainingSeeds() []uint64 { return []uint64{1, 2, 3, 4, 5, 6, 7, 8} }

// rounds is how often training finds, learns and finds again: which pages are
// looked at depends on the model.
const rounds = 2

// Train learns a model from the generated webs of the seeds, with examples of
// the user's own beside them (their groups are kept apart from these). A tenth
// of the examples lose what directories and search said of them, so that the
// model does not lean on a source alone.
func Train(ctx context.Context, seeds []uint64, authors int, own []homepages.Example) (*homepage.Model, error) {
	var m *homepage.Model
	for range rounds {
		examples, err := gather(ctx, seeds, authors, m)
		if err != nil {
			return nil, err
		}
		groups := len(seeds)
		for _, e := range own {
			e.Group += groups
			examples = append(examples, e)
		}
		if m, err = homepages.Train(examples, homepages.TrainIterations); err != nil {
			return nil, err
		}
	}
	m.Origin = fmt.Sprintf("candidates of %d generated webs of %d authors each (internal/lab/hardset, seeds %v) and %d examples of the user's", len(seeds), authors, seeds, len(own))
	m.Command = "lab train homepage"
	return m, nil
}

// gather finds homepages on each web and takes what was fetched as examples,
// one group per web.
func gather(ctx context.Context, seeds []uint64, authors int, m *homepage.Model) ([]homepages.Example, error) {
	var examples []homepages.Example
	for i, seed := range seeds {
		ds, labels, err := Run(ctx, seed, authors, m, func([]homepage.Subject) {})
		if err != nil {
			return nil, err
		}
		r := rand.New(rand.NewPCG(seed, 7))
		for _, e := range homepages.Examples(ds, labels) {
			e.Group = i
			if chance(r, 0.1) {
				e.Features = maps.Clone(e.Features)
				for _, said := range []string{"rank", "hits", "listed", "linked"} {
					delete(e.Features, said)
				}
			}
			examples = append(examples, e)
		}
	}
	return examples, nil
}
