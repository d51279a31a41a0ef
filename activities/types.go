package activities

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"gleaner/internal/crawl"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/config"
	"gleaner/internal/web/rules"
)

// Task queues. A worker takes any subset.
const (
	QueueHarvest   = "harvest"   // workflows and light activities
	QueueMetadata  = "metadata"  // outside APIs
	QueueCrawl     = "crawl"     // requests to sites
	QueueDocuments = "documents" // CPU, for seconds
	QueueJobs      = "jobs"      // imports and jobs on the tables, for hours
)

// Queues lists all task queues.
func Queues() []string {
	return []string{QueueHarvest, QueueMetadata, QueueCrawl, QueueDocuments, QueueJobs}
}

// HarvestOptions are what the user asked of one harvest.
type HarvestOptions struct {
	Delay    time.Duration `json:"delay,omitempty"`     // between requests to one host; 0 is the worker's
	MaxPages int           `json:"max_pages,omitempty"` // per site; 0 is the worker's
	Scope    string        `json:"scope,omitempty"`     // ScopePrefix ("") or ScopeHost
	Strategy string        `json:"strategy,omitempty"`  // of the crawl; "" is the worker's
	Leads    string        `json:"leads,omitempty"`     // wanted, all or none; "" is the worker's
	Budget   float64       `json:"budget,omitempty"`    // requests that one more accepted document may cost; 0 is no limit
	MaxWaves int           `json:"max_waves,omitempty"` // of crawls that follow leads; 0 is 4
	Window   int           `json:"window,omitempty"`    // sites crawled at a time; 0 is 50
	Refresh  bool          `json:"refresh,omitempty"`   // look for homepages again though decided lately
	Links    *rules.Lists  `json:"links,omitempty"`     // what is left out; nil, or a list that is not given, is the worker's
	WARC     bool          `json:"warc,omitempty"`      // keep what is exchanged with sites in WARC files; false is the worker's
	Again    string        `json:"again,omitempty"`     // what was asked before: AgainDue (""), AgainAll or AgainNone
}

// What of a host may be crawled.
const (
	ScopePrefix = "prefix"          // the path of a homepage, the directory of a site that a person named
	ScopeHost   = harvest.ScopeHost // all of it
)

// What a harvest asks again of what was asked before it.
const (
	AgainDue  = "due"  // what is due
	AgainAll  = "all"  // everything, conditionally
	AgainNone = "none" // nothing
)

// Harvest names a harvest in every call.
type Harvest struct {
	ID      string         `json:"id"`            // conf/webdb/1998-2004
	Venue   string         `json:"venue"`         // the goal's name
	Goal    gleaner.Goal   `json:"goal,omitzero"` // of Venue; zero where that is a venue
	Years   gleaner.Years  `json:"years"`         // zero is all
	Options HarvestOptions `json:"options"`
}

// NewHarvest is the harvest of a goal.
func NewHarvest(goal gleaner.Goal, years gleaner.Years, o HarvestOptions) Harvest {
	h := Harvest{ID: goal.Harvest(years), Venue: goal.String(), Goal: goal, Years: years, Options: o}
	if goal.Venue != "" {
		h.Goal = gleaner.Goal{}
	}
	if goal.Site != "" { // it wants no papers by name: every document that its pages link to
		h.Options.Leads = cmp.Or(h.Options.Leads, "all")
	}
	return h
}

// HarvestOf is the harvest of a row of the record, as it was started.
func HarvestOf(row store.Harvest) (Harvest, error) {
	h := NewHarvest(gleaner.ParseGoal(row.Venue), row.Years, HarvestOptions{})
	h.ID = row.ID
	return h, json.Unmarshal(row.Options, &h.Options)
}

// Listed is the result of ListPapers, with at most 20 of what is missing.
type Listed = harvest.Listing

// Batch asks for a part of a list that grows with the harvest.
type Batch struct {
	Harvest Harvest `json:"harvest"`
	After   string  `json:"after"`           // the last place of the batch before
	UpTo    string  `json:"up_to,omitempty"` // the last place of this one; "" where Limit ends it
	Limit   int     `json:"limit,omitempty"`
	Pass    int     `json:"pass,omitempty"`
	// Settled is when the pass before was settled; zero in the first.
	Settled time.Time `json:"settled,omitzero"`
	// AsOf is when the search began; what is found since spares no author a search.
	AsOf    time.Time `json:"as_of,omitzero"`
	Without []string  `json:"without,omitempty"` // hosts that are left out
}

// AuthorBatches are parts of a list of authors, each by the last place in it.
type AuthorBatches struct {
	Last []string `json:"last"`
	More bool     `json:"more"`
}

// Authors is the result of a batch of FindHomepages.
type Authors = harvest.Looked

// Sites is a batch of hosts to crawl.
type Sites struct {
	Paused bool     `json:"paused,omitempty"` // none is to be crawled now
	Hosts  []string `json:"hosts"`
	Last   string   `json:"last"`
	More   bool     `json:"more"`
}

// Slice is the result of CrawlSlice.
type Slice struct {
	crawl.Result
	Venues []string `json:"venues,omitempty"` // whose harvests want the site
	// Examined reports that no document of the site waits to be examined.
	Examined bool `json:"examined,omitempty"`
	// Ended reports that the end of the crawl is on record, for which Watchers wait.
	Ended    bool     `json:"ended,omitempty"`
	Watchers []string `json:"watchers,omitempty"`
}

// SiteEnd says how a site's crawl ended.
type SiteEnd struct {
	Host   string            `json:"host"`
	State  gleaner.SiteState `json:"state"` // done, refused, trap or stopped
	Reason string            `json:"reason,omitempty"`
	Crawl  int               `json:"crawl,omitempty"` // its number, where one was begun
}

// Counts is how far a harvest is.
type Counts = store.Counts

// Retry names what is to be tried again.
type Retry struct {
	Harvest   string        `json:"harvest"`
	Host      string        `json:"host,omitempty"`       // one site; "" for all that failed
	Reason    string        `json:"reason,omitempty"`     // one outcome; "" for all that are not for good
	OlderThan time.Duration `json:"older_than,omitempty"` // that failed so long ago, or longer
}

// ReasonUnanswered begins the reasons of a Retry that mean what is no URL.
const ReasonUnanswered = store.ReasonUnanswered

// Questions counts what did not answer a harvest, by stage.
type Questions = store.Questions

// Check says what of the options cannot be: the first, by the name of its flag.
// Where an option is not given the worker's setting holds.
func (o HarvestOptions) Check() error {
	for _, c := range []struct {
		name, value string
		choices     []string
	}{
		{"scope", o.Scope, []string{ScopePrefix, ScopeHost}},
		{"strategy", o.Strategy, config.Choices("strategy")},
		{"leads", o.Leads, config.Choices("leads")},
		{"again", o.Again, []string{AgainDue, AgainAll, AgainNone}},
	} {
		if c.value == "" {
			continue
		}
		if err := config.OneOf(c.value, c.choices); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if o.Links != nil {
		if err := o.Links.Check(); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		name  string
		value float64
	}{
		{"delay", float64(o.Delay)}, {"max-pages", float64(o.MaxPages)}, {"budget", o.Budget}, {"sites", float64(o.Window)}, {"waves", float64(o.MaxWaves)},
	} {
		if c.value < 0 {
			return fmt.Errorf("%s: %v is negative", c.name, c.value)
		}
	}
	if o.Window > MaxWindow {
		return fmt.Errorf("sites: %d is more than %d", o.Window, MaxWindow)
	}
	return nil
}

// MaxWindow bounds the sites that a harvest crawls at a time: each is a signal in one
// history when the harvest is resumed, and some statements a second.
const MaxWindow = 1000
