package collections_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	. "gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
)

// TestExamples: what a person labelled stays until the labels are others, and what a
// person judged for good; of a page without words nothing can be learnt. The words of
// pages are kept of the latest, and of what is in a collection.
func TestExamples(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var seeds []URL
	for i := range 6 {
		seeds = append(seeds, url("a.example", fmt.Sprint(i), 1))
	}
	q := open(t, Rules{Size: 1}, seeds)
	for i := range seeds {
		u := take(t, q)
		v := Visit{URL: u, At: time.Now(), Words: fmt.Sprint("word ", i)}
		switch i {
		case 0:
			v.Entries = []Member{{"math", 0.9}}
		case 5:
			v.Words = ""
		}
		require.NoError(t, q.Write(ctx, &v))
	}
	labelled := []Example{{"http://z.example/", true, "prime ring"}, {"http://a.example/1", false, "verse"}}
	require.NoError(t, q.SetExamples(ctx, q.ID, "math", labelled))
	require.NoError(t, q.SetExamples(ctx, q.ID, "verse", labelled[:1]))

	of := func(i int) frontier.Hash { return frontier.HashOf(fmt.Sprint("http://a.example/", i)) }
	for range 2 {
		kept, err := q.Judge(ctx, q.ID, []Judged{{"math", of(0), true}, {"math", of(1), true}, {"math", of(5), true}, {"math", of(9), true}})
		require.NoError(t, err)
		require.Equal(t, 2, kept, "two have no words")
	}
	require.NoError(t, q.SetExamples(ctx, q.ID, "math", []Example{{"http://a.example/1", false, "other"}, {"http://b.example/", false, "poem"}}))
	got := devtest.Must(q.Examples(ctx, q.ID, "math"))(t)
	require.Equal(t, []Example{{"http://a.example/0", true, "word 0"}, {"http://a.example/1", true, "verse"}, {"http://b.example/", false, "poem"}}, got)

	read := devtest.Must(q.Read(ctx, q.ID, "math", 2))(t)
	require.Equal(t, []Example{{"http://a.example/4", false, "word 4"}, {"http://a.example/3", false, "word 3"}}, read)
	require.NoError(t, q.ForgetWords(ctx, q.ID, 2))
	read = devtest.Must(q.Read(ctx, q.ID, "verse", 10))(t)
	require.Equal(t, []string{"http://a.example/4", "http://a.example/3", "http://a.example/0"}, []string{read[0].URL, read[1].URL, read[2].URL})
	require.Len(t, read, 3, "the latest two, and what is in a collection")
}

// TestLearnings: each is done by one of those who would; the classifier is that of the latest
// which did not fail, and old ones are not kept.
func TestLearnings(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	q := open(t, Rules{}, nil)
	learns := func(l *Learning, want bool) {
		require.Equal(t, want, devtest.Must(q.BeginLearning(ctx, q.ID, l))(t))
	}
	right := 0.75
	for i := range 12 {
		l := Learning{Topic: "math", Pages: 1200 - 100*i, Labelled: 50 + i, SelfLabelled: i, Accuracy: &right}
		learns(&l, true)
		learns(new(l), false)
		require.NoError(t, q.EndLearning(ctx, q.ID, l, json.RawMessage(fmt.Sprint(i))))
	}
	failed := Learning{Topic: "math", Pages: 1300, Note: "nothing to learn from"}
	learns(&failed, true)
	require.NoError(t, q.EndLearning(ctx, q.ID, failed, nil))
	verse := Learning{Topic: "verse", Pages: 100}
	learns(&verse, true)
	require.NoError(t, q.LeaveLearning(ctx, q.ID, verse))
	learns(&verse, true)
	require.NoError(t, q.EndLearning(ctx, q.ID, verse, json.RawMessage("7")))
	verse.Pages = 200
	learns(&verse, true)
	storetest.Exec(t, q.db.Pool,
		`UPDATE collection_learnings SET at=now() - interval '1 hour' WHERE topic='verse' AND pages=200`)
	late := verse
	learns(&verse, true)
	learns(new(verse), false)
	require.NoError(t, q.EndLearning(ctx, q.ID, late, json.RawMessage("8")))
	require.NoError(t, q.LeaveLearning(ctx, q.ID, late))
	require.NoError(t, q.EndLearning(ctx, q.ID, verse, json.RawMessage("9")))

	models := devtest.Must(q.Models(ctx, q.ID))(t)
	require.Equal(t, map[string]json.RawMessage{"math": json.RawMessage("11"), "verse": json.RawMessage("8")}, models)
	all := devtest.Must(q.Learnings(ctx, q.ID))(t)
	require.Len(t, all, 15)
	last := all[12]
	require.Equal(t, "nothing to learn from", last.Note)
	require.Equal(t, 12, last.Version, "that of before")
	require.Nil(t, last.Accuracy)
	require.Equal(t, 12, all[11].Version)
	require.Equal(t, 61, all[11].Labelled)
	require.InDelta(t, right, *all[11].Accuracy, 1e-9)
	require.Empty(t, all[14].Note, "who ends it first counts")
	kept := storetest.Get[int](t, q.db.Pool, `SELECT count(*) FROM collection_learnings WHERE model IS NOT NULL AND topic='math'`)
	require.Equal(t, 10, kept)
}
