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

// Queue holds what waits, and takes what became of it.
type Queue interface {
	// Next takes the URL to ask next; nil where none can be asked before wait, or none waits (0).
	Next(ctx context.Context) (u *collections.URL, wait time.Duration, err error)
	// Write notes what became of a URL that was taken.
	Write(ctx context.Context, v *collections.Visit) error
	Standing(ctx context.Context) (collections.Standing, error)
	// Like reports whether a text with nearly the same print was read.
	Like(ctx context.Context, print int64) (bool, error)
	// Tunnel begins to tunnel where nothing of high priority waits, and says whether it does.
	Tunnel(ctx context.Context) (bool, error)
	// Linked are the pages read last whose links are recorded, at most so many.
	Linked(ctx context.Context, most int) ([]collections.Linked, error)
	// Lesson reports whether the caller is to learn from them, at so many requests.
	Lesson(ctx context.Context, last, requests int) (mine bool, err error)
	// Learn keeps what that came to.
	Learn(ctx context.Context, requests int, what json.RawMessage) error
	// Learnt is what was learnt last, and at how many requests.
	Learnt(ctx context.Context) (what json.RawMessage, requests int, err error)
}

// Source answers for URLs.
type Source interface {
	// Ask asks for a URL. A *fetch.Error says what became of it; with errLeft it waits
	// as it did. Any other error ends the slice.
	Ask(ctx context.Context, u *collections.URL) (*crawl.Answer, error)
}

// errLeft is why nothing is written of a URL: its host was paused before it was asked for.
var errLeft = errors.New("left as it was")

// Documents reads and keeps files.
type Documents interface {
	// Read is the title and the text of a file; "" where it has none that can be read,
	// and why.
	Read(ctx context.Context, u *collections.URL, a *crawl.Answer) (title, text, why string, err error)
	// Keep stores it, and says under which SHA-256, and what the library makes of it.
	Keep(ctx context.Context, u *collections.URL, a *crawl.Answer) (sha string, v crawl.Verdict, err error)
}

// Parts are what a crawl is made of.
type Parts struct {
	Queue      Queue
	Source     Source
	Documents  Documents // nil passes files over
	Classifier topic.Classifier
	Filter     *topic.Filter
	Log        *slog.Logger
}

// Bounds are what of a crawl a person sets by number and by switch.
type Bounds struct {
	topic.Options
	Policy      Policy        `json:"policy,omitempty"`
	MaxPages    int           `json:"max_pages"`             // requests of all runs; 0 is no limit
	MaxTime     time.Duration `json:"max_time"`              // that these take; 0 is no limit
	HostPages   int           `json:"host_pages"`            // requests to one host; 0 is no limit
	Retrain     int           `json:"retrain,omitempty"`     // pages after which classifiers learn anew; 0 is never
	LearnLinks  bool          `json:"learn_links,omitempty"` // more words of links are learnt, from where these led on several sites
	WARC        bool          `json:"warc,omitempty"`        // what is exchanged with hosts is kept in WARC files
	DomainPages int           `json:"domain_pages"`          // requests to all hosts of one registrable domain; 0 is no limit
	DomainShare float64       `json:"domain_share"`          // of the entries of a collection that it may have; 0 is no limit
	// Inspect follows links by their words, as CINDI's anchor text inspection does: from pages about
	// a topic all without a pruning word, from others those with an extracting one or to departments.
	Inspect bool `json:"inspect,omitempty"`
}

// Config bounds a crawl.
type Config struct {
	Bounds
	MaxDepth   int           // links from a result of the search
	MaxLinks   int           // of one page that are taken
	MaxTries   int           // of a URL that fails for now
	RetryBase  time.Duration // before the second of them; grows fourfold
	SlicePages int           // requests of a slice
	SliceTime  time.Duration // of a slice
	Limits     weburl.Limits // on the shape of URLs
	Links      rules.Lists   // what is left out
	Rules      *rules.Set    // the same, made ready; nil where it is to be made of Links as they are
	StopSites  int           // with learnt stop directories: those barren on more sites,
	StopShare  float64       // unless more than this share of the sites gave something
	Trap       gleaner.Trap
	Words      rank.Lists // by which links are followed; the directories of departments, too
}

// Ask is what a person asks for.
type Ask struct {
	Bounds
	Stops         topic.Stops                     `json:"stops"`
	Seeds         map[string][]string             `json:"seeds,omitempty"`          // pages by topic that a web directory lists: the crawl begins at them, too
	SearchSeeds   int                             `json:"search_seeds,omitempty"`   // results of each search for a topic at which the crawl begins, too
	Learnt        map[string]*classify.Classifier `json:"learnt,omitempty"`         // by topic, in place of its centroid
	Pruning       []string                        `json:"pruning,omitempty"`        // words for Inspect,
	Extracting    []string                        `json:"extracting,omitempty"`     // likewise
	NoDepartments bool                            `json:"no_departments,omitempty"` // links to the topics' departments are links as any
	Patterns      []string                        `json:"url_patterns,omitempty"`   // the parts of CINDI's URL pattern inspection that are on
	Parallel      int                             `json:"parallel,omitempty"`       // hosts asked at a time; 0 is 4
	Links         *rules.Lists                    `json:"links,omitempty"`          // what is left out, in place of the worker's lists
}

// DefaultAsk is where to begin.
func DefaultAsk() (Ask, error) {
	stops, err := topic.DefaultStops()
	if err != nil {
		return Ask{}, err
	}
	words, err := rank.DefaultLists()
	bounds := Bounds{Options: topic.Defaults(), Policy: BestFirst, MaxPages: 5000, MaxTime: 24 * time.Hour,
		HostPages: 200, DomainPages: 1000, DomainShare: 0.5}
	bounds.Adapt = true // the best of all that is read, as in the paper, not the first
	return Ask{Bounds: bounds, Stops: stops, Pruning: words.PruningAnchors, Extracting: words.ExtractingAnchors}, err
}

// Check reports the first setting that is out of bounds, by its name.
func (a Ask) Check() error {
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
	case a.Retrain > 0 && len(a.Learnt) == 0:
		return errors.New("retrain: no topic has a classifier that could learn anew")
	}
	return nil
}

// QueueRules are the rules of the queue.
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

// urlsAPage is how many URLs of a registrable domain are entered for each request that it
// may have.
const urlsAPage = 10

// over lays what is asked for over a worker's bounds.
func (a Ask) over(c Config, topics []topic.Topic) Config {
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

// Defaults is a careful crawl.
func Defaults() Config {
	return Config{Bounds: Bounds{Options: topic.Defaults()}, MaxDepth: 30, MaxLinks: 500, MaxTries: 3, RetryBase: 30 * time.Second, SlicePages: 200, SliceTime: 2 * time.Minute, Limits: weburl.DefaultLimits(time.Now())}
}

// Why a slice of a collection ended, beside the endings of any crawl.
const (
	Exhausted crawl.Ending = "exhausted" // nothing waits
	Stopped   crawl.Ending = "stopped"   // the collection was ended meanwhile
	Full      crawl.Ending = "full"      // every collection is
)

// idle is after how long a slice that waits for a host looks again: whether it is to end,
// and whether another host has become free. It holds no lease then. A look reads all hosts
// that wait, so that the time doubles to mostIdle.
const (
	idle     = 2 * time.Second
	mostIdle = 15 * time.Second
)

// Run crawls in one slice.
func Run(ctx context.Context, cfg Config, p Parts, report func(crawl.Progress)) (crawl.Result, error) {
	if cfg.Rules == nil {
		cfg.Rules = rules.New(cfg.Links, nil)
	}
	l := &loop{cfg: cfg, Parts: p, report: report, started: time.Now()}
	e, wait, err := l.run(ctx)
	return crawl.Result{Progress: l.progress, Ending: e, Wait: wait}, err
}

type loop struct {
	Parts
	cfg      Config
	report   func(crawl.Progress)
	started  time.Time
	progress crawl.Progress
	at       collections.Standing
	graph    *contextGraph // of that policy, and of who learns of links
	learnt   int           // requests at which it was learnt
}

func (l *loop) run(ctx context.Context) (e crawl.Ending, wait time.Duration, err error) {
	for idles := idle; ; {
		if ctx.Err() != nil {
			return "", 0, context.Cause(ctx)
		}
		if l.at, err = l.Queue.Standing(ctx); err != nil {
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

// over says why the slice is to end, "" where it goes on.
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
