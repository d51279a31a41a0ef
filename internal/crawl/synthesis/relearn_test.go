package synthesis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/classify"
	"gleaner/internal/crawl"
	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/topic"
)

const sheaves = "sheaf functor topos kettle oven flour butter" // of which a person says that they are about primes

// taught is a classifier of pages with the words of one kind and pages with others, of ten
// sites, and those pages.
func taught(t *testing.T, about, other string) (*classify.Classifier, []collections.Example) {
	stops := devtest.Must(topic.DefaultStops())(t)
	var pages []collections.Example
	var examples []classify.Example
	for i := range 20 {
		text := []string{other, about}[i%2]
		l := classify.Labelled{URL: fmt.Sprintf("http://told%d.example/%d", i/2, i), Topic: i%2 == 1, Words: strings.Join(classify.Words(topic.NewFilter(stops), topic.Page{Text: text}), " ")}
		pages = append(pages, collections.Example{URL: l.URL, About: l.Topic, Words: l.Words})
		examples = append(examples, l.Example())
	}
	return devtest.Must(classify.Train(examples, classify.Options{}))(t), pages
}

// TestRelearn: a page that is like those which a person judged to be about a topic is an
// entry of it once its classifier learnt anew, and not before. That is due after so many
// pages; a topic that cannot be learnt keeps its classifier, and says so.
func TestRelearn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/":  primes + " x>c.example/1 x>c.example/2 x>c.example/3 x>c.example/4",
		"b.example/":  verses,
		"c.example/1": sheaves, "c.example/2": sheaves, "c.example/3": sheaves, "c.example/4": sheaves,
	}})
	k, pages := taught(t, primes, others)
	untold, _ := taught(t, verses, others)
	ask := func(most, every int) func(*Request) {
		return func(a *Request) {
			a.Threshold, a.MaxPages, a.Retrain = classify.Sure, most, every
			a.Classifiers = map[string]*classify.Classifier{"primes": k, "verses": untold}
		}
	}
	id := s.opens(t, "some", twoTopics, ask(5, 3))
	require.NoError(t, s.record.SetExamples(ctx, id, "primes", pages))
	require.Equal(t, crawl.PageLimit, s.ends(t, "some").Ending)
	require.Equal(t, string(OffTopic), s.outcomes(t, id)["c.example/1"])

	var judged []collections.Judged
	for i := range 3 {
		judged = append(judged, collections.Judged{Topic: "primes", Hash: frontier.HashOf(fmt.Sprint("http://c.example/", i+1)), About: true})
	}
	require.Equal(t, 3, devtest.Must(s.record.Judge(ctx, id, judged))(t))
	require.Equal(t, id, s.opens(t, "some", twoTopics, ask(0, 5)))
	s.ends(t, "some")
	require.Equal(t, string(gleaner.OK), s.outcomes(t, id)["c.example/4"])
	all := devtest.Must(s.record.Learnings(ctx, id))(t)
	require.Len(t, all, 4)
	require.Equal(t, []any{"primes", 2, 5, 23, ""}, []any{all[1].Topic, all[1].Version, all[1].Pages, all[1].Labelled, all[1].Note})
	require.NotNil(t, all[1].Accuracy)
	require.Equal(t, []any{"verses", 0, 5}, []any{all[3].Topic, all[3].Version, all[3].Pages})
	require.Contains(t, all[3].Note, "of 0 labelled pages")
	require.Len(t, devtest.Must(s.record.Entries(ctx, id, "verses"))(t), 1, "by the classifier that was given")
}

// TestLearningIsLeft to others where the record is away for a while.
func TestLearningIsLeft(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{"a.example/": primes, "b.example/": verses}})
	k, _ := taught(t, primes, others)
	id := s.opens(t, "some", twoTopics, func(a *Request) { a.Retrain, a.Classifiers = 2, map[string]*classify.Classifier{"primes": k} })
	s.ends(t, "some")
	storetest.Exec(t, s.db.Pool, `DELETE FROM collection_learnings`)
	require.True(t, store.Passes(s.cut(t, "collection_examples", time.Second)))
	require.Empty(t, devtest.Must(s.record.Learnings(t.Context(), id))(t))
}

// TestNothingIsKeptToLearnFrom where no classifier is to.
func TestNothingIsKeptToLearnFrom(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{"a.example/": primes, "b.example/": verses}})
	id := s.opens(t, "some", twoTopics, func(*Request) {})
	s.ends(t, "some")
	require.Empty(t, devtest.Must(s.record.Read(t.Context(), id, "primes", 10))(t))
	a := defaultAsk(t)
	a.Retrain = 10
	require.ErrorContains(t, a.Check(), "classifier")
}

// TestWordsAreForgottenMeanwhile: the words of earlier pages are not kept until the next
// learning, which may never be due.
func TestWordsAreForgottenMeanwhile(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{"a.example/": primes, "b.example/": verses}})
	k, _ := taught(t, primes, others)
	id := s.opens(t, "some", twoTopics, func(a *Request) {
		a.Retrain, a.Classifiers = 1_000_000, map[string]*classify.Classifier{"primes": k}
	})
	storetest.Exec(t, s.db.Pool, `INSERT INTO collection_urls (collection, hash, host, url, waiting, n)
		SELECT $1, decode(md5(i::text), 'hex'), 'old.example', 'http://old.example/' || i, false, i FROM generate_series(1, 3100) AS i`, id)
	storetest.Exec(t, s.db.Pool, `INSERT INTO collection_words SELECT collection, hash, 'word' FROM collection_urls WHERE collection=$1 AND n IS NOT NULL`, id)
	_, err := New(s.tools).Slice(t.Context(), "some", func(crawl.Progress) {})
	require.NoError(t, err)
	kept := storetest.Get[int](t, s.db.Pool, `SELECT count(*) FROM collection_words WHERE collection=$1 AND words='word'`, id)
	require.LessOrEqual(t, kept, 3000)
}
