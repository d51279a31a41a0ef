package hardset_test

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"testing"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"
	"gleaner/internal/lab/hardset"
	"gleaner/internal/lab/homepages"
	"gleaner/internal/web/page"

	"github.com/stretchr/testify/require"
)

// testSeeds are webs that neither the embedded model nor the rules were made on.
func testSeeds() []uint64 { return []uint64{301, 302, 303, 304, 305} }

// TestHardSet measures the embedded model on webs it has not seen, with rich metadata and
// with poor.
func TestHardSet(t *testing.T) {
	devtest.Soak(t, "measures on generated webs")
	t.Run("rich", func(t *testing.T) { measure(t, func([]homepage.Subject) {}) })
	t.Run("poor", func(t *testing.T) { measure(t, poor) })
}

// poor leaves three papers to each author, and to each paper its author alone.
func poor(subjects []homepage.Subject) {
	for i := range subjects {
		s := &subjects[i]
		s.CoAuthors, s.Papers = nil, slices.Clone(s.Papers[:min(3, len(s.Papers))])
		for j := range s.Papers {
			s.Papers[j].Authors = []gleaner.Author{s.Author}
		}
	}
}

func measure(t *testing.T, known func([]homepage.Subject)) {
	var decisions []evidence.Decision
	var labels []homepages.Label
	for _, seed := range testSeeds() {
		d, l, err := hardset.Run(t.Context(), seed, 200, nil, known)
		require.NoError(t, err)
		decisions, labels = append(decisions, d...), append(labels, l...)
	}
	report := homepages.Evaluate(decisions, labels)
	t.Logf("\n%s", report)
	for _, m := range report.Mistakes {
		t.Logf("%-32s got %q, want %v: %s", m.Author.Name, m.Got, m.Want, m.Rule)
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

// slow lets a getter answer out of turn: every other address yields first.
type slow struct{ *hardset.Web }

func (s slow) Get(ctx context.Context, u string) (*page.Page, string, error) {
	for range len(u) % 7 * 50 {
		runtime.Gosched()
	}
	return s.Web.Get(ctx, u)
}

// TestSameWhateverTheTiming runs one web one author at a time and eight at a
// time in another order of work: the decisions are the same to the last bit.
func TestSameWhateverTheTiming(t *testing.T) {
	t.Parallel()
	w, err := hardset.Generate(t.Context(), 301, 60)
	require.NoError(t, err)
	one, err := homepages.FindAll(t.Context(), homepage.New(homepage.Config{Searcher: w.Searcher(), Getter: w}), w.Subjects, 1)
	require.NoError(t, err)
	many, err := homepages.FindAll(t.Context(), homepage.New(homepage.Config{Searcher: w.Searcher(), Getter: slow{w}}), w.Subjects, 8)
	require.NoError(t, err)
	a, err := json.Marshal(one)
	require.NoError(t, err)
	b, err := json.Marshal(many)
	require.NoError(t, err)
	require.Equal(t, string(a), string(b))
}

// TestGenerateIsDeterministic makes one web twice.
func TestGenerateIsDeterministic(t *testing.T) {
	t.Parallel()
	a, err := hardset.Generate(t.Context(), 302, 40)
	require.NoError(t, err)
	b, err := hardset.Generate(t.Context(), 302, 40)
	require.NoError(t, err)
	require.Equal(t, a.Subjects, b.Subjects)
	require.Equal(t, a.Labels, b.Labels)
	require.Equal(t, a.Pages(), b.Pages())
}

// TestTrain trains a model on small webs, as the command does on larger ones: it tells
// homepages from other pages on the web that was held out.
func TestTrain(t *testing.T) {
	t.Parallel()
	m, err := hardset.Train(t.Context(), hardset.TrainingSeeds()[:2], 20, nil)
	require.NoError(t, err)
	t.Logf("%v threshold %v", m.Figures, m.Threshold)
	require.GreaterOrEqual(t, m.Figures["accuracy"], 0.95)
}
