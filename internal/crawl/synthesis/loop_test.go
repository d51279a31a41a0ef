package synthesis_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl"
	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/fetch"
	"gleaner/internal/lab/memory"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/collections"
	"gleaner/internal/topic"
	"gleaner/internal/web/page"
)

// answers is a web in a function.
type answers func(url string) (*crawl.Answer, error)

func (w answers) Ask(_ context.Context, u *collections.URL) (*crawl.Answer, error) { return w(u.URL) }

// entering is what is about the only topic, and all that it links to.
func entering(url string, links ...string) *crawl.Answer {
	p := &page.Page{URL: url, Title: "page", Text: "all is on topic"}
	for _, l := range links {
		p.Links = append(p.Links, page.Link{URL: l, Anchor: "more", Source: page.SourceAnchor})
	}
	return &crawl.Answer{Response: &fetch.Response{URL: url, Status: 200, Header: http.Header{}}, Page: p}
}

func file(url string) *crawl.Answer {
	return &crawl.Answer{Response: &fetch.Response{URL: url, Status: 200, Header: http.Header{"Content-Type": {"application/pdf"}}, Body: []byte("%PDF-1.4")}}
}

// everything is a classifier to whom all is on topic.
type everything struct{}

func (everything) Classify(topic.Page) []topic.Score {
	return []topic.Score{{Topic: "all", Correlation: 0.9}}
}
func (everything) Topics() []string { return []string{"all"} }

// collects crawls from http://a.example/ in memory, and says what became of each URL.
func collects(t *testing.T, web answers, change func(*Parts)) (crawl.Result, map[string]string) {
	cfg := Defaults()
	cfg.Size, cfg.MaxPages, cfg.SlicePages = 1000, 500, 1000
	queue := memory.NewCollection(collections.Rules{Size: 1000})
	queue.Add([]collections.URL{{URL: "http://a.example/", Host: "a.example", Priority: 1}})
	noted := noting{Collection: queue, outcomes: map[string]string{}}
	p := Parts{Queue: noted, Source: web, Classifier: everything{}, Filter: topic.NewFilter(topic.Stops{}), Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&p)
	}
	return devtest.Must(Run(t.Context(), cfg, p, func(crawl.Progress) {}))(t), noted.outcomes
}

// TestASliceWaitsForItsHosts: a host that rests between two requests does not end a slice,
// and a pause ends it soon. It ends at once where no host is free before its time is over.
func TestASliceWaitsForItsHosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rest, paused time.Duration // between two requests to the host; when a person pauses the collection
		ending       crawl.Ending
		requests     int
		took         time.Duration
		looks        int // for a host
	}{
		"a slow host":    {rest: 4 * time.Second, ending: crawl.SliceFull, requests: 30, took: 2 * time.Minute, looks: 90},
		"a slower one":   {rest: 50 * time.Second, ending: crawl.Waiting, requests: 3, took: 100 * time.Second, looks: 16},
		"a resting host": {rest: time.Hour, ending: crawl.Waiting, requests: 1, looks: 2},
		"a pause":        {rest: time.Minute, paused: 5 * time.Second, ending: crawl.Paused, requests: 1, took: 6 * time.Second, looks: 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, began := 0, time.Now()
				var queue *resting
				r, _ := collects(t, func(url string) (*crawl.Answer, error) {
					n++
					return entering(url, fmt.Sprintf("http://a.example/%d", n)), nil
				}, func(p *Parts) {
					queue = &resting{noting: p.Queue.(noting), rest: c.rest, paused: c.paused, began: began}
					p.Queue = queue
				})
				require.Equal(t, []any{c.ending, c.requests, c.took, c.looks}, []any{r.Ending, r.Requests, time.Since(began), queue.looks})
			})
		})
	}
}

// resting is a queue whose hosts rest after each request, and whose collection is paused
// after a while, unless that is 0.
type resting struct {
	noting
	rest, paused time.Duration
	began, next  time.Time
	looks        int
}

func (r *resting) Next(ctx context.Context) (*collections.URL, time.Duration, error) {
	r.looks++
	if wait := time.Until(r.next); wait > 0 {
		return nil, wait, nil
	}
	r.next = time.Now().Add(r.rest)
	return r.noting.Next(ctx)
}

func (r *resting) State(ctx context.Context) (collections.CrawlState, error) {
	s, err := r.noting.State(ctx)
	s.Paused = r.paused > 0 && time.Since(r.began) >= r.paused
	return s, err
}

// noting remembers outcomes; what "unfit" names is refused as a database does.
type noting struct {
	*memory.Collection
	outcomes map[string]string
}

func (n noting) Write(ctx context.Context, v *collections.Visit) error {
	if v.Title == "unfit" {
		return &pgconn.PgError{Code: "22021"}
	}
	n.outcomes[v.URL.URL] = string(v.Outcome)
	return n.Collection.Write(ctx, v)
}

// TestAFarmOfRedirects from host to host is followed as deep as links are, and no further.
func TestAFarmOfRedirects(t *testing.T) {
	t.Parallel()
	n := 0
	r, _ := collects(t, func(url string) (*crawl.Answer, error) {
		n++
		return nil, &fetch.Error{Outcome: fetch.RedirectOffHost, URL: url, Location: fmt.Sprintf("http://h%d.example/", n)}
	}, nil)
	require.Equal(t, Exhausted, r.Ending)
	require.Equal(t, Defaults().MaxDepth+1, r.Requests)
}

// TestWhatAnAnswerDoesToTheProgram is that URL's failure: a panic, a reader that
// stalls, and what the database will not hold are set aside, and the crawl goes on.
func TestWhatAnAnswerDoesToTheProgram(t *testing.T) {
	t.Parallel()
	web := func(url string) (*crawl.Answer, error) {
		switch url {
		case "http://panic.example/":
			panic("hostile")
		case "http://stall.example/x.pdf":
			return file(url), nil
		case "http://unfit.example/":
			a := entering(url)
			a.Page.Title = "unfit"
			return a, nil
		case "http://a.example/":
			return entering(url, "http://panic.example/", "http://stall.example/x.pdf", "http://unfit.example/", "http://last.example/"), nil
		}
		return entering(url), nil
	}
	_, outcomes := collects(t, web, func(p *Parts) { p.Documents = stalling{} })
	require.Equal(t, map[string]string{"http://a.example/": "success", "http://panic.example/": "set-aside", "http://stall.example/x.pdf": "set-aside",
		"http://unfit.example/": "cannot-be-kept", "http://last.example/": "success"}, outcomes)
}

// stalling cannot read anything.
type stalling struct{}

func (stalling) Read(context.Context, *collections.URL, *crawl.Answer) (title, text, why string, err error) {
	return "", "", "", collection.ErrStalled
}

func (stalling) Keep(context.Context, *collections.URL, *crawl.Answer) (string, crawl.Verdict, error) {
	return "", crawl.Verdict{}, nil
}
