package synthesis_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl"
	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/topic"
	"gleaner/internal/web/weburl"
)

// TestDepartments: what a page off topic links to is asked for after all that pages on
// topic link to, unless its address is one of a topic's departments; by words such links
// are always followed.
func TestDepartments(t *testing.T) {
	t.Parallel()
	for _, inspect := range []bool{false, true} {
		for _, heeded := range []bool{true, false} {
			departments(t, inspect, heeded)
		}
	}
}

func departments(t *testing.T, inspect, heeded bool) {
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/":            primes + " oven>a.example/off kitchen>a.example/late",
		"a.example/off":         others + " table>a.example/low chair>a.example/dept/high",
		"a.example/late":        others,
		"a.example/low":         others,
		"a.example/dept/high":   primes + " ideal ring>a.example/dept/higher",
		"a.example/dept/higher": primes,
		"b.example/":            verses,
	}})
	ask := defaultAsk(t)
	ask.LeastResults, ask.Policy, ask.Inspect, ask.NoDepartments = 1, ContextGraph, inspect, !heeded
	_, _, err := s.record.Submit(t.Context(), "some", ask, []topic.Topic{{ID: "primes", Pages: []string{"http://a.example/"}, Departments: []string{"dept"}}, {ID: "verses", Pages: []string{"http://b.example/"}}})
	require.NoError(t, err)
	_, err = New(s.tools).Prepare(t.Context(), "some", func(int) {})
	require.NoError(t, err)
	before := len(s.web.asked())
	s.ends(t, "some")
	want := []string{"a.example/", "b.example/", "a.example/off", "a.example/late", "a.example/dept/high", "a.example/dept/higher", "a.example/low"}
	switch {
	case inspect && heeded:
		want = want[:6]
	case inspect:
		want = want[:4]
	case !heeded: // as any other
		want = append(want[:4:4], "a.example/low", "a.example/dept/high", "a.example/dept/higher")
	}
	require.Equal(t, want, s.web.asked()[before:])
}

// TestTunnellingIsOnRecord: a crawl tunnels from when nothing of high priority is left of
// it, whichever slice it is in, until its worker died over that and another went on.
func TestTunnellingIsOnRecord(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/": primes + " oven>o.example/", "o.example/": others + " kettle>p.example/ stove>q.example/", "b.example/": verses,
		"p.example/": primes, "q.example/": others,
	}})
	s.tools.Config.SlicePages = 2
	s.opens(t, "some", twoTopics, func(a *Request) { a.Policy = ContextGraph })
	at := func() *int {
		return devtest.Must(s.record.Get(t.Context(), "some"))(t).Tunnel
	}
	slice := func(ctx context.Context, m *Maker) error {
		_, err := m.Slice(ctx, "some", func(crawl.Progress) {})
		return err
	}
	require.NoError(t, slice(t.Context(), New(s.tools))) // the seeds
	require.Nil(t, at())
	require.NoError(t, slice(t.Context(), New(s.tools))) // what a.example leads to is still high, p.example is low
	require.NotNil(t, at())
	require.Equal(t, 1, *at())
	require.True(t, s.dies(t, "q.example/", slice))
	require.Equal(t, 1, *at())
	require.Equal(t, Exhausted, s.ends(t, "some").Ending)
	require.Equal(t, 1, *at())
}

// TestTheSecondLayersExamples are, by back links and up the path, the pages off topic that
// lead to such on topic, and those of which it is known that they lead elsewhere.
func TestTheSecondLayersExamples(t *testing.T) {
	t.Parallel()
	of := func(address string, about float64, links ...string) collections.Linked {
		p := collections.Linked{URL: "http://" + address, Host: weburl.Host("http://" + address), Hash: frontier.HashOf("http://" + address), Words: address, Anchor: "seen", Correlation: about}
		for _, l := range links {
			p.Links = append(p.Links, collections.Lead{To: frontier.HashOf("http://" + l), Anchor: "lookout"})
		}
		return p
	}
	alias := of("short.example/", 0, "a.example/x")
	alias.Alias = frontier.HashOf("http://long.example/")
	pages := []collections.Linked{
		of("on.example/deep/down/page.html", 0.9, "a.example/"),
		of("on.example/deep/", 0, "a.example/x"), // above it: nothing there leads to it
		of("far.example/", 0, "long.example/"),   // by where a link redirects to
		alias,
		of("a.example/", 0, "a.example/x", "on.example/deep/down/page.html"),
		of("a.example/x", 0, "a.example/y"),
		of("a.example/y", 0, "a.example/x"),
		of("a.example/z", 0, "a.example/unread"),
		of("b.example/1", 0, "a.example/y"), of("b.example/2", 0, "a.example/y"), of("b.example/3", 0, "a.example/y"), of("b.example/4", 0, "a.example/y"),
	}
	examples := func() map[string]bool {
		out := map[string]bool{}
		for _, e := range LayerExamples(topic.NewFilter(topic.Stops{}), pages, 0.5) {
			require.Equal(t, []string{"to:seen", "on:lookout"}, e.Words[1:3])
			out[e.Words[0]] = e.Topic
		}
		return out
	}
	require.Equal(t, map[string]bool{"a.example/": true, "on.example/deep/": true, "far.example/": false, "short.example/": false, "a.example/x": false, "a.example/y": false,
		"b.example/1": false, "b.example/2": false, "b.example/3": false, "b.example/4": false}, examples())
	pages[5] = of("a.example/x", 0, "a.example/y", "a.example/") // now it leads there in two links, those before it in three
	pages[6], pages = of("a.example/y", 0, "b.example/1"), append(pages, of("b.example/5", 0, "a.example/y"))
	got := examples()
	require.True(t, got["a.example/x"])
	require.True(t, got["short.example/"])
	require.False(t, got["far.example/"], "four links lead from there; but there are more such pages than others now")
	require.False(t, got["b.example/1"])
}

// TestTheSecondLayerIsLearntFromLinks: of pages off topic the crawl soon follows those alone
// that are like pages which led to such on topic, slice after slice, and says what it learnt.
func TestTheSecondLayerIsLearntFromLinks(t *testing.T) {
	t.Parallel()
	web := &smallWeb{pages: map[string]string{"b.example/": verses}}
	links := ""
	ways := func(i int, on string) string {
		gate, wall, off := fmt.Sprintf("gate%d.example/", i), fmt.Sprintf("wall%d.example/", i), fmt.Sprintf("off%d.example/", i)
		web.pages[gate], web.pages[wall] = "kettle saucepan harbour lantern pier x>"+on, "kettle saucepan concrete mortar brick x>"+off
		web.pages[off] = others
		return " see>" + gate + " see>" + wall
	}
	for i := range 120 {
		first, second := fmt.Sprintf("on%d.example/", i), fmt.Sprintf("on%d.example/", 120+i)
		links += ways(i, first)
		web.pages[first], web.pages[second] = primes+ways(120+i, second), primes
	}
	web.pages["a.example/"] = primes + links
	s := newShop(t, web)
	s.tools.Config.SlicePages = 40
	id := s.opens(t, "some", twoTopics, func(a *Request) { a.Policy, a.Size = ContextGraph, 1000 })
	s.ends(t, "some")
	raw, at, err := collections.Crawl{Record: s.record, ID: id}.LastTraining(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, at, 200)
	var got LinkTraining
	require.NoError(t, json.Unmarshal(raw, &got))
	require.NotNil(t, got.Second)
	require.Positive(t, got.Leads)
	require.Positive(t, got.Others)
	walls, gates := 0, 0
	for address := range s.outcomes(t, id) {
		switch {
		case strings.HasPrefix(address, "off"):
			walls++
		case strings.HasPrefix(address, "on"):
			gates++
		}
	}
	t.Logf("at %d requests of %d pages that lead on and %d others: %d gates and %d walls were passed", at, got.Leads, got.Others, gates, walls)
	require.Equal(t, 240, gates)
	require.Less(t, walls, 200, "of 240: those to which links were followed before it learnt")
}
