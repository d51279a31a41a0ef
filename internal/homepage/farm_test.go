package homepage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"
	"gleaner/internal/lab/homepages"
	"gleaner/internal/lab/realdata"
	"gleaner/internal/metadata"
	"gleaner/internal/web/page"
)

// getter fetches through a client and parses.
type getter struct{ client *http.Client }

func (g getter) Get(ctx context.Context, u string) (*page.Page, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, u, err
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return nil, u, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, u, fmt.Errorf("status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if err != nil {
		return nil, u, err
	}
	p, err := page.Parse(resp.Request.URL.String(), resp.Header, body)
	return p, resp.Request.URL.String(), err
}

// subjects are the authors of a venue as DBLP on the farm has them.
func (g getter) subjects(t testing.TB, conf, name string, from, to int) (out []homepage.Subject) {
	t.Helper()
	dblp := metadata.NewDBLP(metadata.Config{DBLPURL: "http://dblp.org", HTTPClient: g.client,
		Delays: metadata.Delays{DBLP: time.Millisecond}})
	papers, err := dblp.List(t.Context(), gleaner.Venue{Key: "conf/" + conf}, gleaner.Years{From: from, To: to}, func(int, int) {})
	require.NoError(t, err)
	byID := map[string]int{}
	for _, p := range papers {
		for _, a := range p.Authors {
			i, ok := byID[a.ID()]
			if !ok {
				i = len(out)
				byID[a.ID()] = i
				person, err := dblp.Person(t.Context(), a.PID)
				require.NoError(t, err)
				listed := each.Of(person.URLs, func(u string) homepage.Listed { return homepage.Listed{URL: u, Source: "dblp"} })
				out = append(out, homepage.Subject{Author: a, Venue: []string{strings.ToUpper(conf), name}, Listed: listed})
			}
			out[i].Papers = append(out[i].Papers, p)
		}
	}
	return out
}

// TestFarm measures on real sites: the people whose homepages are there are to be
// found, and none of these sites may be given to anybody else. With poor metadata an
// author has three papers, and no co-author is known.
func TestFarm(t *testing.T) {
	if testing.Short() {
		t.Skip("soak: measures on the web farm")
	}
	for _, from := range []struct {
		sites, truth string
		subjects     func(getter, testing.TB) []homepage.Subject
		most         int // mistakes
	}{
		{"farm", "truth", func(g getter, t testing.TB) []homepage.Subject {
			return append(g.subjects(t, "farm", "Farm Conference", 1994, 2026), g.subjects(t, "colt", "Conference on Learning Theory", 2016, 2018)...)
		}, 0},
		{"atlas", "atlas-truth", func(g getter, t testing.TB) []homepage.Subject {
			return g.subjects(t, "atlas", "Atlas Conference", 1990, 2026)
		}, 1},
	} {
		t.Run(from.sites, func(t *testing.T) {
			g := getter{realdata.StartFarm(t, realdata.Path(t, from.sites)).Client()}
			labels := readLabels(t, realdata.Path(t, from.truth, "homepages.tsv"))
			rich := from.subjects(g, t)
			for _, m := range []struct {
				metadata string
				subjects []homepage.Subject
			}{{"rich", rich}, {"poor", poor(rich)}} {
				measure(t, g, m.metadata, m.subjects, labels, from.most)
			}
		})
	}
}

// poor leaves three papers to each author, and to each paper its author alone.
func poor(rich []homepage.Subject) []homepage.Subject {
	out := slices.Clone(rich)
	for i := range out {
		out[i].Papers = slices.Clone(out[i].Papers[:min(3, len(out[i].Papers))])
		for j := range out[i].Papers {
			out[i].Papers[j].Authors = []gleaner.Author{out[i].Author}
		}
	}
	return out
}

func measure(t *testing.T, g getter, metadata string, subjects []homepage.Subject, labels []homepages.Label, most int) {
	once := &distinct{Searcher: homepage.NewSearXNG("http://search.farm", homepage.Service{Client: g.client}), seen: map[string]bool{}}
	f := homepage.New(homepage.Config{Searcher: once, Getter: g})
	decisions, err := homepages.FindAll(t.Context(), f, subjects, 4)
	require.False(t, err != nil && !errors.Is(err, homepage.ErrSearchUnavailable))
	report := homepages.Evaluate(decisions, labels)
	for _, d := range decisions {
		for _, p := range d.Elsewhere() {
			t.Logf("%s (%s): papers at %s (%s): %s", d.Author.Name, p.Of, p.URL, p.Scope, p.Rule)
		}
	}
	t.Logf("%s metadata, %d authors, %d searches that the record did not answer\n%s", metadata, len(subjects), len(once.seen), report)
	for _, m := range report.Mistakes {
		t.Logf("%s: got %q, want %v: %s", m.Author.Name, m.Got, m.Want, m.Rule)
		explain(t, decisions, m.Author)
	}
	assert.LessOrEqual(t, len(report.Mistakes), most, metadata)
}

// distinct counts the different queries: the same one again is answered from the record.
type distinct struct {
	homepage.Searcher
	mu   sync.Mutex
	seen map[string]bool
}

func (d *distinct) Search(ctx context.Context, query string, n int) ([]evidence.Result, error) {
	d.mu.Lock()
	d.seen[query] = true
	d.mu.Unlock()
	return d.Searcher.Search(ctx, query, n)
}

func explain(t testing.TB, decisions []evidence.Decision, a gleaner.Author) {
	for _, d := range decisions {
		if d.Author.ID() == a.ID() {
			for _, c := range d.Candidates {
				t.Logf("    %s %s (%s, via %s) %.3f: %s %v", map[bool]string{true: "+", false: "-"}[c.Kept], c.URL, c.Source, c.Via, c.Score, c.Rule, c.Features)
			}
		}
	}
}

func readLabels(t testing.TB, file string) []homepages.Label {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	labels, err := homepages.ReadLabels(f)
	require.NoError(t, err)
	return labels
}
