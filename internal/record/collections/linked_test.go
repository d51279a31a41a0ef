package collections_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	. "gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
)

// TestLinks: of the pages read last is told where they lead and by which words, by both
// records alike; a page that redirected goes by both its names. Those of the latest are kept.
func TestLinks(t *testing.T) {
	t.Parallel()
	seeds := []URL{{URL: "http://a.example/", Host: "a.example", Priority: 1}, {URL: "http://b.example/x", Host: "b.example", Priority: 0.5, Anchor: "see"}, url("c.example", "", 0.1), url("d.example", "", 0.05)}
	inBoth(t, Rules{Size: 10}, seeds, func(t *testing.T, q queue) {
		ctx := t.Context()
		to := func(u, said string) Lead { return Lead{frontier.HashOf(u), said} }
		for _, v := range []Visit{
			{Words: "prime ring", Leads: []Lead{to("http://b.example/x", "one\nline"), to("http://c.example/", "")}, Best: Member{"math", 0.5}},
			{Alias: "http://b.example/y", Leads: []Lead{to("http://a.example/", "back")}},
			{Words: "of which no links are recorded"},
			{Leads: []Lead{}},
		} {
			u := take(t, q)
			v.URL, v.At = u, time.Now()
			require.NoError(t, q.Write(ctx, &v))
		}
		got := devtest.Must(q.Linked(ctx, 10))(t)
		second := Linked{URL: "http://b.example/x", Host: "b.example", Hash: frontier.HashOf("http://b.example/x"), Alias: frontier.HashOf("http://b.example/y"), Anchor: "see",
			Links: []Lead{to("http://a.example/", "back")}}
		last := Linked{URL: "http://d.example/", Host: "d.example", Hash: frontier.HashOf("http://d.example/"), Links: []Lead{}} // it is known that it leads nowhere
		require.Equal(t, []Linked{{URL: "http://a.example/", Host: "a.example", Hash: frontier.HashOf("http://a.example/"), Words: "prime ring", Correlation: 0.5,
			Links: []Lead{to("http://b.example/x", "one\nline"), to("http://c.example/", "")}}, second, last}, got)
		got = devtest.Must(q.Linked(ctx, 1))(t)
		require.Equal(t, []Linked{last}, got)
		if p, is := q.(inPostgres); is {
			require.NoError(t, p.ForgetLinks(ctx, p.ID, 2))
			got = devtest.Must(q.Linked(ctx, 10))(t)
			require.Equal(t, []Linked{second, last}, got)
		}
	})
}

// TestTrainings: of those who would learn since the last training one does, though another has
// counted a request more by then; and what it learnt is there for all.
func TestTrainings(t *testing.T) {
	t.Parallel()
	inBoth(t, Rules{}, nil, func(t *testing.T, q queue) {
		ctx := t.Context()
		for at, want := range []bool{true, false, false} {
			require.Equal(t, want, devtest.Must(q.BeginTraining(ctx, 0, 200+at))(t))
		}
		s := devtest.Must(q.State(ctx))(t)
		require.Equal(t, []int{200, 0}, []int{s.TrainingBegun, s.TrainingDone})
		require.NoError(t, q.SaveTraining(ctx, 200, json.RawMessage(`{"a": 1}`)))
		s = devtest.Must(q.State(ctx))(t)
		require.Equal(t, []int{200, 200}, []int{s.TrainingBegun, s.TrainingDone})
		what, at, err := q.LastTraining(ctx)
		require.NoError(t, err)
		require.Equal(t, 200, at)
		require.JSONEq(t, `{"a": 1}`, string(what))
	})
}
