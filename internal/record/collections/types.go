package collections

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/weburl"
)

// ErrNone is returned for an unknown name.
var ErrNone = errors.New("no such collection")

// States of a collection.
const (
	New       = "new"
	Running   = "running"
	Ended     = "ended"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// Collection holds the collections of all topics of a file, built by one crawl.
type Collection struct {
	ID       int             `json:"-"`
	Run      int             `json:"-"` // see Record.Submit
	Name     string          `json:"name"`
	Options  json.RawMessage `json:"options"`
	Topics   json.RawMessage `json:"topics"`
	Model    json.RawMessage `json:"-"` // nil before the centroids are made
	State    string          `json:"state"`
	Note     string          `json:"note,omitempty"` // reason of its end
	Paused   bool            `json:"paused,omitempty"`
	Requests int             `json:"requests"`
	Refused  int             `json:"refused,omitempty"` // URLs forbidden by robots.txt or the blacklist
	Tunnel   *int            `json:"tunnel,omitempty"`  // new sites with a page on topic since tunnelling began; nil without tunnelling
	Created  time.Time       `json:"created_at"`
	Started  *time.Time      `json:"started_at,omitempty"`
	Ended    *time.Time      `json:"ended_at,omitempty"`
}

// Status describes the state of a collection, including a pause.
func (c Collection) Status() string {
	if c.Paused && (c.State == New || c.State == Running) {
		return c.State + ", paused"
	}
	return c.State
}

// Result is a page for the centroid of a topic.
type Result struct {
	Topic   string         `json:"topic"`
	Place   int            `json:"place"`
	URL     string         `json:"url"`
	Outcome string         `json:"outcome"`          // "" before its request
	Counts  map[string]int `json:"-"`                // of its words
	Parent  string         `json:"parent,omitempty"` // for a document on record, the page that links to it, where the crawl starts
}

// URL is a queued or requested URL.
type URL struct {
	URL, Host      string
	Parent, Anchor string // the page with the link, and the link's words
	Depth          int
	Off            float64 // consecutive off-topic pages on the path to it
	Priority       float64
	Tries          int
	Deaths         int // number of processes that died over it
}

// Hash returns its identity.
func (u *URL) Hash() frontier.Hash { return frontier.HashOf(u.URL) }

// Kinds of fetched content.
const (
	Page     = "page"
	Document = "document"
)

// Outcomes with a meaning for the record: a URL read under another name, a text similar to one
// that was read, and a page on topic whose collection was full.
const (
	Redirected    gleaner.Outcome = "redirected"
	NearDuplicate gleaner.Outcome = "near-duplicate"
	NoPlace       gleaner.Outcome = "collection-full"
)

// Visit is the result of a URL.
type Visit struct {
	*URL
	At      time.Time
	Again   time.Time // time of the next request; zero for never
	Kind    string    // Page, Document or ""
	Outcome gleaner.Outcome
	Refused bool // by robots.txt or the blacklist, without a request to the host
	Trouble bool // the host failed, and may be down
	Reason  string
	Alias   string // target of a redirect on the same host, already read; "" for none
	Title   string
	Best    Member // the most similar topic
	SHA256  string // of a stored document
	Bytes   int64
	Print   int64    // of its text, to find near-duplicates; 0 for none
	Terms   []string // its words of the dictionary, if they are counted
	Words   string   // of its text, separated by spaces, if a classifier learns from them
	Entries []Member // collections that get it
	Links   []URL    // without duplicates
	Leads   []Lead   // all links without duplicates, if they are recorded; else nil
	About   bool     // it is on topic
}

// Member is a topic with the similarity of a page.
type Member struct {
	Topic       string
	Correlation float64
}

// Held is an entry of a topic's collection.
type Held struct {
	Hash        frontier.Hash
	Host        string
	Correlation float64
}

// Rules are the rules of a topic's collection.
type Rules struct {
	Size       int  // entries
	Replace    bool // a better entry replaces the worst of a full collection
	OnePerSite bool // the best of each host
	Distinct   bool // no two entries with nearly the same text
	HostPages  int  // requests to one host; 0 is no limit
	MaxPages   int  // requests of all runs; 0 is no limit
	Domain     DomainLimits
	Trap       gleaner.Trap // by the share of a host's pages on topic
	Worth      Worth
	Tunnel     Tunnel
}

// DomainLimits bound the part of a crawl of one registrable domain on all of its hosts, since one
// owner may have any number of names. A network of addresses and a suffix of free names count as
// one domain (weburl.Owner). 0 is no limit.
type DomainLimits struct {
	Pages   int // requests
	URLs    int // queued URLs; the page that reaches the limit may exceed it
	Entries int // of a topic's collection
}

// Tunnel configures tunnelling (Chen 2008): it starts when no URL of the priority High is queued
// on any host, and ends after a number of new sites with a page on topic. The zero value never
// tunnels.
type Tunnel struct {
	High  float64
	Sites int
}

// NearBits is the greatest number of bits in which two prints of nearly the same text differ.
const NearBits = 3

// Worth raises the priority of hosts by the share of their pages on topic above Usual. An unknown
// host has none. The zero value ignores hosts.
type Worth struct {
	Most  float64 // greatest priority added, for a host with only pages on topic
	Usual float64 // share of pages on topic at which nothing is added
	Slow  float64 // requests after which half of it is added
	New   float64 // priority added for a host without requests
}

// Admit reports whether an entry enters a collection, and returns the entries that it replaces.
func (r Rules) Admit(held []Held, e Held) (in bool, out []frontier.Hash) {
	host := func(h Held) bool { return h.Host == e.Host }
	most, same := r.Domain.Entries, func(h Held) bool { return weburl.Owner(h.Host) == weburl.Owner(e.Host) }
	if r.OnePerSite && slices.ContainsFunc(held, host) {
		most, same = 1, host
	}
	if in, out := amongFew(held, e, most, same); !in || len(out) > 0 {
		return in, out
	}
	if len(held) < r.Size {
		return true, nil
	}
	worst := slices.MinFunc(held, func(a, b Held) int { return cmp.Compare(a.Correlation, b.Correlation) })
	if !r.Replace || worst.Correlation >= e.Correlation {
		return false, nil
	}
	return true, []frontier.Hash{worst.Hash}
}

// amongFew reports whether an entry is among the best of its host or domain within a limit (0 is
// none), and returns the entries that it replaces: several if the limit was set later.
func amongFew(held []Held, e Held, most int, same func(Held) bool) (in bool, out []frontier.Hash) {
	held = slices.DeleteFunc(slices.Clone(held), func(h Held) bool { return !same(h) })
	if most == 0 || len(held) < most {
		return true, nil
	}
	slices.SortStableFunc(held, func(a, b Held) int { return cmp.Compare(a.Correlation, b.Correlation) })
	for _, h := range held[:len(held)-most+1] {
		if h.Correlation >= e.Correlation {
			return false, nil
		}
		out = append(out, h.Hash)
	}
	return true, out
}

// CrawlState is the state of a crawl.
type CrawlState struct {
	Requests      int
	Run           int           // see Record.Submit
	Took          time.Duration // time of all runs
	Paused        bool
	Ended         bool
	Tunnels       bool              // see Tunnel
	TrainingBegun int               // requests at the start of the last training; see Crawl.BeginTraining
	TrainingDone  int               // the same for the last completed one
	Topics        map[string]Filled `db:"-"`
}

// Filled is the state of a topic's collection.
type Filled struct {
	Entries int
	Worst   float64 // the least correlation of an entry
}
