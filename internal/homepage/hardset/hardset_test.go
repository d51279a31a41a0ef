package hardset_test

import (
	"os"
	"testing"

	"gleaner/internal/homepage"
	"gleaner/internal/homepage/hardset"

	"github.com/stretchr/testify/require"
)

// testSeeds are webs that the embedded model was not trained on.
var testSeeds = []uint64{101, 102, 103, 104, 105}

// TestHardSet measures the embedded model on webs it has not seen.
func TestHardSet(t *testing.T) {
	if testing.Short() {
		t.Skip("measures on generated webs")
	}
	var decisions []homepage.Decision
	var labels []homepage.Label
	situations := map[string]string{}
	for _, seed := range testSeeds {
		d, l, s, err := hardset.Run(t.Context(), seed, 200, nil)
		require.NoError(t, err)
		decisions, labels = append(decisions, d...), append(labels, l...)
		for k, v := range s {
			situations[k] = v
		}
	}
	report := homepage.Evaluate(decisions, labels)
	t.Logf("\n%s", report)
	for _, m := range report.Mistakes {
		t.Logf("%-26s %-32s got %q, want %v: %s", situations[m.Author.ID()], m.Author.Name, m.Got, m.Want, m.Rule)
		for _, d := range decisions {
			if d.Author.ID() != m.Author.ID() {
				continue
			}
			for _, c := range d.Candidates {
				if testing.Verbose() {
					t.Logf("      %s (%s) %.3f %s %v", c.URL, c.Source, c.Score, c.Rule, c.Features)
				}
			}
		}
	}
	require.GreaterOrEqual(t, report.Found(), 0.97)
	require.LessOrEqual(t, report.WrongRate(), 0.01)
}

// TestTrain trains a model as the command does, and writes it where
// GLEANER_MODEL_OUT says.
func TestTrain(t *testing.T) {
	out := os.Getenv("GLEANER_MODEL_OUT")
	if out == "" {
		t.Skip("set GLEANER_MODEL_OUT to a file to train the model into")
	}
	m, err := hardset.Train(t.Context(), hardset.TrainingSeeds(), 200, nil, homepage.TrainOptions{})
	require.NoError(t, err)
	t.Logf("%v threshold %v", m.Figures, m.Threshold)
	f, err := os.Create(out)
	require.NoError(t, err)
	require.NoError(t, m.Write(f))
	require.NoError(t, f.Close())
}
