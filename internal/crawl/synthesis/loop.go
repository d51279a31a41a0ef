package synthesis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gleaner/internal/classify"
	"gleaner/internal/crawl"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/rank"
	"gleaner/internal/record/collections"
	"gleaner/internal/topic"
	"gleaner/internal/web/rules"
	"gleaner/internal/web/weburl"
)

// Queue holds waiting URLs and records results.
type Queue interface {
	// Next takes the next URL. It returns nil if none is available before wait, or with a wait of
	// 0 if none waits.
	Next(ctx context.Context) (u *collections.URL, wait time.Duration, err error)
	// Write records the result of a taken URL.
	Write(ctx context.Context, v *collections.Visit) error
	State(ctx context.Context) (collections.CrawlState, error)
	// IsDuplicate reports whether a text with nearly the same print was read.
	IsDuplicate(ctx context.Context, print int64) (bool, error)
	// Tunnel starts tunnelling if no URL of high priority waits, and reports whether the crawl
	// tunnels.
	Tunnel(ctx context.Context) (bool, error)
	// Linked returns at most most of the latest pages with recorded links.
	Linked(ctx context.Context, most int) ([]collections.Linked, error)
	// BeginTraining reports whether the caller must learn from them now, at this number of requests.
	BeginTraining(ctx context.Context, last, requests int) (mine bool, err error)
	// SaveTraining stores the result.
	SaveTraining(ctx context.Context, requests int, what json.RawMessage) error
	// LastTraining returns the last result and its number of requests.
	LastTraining(ctx context.Context) (what json.RawMessage, requests int, err error)
}

// Source requests URLs.
type Source interface {
	// Ask requests a URL. A *fetch.Error is the result of the URL; after errLeft it waits
	// unchanged. Any other error ends the slice.
	Ask(ctx context.Context, u *collections.URL) (*crawl.Answer, error)
}

// errLeft is returned if the host was paused before the request, so that nothing is recorded.
var errLeft = errors.New("left as it was")

// Documents reads and stores files.
type Documents interface {
	// Read returns the title and the text of a file, or why it has no readable text.
	Read(ctx context.Context, u *collections.URL, a *crawl.Answer) (title, text, why string, err error)
	// Keep stores the file, and returns its SHA-256 and the library's verdict.
	Keep(ctx context.Context, u *collections.URL, a *crawl.Answer) (sha string, v crawl.Verdict, err error)
}

// Parts are the dependencies of a crawl.
type Parts struct {
	Queue      Queue
	Source     Source
	Documents  Documents // nil skips files
	Classifier topic.Classifier
	Filter     *topic.Filter
	Log        *slog.Logger
}

// Bounds are a person's numeric and boolean settings of a crawl.
type Bounds struct {
	topic.Options
	Policy      Policy        `json:"policy,omitempty"`
	MaxPages    int           `json:"max_pages"`             // requests of all runs; 0 is no limit
	MaxTime     time.Duration `json:"max_time"`              // time of all runs; 0 is no limit
	HostPages   int           `json:"host_pages"`            // requests to one host; 0 is no limit
	Retrain     int           `json:"retrain,omitempty"`     // pages between trainings of classifiers; 0 is never
	LearnLinks  bool          `json:"learn_links,omitempty"` // learn words of links from their targets on several sites
	WARC        bool          `json:"warc,omitempty"`        // store exchanges with hosts in WARC files
	DomainPages int           `json:"domain_pages"`          // requests to all hosts of one registrable domain; 0 is no limit
	DomainShare float64       `json:"domain_share"`          // its greatest share of a collection's entries; 0 is no limit
	// Inspect follows links by their words, as CINDI's anchor text inspection does: from pages about
	// a topic all without a pruning word, from others those with an extracting one or to departments.
	Inspect bool `json:"inspect,omitempty"`
}

// Config configures a crawl.
type Config struct {
	Bounds
	MaxDepth   int           // links from a result of the search
	MaxLinks   int           // links taken per page
	MaxTries   int           // attempts at a URL with temporary failures
	RetryBase  time.Duration // wait before the second attempt; grows fourfold
	SlicePages int           // requests of a slice
	SliceTime  time.Duration // of a slice
	Limits     weburl.Limits // on the shape of URLs
	Links      rules.Lists   // what is left out
	Rules      *rules.Set    // compiled Links; nil: compiled at the start
	StopSites  int           // learnt stop directories are barren on more sites than this,
	StopShare  float64       // unless a greater share of the sites had documents
	Trap       gleaner.Trap
	Words      rank.Lists // words of links to follow, and directories of departments
}

// Request is a person's request for collections.
type Request struct {
	Bounds
	Stops         topic.Stops                     `json:"stops"`
	Seeds         map[string][]string             `json:"seeds,omitempty"`          // further start pages by topic, from a web directory
	SearchSeeds   int                             `json:"search_seeds,omitempty"`   // further start pages per search for a topic
	Classifiers   map[string]*classify.Classifier `json:"learnt,omitempty"`         // classifiers by topic, instead of centroids
	Pruning       []string                        `json:"pruning,omitempty"`        // words for Inspect,
	Extracting    []string                        `json:"extracting,omitempty"`     // likewise
	NoDepartments bool                            `json:"no_departments,omitempty"` // no priority for links to the topics' departments
	Patterns      []string                        `json:"url_patterns,omitempty"`   // enabled parts of CINDI's URL pattern inspection
	Parallel      int                             `json:"parallel,omitempty"`       // hosts crawled concurrently; 0 is 4
	Links         *rules.Lists                    `json:"links,omitempty"`          // excluded links, instead of the worker's lists
}

// DefaultRequest returns the default request.
func DefaultRequest() (Request, error) {
	stops, err := topic.DefaultStops()
	if err != nil {
		return Request{}, err
	}
	words, err := rank.DefaultLists()
	bounds := Bounds{Options: topic.Defaults(), Policy: BestFirst, MaxPages: 5000, MaxTime: 24 * time.Hour,
		HostPages: 200, DomainPages: 1000, DomainShare: 0.5}
	bounds.Adapt = true // the best of all pages, as in the paper, not the first ones
	return Request{Bounds: bounds, Stops: stops, Pruning: words.PruningAnchors, Extracting: words.ExtractingAnchors}, err
}

// Check returns an error with the name of the first invalid setting.
func (a Request) Check() error {
	if err := a.Options.Check(); err != nil {
		return err
	}
	if err := a.Policy.Check(); err != nil {
		return err
	}
	if err := checkPatterns(a.Patterns); err != nil {
		return err
	}
	switch {
	case a.MaxPages < 0:
		return fmt.Errorf("pages: %d is negative", a.MaxPages)
	case a.SearchSeeds < 0 || a.SearchSeeds > mostResults:
		return fmt.Errorf("search-seeds: %d is not between 0 and %d", a.SearchSeeds, mostResults)
	case a.HostPages < 0:
		return fmt.Errorf("host-pages: %d is negative", a.HostPages)
	case a.DomainPages < 0:
		return fmt.Errorf("domain-pages: %d is negative", a.DomainPages)
	case !(a.DomainShare > 0 && a.DomainShare <= 1):
		return fmt.Errorf("domain-share: %v is not above 0 and at most 1", a.DomainShare)
	case a.MaxTime < 0:
		return fmt.Errorf("time: %s is negative", a.MaxTime)
	case a.Retrain < 0:
		return fmt.Errorf("retrain: %d is negative", a.Retrain)
	case a.LearnLinks && !a.Inspect:
		return errors.New("learn-links: links are followed by their words with inspect alone")
	case a.Retrain > 0 && len(a.Classifiers) == 0:
		return errors.New("retrain: no topic has a classifier that could learn anew")
	}
	return nil
}

// QueueRules returns the rules of the queue.
func (c Config) QueueRules() collections.Rules {
	r := collections.Rules{Size: c.Size, Replace: c.Adapt, OnePerSite: c.OnePerSite, Distinct: c.Distinct,
		HostPages: c.HostPages, MaxPages: c.MaxPages, Trap: c.Trap}
	r.Domain = collections.DomainLimits{Pages: c.DomainPages, URLs: urlsAPage * c.DomainPages}
	if c.DomainShare > 0 && c.DomainShare < 1 {
		r.Domain.Entries = max(1, int(c.DomainShare*float64(c.Size)))
	}
	switch {
	case c.Policy == Gleaner:
		r.Worth = collections.Worth{Most: 1, Usual: 0.3, Slow: 40, New: 0.5}
	case c.Policy == ContextGraph:
		r.Tunnel = collections.Tunnel{High: high, Sites: classify.TunnelSites}
	}
	return r
}

// urlsAPage is the number of queued URLs of a registrable domain per allowed request.
const urlsAPage = 10

// over returns a worker's configuration with the requested settings.
func (a Request) over(c Config, topics []topic.Topic) Config {
	a.WARC = a.WARC || c.WARC
	c.Bounds, c.Words = a.Bounds, rank.Lists{PruningAnchors: a.Pruning, ExtractingAnchors: a.Extracting}
	if a.Links != nil {
		c.Links = a.Links.Over(c.Links)
	}
	for _, t := range topics {
		if a.NoDepartments {
			break
		}
		c.Words.DepartmentWords = append(c.Words.DepartmentWords, t.Departments...)
	}
	return c
}

// Defaults returns the configuration of a careful crawl.
func Defaults() Config {
	return Config{Bounds: Bounds{Options: topic.Defaults()}, MaxDepth: 30, MaxLinks: 500, MaxTries: 3, RetryBase: 30 * time.Second, SlicePages: 200, SliceTime: 2 * time.Minute, Limits: weburl.DefaultLimits(time.Now())}
}

// Further endings of a slice of a collection.
const (
	Exhausted crawl.Ending = "exhausted" // the queue is empty
	Stopped   crawl.Ending = "stopped"   // the collection was ended meanwhile
	Full      crawl.Ending = "full"      // every collection is
)

// idle is the time after which a slice that waits for a host checks for its end and for another
// free host. It holds no lease meanwhile. A check reads all waiting hosts, so the time doubles up
// to mostIdle.
const (
	idle     = 2 * time.Second
	mostIdle = 15 * time.Second
)

// Run crawls for one slice.
func Run(ctx context.Context, cfg Config, p Parts, report func(crawl.Progress)) (crawl.Result, error) {
	if cfg.Rules == nil {
		cfg.Rules = rules.New(cfg.Links, nil)
	}
	l := &loop{cfg: cfg, Parts: p, report: report, started: time.Now()}
	e, wait, err := l.run(ctx)
	reason := map[crawl.Ending]string{
		crawl.PageLimit: fmt.Sprintf("its runs made the %d requests of its option pages; more continue it", cfg.MaxPages),
		crawl.TimeLimit: fmt.Sprintf("its runs took the %s of its option time; more continues it", cfg.MaxTime),
	}[e]
	return crawl.Result{Progress: l.progress, Ending: e, Reason: reason, Wait: wait}, err
}

type loop struct {
	Parts
	cfg      Config
	report   func(crawl.Progress)
	started  time.Time
	progress crawl.Progress
	at       collections.CrawlState
	graph    *contextGraph // of that policy, and of who learns of links
	learnt   int           // requests at which it was learnt
}

func (l *loop) run(ctx context.Context) (e crawl.Ending, wait time.Duration, err error) {
	for idles := idle; ; {
		if ctx.Err() != nil {
			return "", 0, context.Cause(ctx)
		}
		if l.at, err = l.Queue.State(ctx); err != nil {
			return "", 0, err
		}
		if e = l.over(); e != "" {
			return e, 0, nil
		}
		if err := l.learn(ctx); err != nil {
			return "", 0, err
		}
		u, wait, err := l.Queue.Next(ctx)
		switch {
		case err != nil:
			return "", 0, err
		case u == nil && wait == 0:
			return Exhausted, 0, nil
		case u == nil && wait > l.cfg.SliceTime-time.Since(l.started):
			return crawl.Waiting, wait, nil
		case u == nil:
			if err := fetch.Wait(ctx, min(wait, idles)); err != nil {
				return "", 0, err
			}
			idles = min(2*idles, mostIdle)
			continue
		}
		idles = idle
		if err := l.tunnel(ctx, u); err != nil {
			return "", 0, err
		}
		if err := l.visit(ctx, u); err != nil {
			return "", 0, fmt.Errorf("collect %s: %w", u.URL, err)
		}
		l.report(l.progress)
	}
}

// over returns why the slice must end, "" to continue.
func (l *loop) over() crawl.Ending {
	full := true
	for _, t := range l.Classifier.Topics() {
		full = full && l.at.Topics[t].Entries >= l.cfg.Size
	}
	switch {
	case l.at.Ended:
		return Stopped
	case l.at.Paused:
		return crawl.Paused
	case full && !l.cfg.Adapt:
		return Full
	case l.cfg.MaxPages > 0 && l.at.Requests >= l.cfg.MaxPages:
		return crawl.PageLimit
	case l.cfg.MaxTime > 0 && l.at.Took >= l.cfg.MaxTime:
		return crawl.TimeLimit
	case l.progress.Requests >= l.cfg.SlicePages || time.Since(l.started) >= l.cfg.SliceTime:
		return crawl.SliceFull
	}
	return ""
}

func (l *loop) standing(t string) topic.Progress {
	return topic.Progress(l.at.Topics[t])
}
