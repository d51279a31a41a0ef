package crawl

import (
	"context"
	"log/slog"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/library/collection"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
	"gleaner/internal/web/page"
	"gleaner/internal/web/rules"
	"gleaner/internal/web/weburl"
)

// Fetcher is the polite client (fetch.Client).
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request) (*fetch.Response, error)
	Sitemaps(ctx context.Context, host string, terms fetch.Terms) ([]string, error)
}

// Config bounds a crawl. Begin with Defaults: for many fields zero means no limit.
type Config struct {
	SlicePages int           // requests of one slice
	SliceTime  time.Duration // of one slice
	MaxPages   int           // requests of one crawl of one site
	MaxURLs    int           // of one site that are entered; each is a row
	Window     int           // waiting URLs that the strategy chooses from
	KnownURLs  int           // of one site that a slice keeps in memory, in some 40 bytes each
	MaxBytes   int64         // that one crawl of one site may bring, or of one user of a shared host; 0 is no limit
	MaxTime    time.Duration // of one crawl of one site: its slices, and its waits for the host between them; 0 is no limit
	MaxDepth   int           // links from the nearest homepage
	MaxTries   int           // of one URL that fails for now
	RetryBase  time.Duration // wait before the second try of a URL; grows fourfold
	Strategy   string        // of package rank
	Rank       rank.Options  // of the strategy
	// Index receives the pages near a site's homepages, some at a time; nil for none. Its
	// error is logged only.
	Index    func(ctx context.Context, pages []*page.Page) error
	About    func(*page.Page) bool // whether a page is about a collected topic; nil if unknown
	Leads    string                // documents on other hosts: wanted, all or none
	Policy   string                // of hosts: PolicyBlacklist (the default), PolicyWhitelist or PolicyHybrid
	Sitemaps bool                  // take links from sitemaps too
	Limits   weburl.Limits         // on the shape of URLs
	Links    rules.Lists           // exclusions, unless a harvest has its own
	Inspect  bool                  // links are left out by their words, as CINDI has it
	WARC     bool                  // requests and answers are kept in WARC files
	Names    bool                  // files are left out by their name or size
	Browser  Browser               // renders pages that scripts make; nil for none
	Memory   *fetch.Memory         // bounds the answers kept for rendered pages; nil is no bound
	Batch    int                   // visits written at once where the delay is 0

	HarvestBytes int64 // that the crawls of one harvest may bring together; 0 is no limit

	DirPages  int     // most pages of one directory
	TrapPages int     // pages of one crawl, or of one user, after which too few that lead to documents end it; 0 is never
	TrapRate  float64 // how few: their least share
	Budget    float64 // requests that one more accepted document may cost; 0 is no limit

	StopSites int     // a directory name without documents on more sites is a stop directory,
	StopShare float64 // unless more than this share of the sites with it gave something

	Recrawl recrawl.Policy

	Now func() time.Time // for the interval of writing the strategy's state; nil is time.Now
}

// Defaults is a careful crawl.
func Defaults() Config {
	return Config{SlicePages: 500, SliceTime: 5 * time.Minute, MaxPages: 20_000, MaxURLs: 1_000_000, Window: 512, KnownURLs: 100_000, MaxBytes: 20e9, HarvestBytes: 500e9, MaxTime: 7 * 24 * time.Hour, MaxDepth: 15, MaxTries: 3, RetryBase: 30 * time.Second,
		Strategy: "gleaner", Leads: "wanted", Sitemaps: true, Limits: weburl.DefaultLimits(time.Now()), Batch: 32,
		DirPages: 2000, TrapPages: 200, TrapRate: 0.05, StopSites: 5, StopShare: 0.05, Recrawl: recrawl.Defaults()}
}

// Crawler crawls sites. It is safe for concurrent use on different hosts; on one
// host the lease lets one slice run at a time.
type Crawler struct {
	db     *store.DB
	keeper *politeness.Keeper
	fetch  Fetcher
	coll   *collection.Collection
	cfg    Config
	log    *slog.Logger
	all    *together
	totals *totals
	look   time.Duration // how often the lease is renewed and the controls are checked
	// patience is how long a slice waits for the lease of its host. It is a little longer
	// than the lease of a dead process lasts.
	patience time.Duration

	wrap func(rank.Strategy) rank.Strategy // set by tests
}

// New makes a crawler.
func New(db *store.DB, keeper *politeness.Keeper, f Fetcher, coll *collection.Collection, cfg Config, log *slog.Logger) *Crawler {
	return &Crawler{
		db: db, keeper: keeper, fetch: f, coll: coll, cfg: cfg, log: log,
		all:      &together{keeper: keeper, db: db, wait: time.Sleep},
		totals:   &totals{harvests: map[string]*total{}},
		look:     1500 * time.Millisecond,
		patience: 7 * time.Second,
		wrap:     func(s rank.Strategy) rank.Strategy { return s },
	}
}

// Progress counts the work of a slice. Heartbeats carry it for people to see; the resume
// point is in the record.
type Progress struct {
	Requests  int    `json:"requests"`
	Refused   int    `json:"refused,omitempty"` // of a collection, by robots.txt or the blacklist, which is no request
	Entries   int    `json:"entries,omitempty"` // that were offered to collections
	Pages     int    `json:"pages"`
	Documents int    `json:"documents"`
	Accepted  int    `json:"accepted"`
	Found     int    `json:"found"` // wanted papers
	Failed    int    `json:"failed"`
	Bytes     int64  `json:"bytes"`
	URL       string `json:"url,omitempty"` // the one asked for last
}

// Plus adds the progress of a later slice.
func (p Progress) Plus(o Progress) Progress {
	return Progress{p.Requests + o.Requests, p.Refused + o.Refused, p.Entries + o.Entries, p.Pages + o.Pages, p.Documents + o.Documents,
		p.Accepted + o.Accepted, p.Found + o.Found, p.Failed + o.Failed, p.Bytes + o.Bytes, o.URL}
}

// Count counts the verdict on a document.
func (p *Progress) Count(v Verdict) {
	if v.Accepted {
		p.Accepted++
	}
	if v.Found {
		p.Found++
	}
}

// Ending is why a slice ended.
type Ending string

// The endings of a slice.
const (
	SliceFull  Ending = "slice-full" // go on with the next one
	Exhausted  Ending = "done"       // nothing waits
	Waiting    Ending = "waiting"    // nothing can be requested before Result.Wait has passed
	Paused     Ending = "paused"
	Cancelled  Ending = "cancelled"
	PageLimit  Ending = "page-limit"
	ByteLimit  Ending = "byte-limit" // of a site or a harvest
	TimeLimit  Ending = "time-limit"
	Trap       Ending = "trap"
	OverBudget Ending = "budget"  // what waits is not expected to be worth its requests
	Refused    Ending = "refused" // robots.txt cannot be read
)

// Result is the result of a slice.
type Result struct {
	Progress
	Ending Ending        `json:"ending"`
	Reason string        `json:"reason,omitempty"` // one line for a person
	Wait   time.Duration `json:"wait,omitempty"`   // until the next slice can do anything
	Crawl  int           `json:"crawl,omitempty"`  // number of the site's crawl; 0 if no slice began one
}
