package homepage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"
	"gleaner/internal/lab/homepages"
	"gleaner/internal/lab/realdata"
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

func (g getter) body(t testing.TB, u string) []byte {
	resp, err := g.client.Get(u)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNotFound {
		return nil
	}
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return body
}

// subjects are the authors of a venue's volumes as DBLP on the farm has them.
func (g getter) subjects(t testing.TB, conf, name string, from, to int) []homepage.Subject {
	t.Helper()
	byID := map[string]int{}
	var out []homepage.Subject
	for y := from; y <= to; y++ {
		raw := g.body(t, fmt.Sprintf("http://dblp.org/search/publ/api?q=%s&format=json&h=1000&f=0", url.QueryEscape(fmt.Sprintf("toc:db/conf/%s/%s%d.bht:", conf, conf, y))))
		for _, p := range decodeHits(t, raw) {
			for _, a := range p.Authors {
				i, ok := byID[a.ID()]
				if !ok {
					i = len(out)
					byID[a.ID()] = i
					out = append(out, homepage.Subject{Author: a, Venue: []string{strings.ToUpper(conf), name}, Listed: g.listed(t, a)})
				}
				out[i].Papers = append(out[i].Papers, p)
			}
		}
	}
	return out
}

func (g getter) listed(t testing.TB, a gleaner.Author) []homepage.Listed {
	var person struct {
		Person struct {
			URL []string `xml:"url"`
		} `xml:"person"`
	}
	raw := g.body(t, "http://dblp.org/pid/"+a.PID+".xml")
	if raw == nil {
		return nil
	}
	require.NoError(t, xml.Unmarshal(raw, &person))
	return each.Of(person.Person.URL, func(u string) homepage.Listed { return homepage.Listed{URL: u, Source: "dblp"} })
}

type dblpAuthor struct {
	PID  string `json:"@pid"`
	Text string `json:"text"`
}

func decodeHits(t testing.TB, raw []byte) []gleaner.Paper {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	var answer struct {
		Result struct {
			Hits struct {
				Hit []struct {
					Info struct {
						Authors struct {
							Author json.RawMessage `json:"author"`
						} `json:"authors"`
						Title, Key, Type string
					} `json:"info"`
				} `json:"hit"`
			} `json:"hits"`
		} `json:"result"`
	}
	require.NoError(t, json.Unmarshal(raw, &answer))
	var out []gleaner.Paper
	for _, h := range answer.Result.Hits.Hit {
		p := gleaner.Paper{Key: h.Info.Key, Title: strings.TrimSuffix(html.UnescapeString(h.Info.Title), ".")}
		var many []dblpAuthor
		if err := json.Unmarshal(h.Info.Authors.Author, &many); err != nil {
			many = make([]dblpAuthor, 1)
			if err := json.Unmarshal(h.Info.Authors.Author, &many[0]); err != nil {
				continue
			}
		}
		for _, a := range many {
			name := strings.TrimRight(html.UnescapeString(a.Text), " 0123456789")
			p.Authors = append(p.Authors, gleaner.Author{PID: a.PID, Name: name})
		}
		out = append(out, p)
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
