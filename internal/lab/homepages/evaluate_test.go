package homepages

import (
	"bytes"
	"strings"
	"testing"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadLabels(t *testing.T) {
	t.Parallel()
	got, err := ReadLabels(strings.NewReader("pid\tauthor\thomepage\tnote\n1/2\tJane Doe\thttp://a.org/\tx\n1/2\tJane Doe\thttp://b.org/\n\n3/4\tJohn Roe\t\n"))
	require.NoError(t, err)
	assert.Equal(t, []Label{
		{Author: gleaner.Author{PID: "1/2", Name: "Jane Doe"}, Homepages: []string{"http://a.org/", "http://b.org/"}},
		{Author: gleaner.Author{PID: "3/4", Name: "John Roe"}},
	}, got)
	_, err = ReadLabels(strings.NewReader("name\turl\n"))
	require.ErrorContains(t, err, `line 1: no column "author"`)
	_, err = ReadLabels(strings.NewReader("author\thomepage\n\thttp://a.org/\n"))
	require.ErrorContains(t, err, "line 2: no author")
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	author := func(id string) gleaner.Author { return gleaner.Author{PID: id, Name: id} }
	given := func(id string, urls ...string) evidence.Decision {
		d := evidence.Decision{Author: author(id), Searches: 1, Fetches: 2}
		for _, u := range urls {
			d.Homepages = append(d.Homepages, evidence.Candidate{URL: u, Source: evidence.SourceVenue, Kept: true})
		}
		return d
	}
	r := Evaluate([]evidence.Decision{
		given("right", "http://a.org/papers.html"),
		given("wrong", "http://x.org/"),
		given("second wrong", "http://c.org/", "http://x.org/"),
		given("missed"),
		given("none"),
		given("none but given", "http://x.org/"),
		given("stranger", "http://a.org/"),
		given("unknown", "http://y.org/"),
	}, []Label{
		{author("right"), []string{"https://www.a.org"}}, {author("wrong"), []string{"http://b.org/"}}, {author("second wrong"), []string{"http://c.org/"}},
		{author("missed"), []string{"http://d.org/"}}, {author("none"), nil}, {author("none but given"), nil},
	})
	assert.Equal(t, Score{Authors: 8, Exist: 4, Right: 2, Wrong: 4, NotFound: 1, None: 1}, r.Score)
	assert.Equal(t, 1, r.Unlabeled)
	assert.Equal(t, 8, r.Searches)
	assert.Equal(t, 16, r.Fetches)
	assert.Len(t, r.Mistakes, 5)
	assert.Contains(t, r.String(), "\n  by search ")
}

func TestTrainSeparatesAndKeepsSigns(t *testing.T) {
	t.Parallel()
	var examples []Example
	for i := range 60 {
		right := i%3 == 0
		f := map[string]float64{"identity": 1, "vouched": map[bool]float64{true: 1}[right]}
		if right {
			f["portal_signs"] = 0.1 // appears only on right ones here, and still must not speak for a page
		}
		examples = append(examples, Example{Features: f, Right: right, Group: i})
	}
	m, err := Train(examples, 500)
	require.NoError(t, err)
	assert.InDelta(t, 1, m.Figures["accuracy"], 0)
	assert.LessOrEqual(t, m.Weights["portal_signs"], 0.0)
	assert.Negative(t, m.Weights["kind_event"], "what no example shows keeps the prior's weight")

	var buf bytes.Buffer
	require.NoError(t, m.Write(&buf))
	back, err := homepage.ReadModel(&buf)
	require.NoError(t, err)
	assert.Equal(t, m, back)

	_, err = Train(examples[:1], 500)
	require.ErrorIs(t, err, errNoExamples)
	_, err = homepage.ReadModel(strings.NewReader(`{"weights":{}}`))
	require.Error(t, err)
}
