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

// ErrNone is returned for a name that no collection has.
var ErrNone = errors.New("no such collection")

// The states of a collection.
const (
	New       = "new"
	Running   = "running"
	Ended     = "ended"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// Collection is one that was asked for: the collections of all topics of a file, made
// by one crawl.
type Collection struct {
	ID       int             `json:"-"`
	Run      int             `json:"-"` // see Record.Ask
	Name     string          `json:"name"`
	Options  json.RawMessage `json:"options"`
	Topics   json.RawMessage `json:"topics"`
	Model    json.RawMessage `json:"-"` // nil before the centroids are made
	State    string          `json:"state"`
	Note     string          `json:"note,omitempty"` // why it ended
	Paused   bool            `json:"paused,omitempty"`
	Requests int             `json:"requests"`
	Refused  int             `json:"refused,omitempty"` // URLs that robots.txt or the blacklist did not let be asked for
	Tunnel   *int            `json:"tunnel,omitempty"`  // new sites with a page on topic since tunnelling began; nil where it does not tunnel
	Created  time.Time       `json:"created_at"`
	Started  *time.Time      `json:"started_at,omitempty"`
	Ended    *time.Time      `json:"ended_at,omitempty"`
}

// How says how a collection is: its state, and that it rests.
func (c Collection) How() string {
	if c.Paused && (c.State == New || c.State == Running) {
		return c.State + ", paused"
	}
	return c.State
}

// Result is a page that makes the centroid of a topic.
type Result struct {
	Topic   string         `json:"topic"`
	Place   int            `json:"place"`
	URL     string         `json:"url"`
	Outcome string         `json:"outcome"`          // "" before it was asked for
	Counts  map[string]int `json:"-"`                // of its words
	Parent  string         `json:"parent,omitempty"` // the page that leads to it, of a document on record: the crawl begins there
}

// URL is one that waits, or is asked for.
type URL struct {
	URL, Host      string
	Parent, Anchor string // the page that it was found on, and the words of the link
	Depth          int
	Off            float64 // off-topic pages in a row on the way to it
	Priority       float64
	Tries          int
	Deaths         int // of processes over it
}

// Hash is its identity.
func (u *URL) Hash() frontier.Hash { return frontier.HashOf(u.URL) }

// Kinds of what was fetched.
const (
	Page     = "page"
	Document = "document"
)

// Outcomes that the record heeds: of a URL that was read under another name, of a text
// nearly the same as one that was read, and of what is on topic where its collection was
// full.
const (
	Redirected    gleaner.Outcome = "redirected"
	NearDuplicate gleaner.Outcome = "near-duplicate"
	NoPlace       gleaner.Outcome = "collection-full"
)

// Visit is what became of a URL.
type Visit struct {
	*URL
	At      time.Time
	Again   time.Time // when it is to be asked for again; zero for never
	Kind    string    // Page, Document or ""
	Outcome gleaner.Outcome
	Refused bool // by robots.txt or the blacklist: the host was asked for nothing
	Trouble bool // the host did not answer, or not as it should: it may be down
	Reason  string
	Alias   string // the URL on the same host to which it redirected, which need not be asked for; "" for none
	Title   string
	Best    Member // the topic that it is most like
	SHA256  string // of a document that is kept
	Bytes   int64
	Print   int64    // of its text, by which near-duplicates are known; 0 for none
	Terms   []string // words of the dictionary that it has, where they are counted
	Words   string   // of its text, parted by blanks, where a classifier is to learn from them
	Entries []Member // collections that it is for
	Links   []URL    // each once
	Leads   []Lead   // of a page of which they are recorded all its links, each once; else nil
	About   bool     // it is on topic
}

// Member is a topic with how like it a page is.
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

// Rules say what a topic's collection holds.
type Rules struct {
	Size       int  // entries
	Replace    bool // a better one puts out the worst of a full collection
	OnePerSite bool // the best of each host
	Distinct   bool // no two of nearly the same text
	HostPages  int  // requests to one host; 0 is no limit
	MaxPages   int  // requests of all runs; 0 is no limit
	Domain     DomainLimits
	Trap       gleaner.Trap // by the pages of a host that were on topic
	Worth      Worth
	Tunnel     Tunnel
}

// DomainLimits bound what one registrable domain takes of a crawl, on all of its hosts
// together: whoever owns one may answer for names without end. A network of addresses and
// a suffix under which names are free count as one, too (weburl.Owner). 0 is no limit.
type DomainLimits struct {
	Pages   int // requests
	URLs    int // that are entered; those of a page that reaches the limit are
	Entries int // of a topic's collection
}

// Tunnel says when a crawl tunnels (Chen 2008): from when nothing of the priority High waits
// in the whole queue, on whatever host, until it came to so many sites with a page on topic
// that it had not come to before. The zero value never does.
type Tunnel struct {
	High  float64
	Sites int
}

// NearBits is in how many bits two prints of nearly the same text differ, at most.
const NearBits = 3

// Worth says how much sooner a host is asked for being on topic: for the share of its
// pages that were, as far as they were more than Usual; a host of which nothing is known
// is worth nothing. The zero value heeds no host.
type Worth struct {
	Most  float64 // in priority, of a host all of whose many pages are on topic
	Usual float64 // share of pages on topic, of a host of no worth
	Slow  float64 // requests after which half of it counts
	New   float64 // in priority, of a host that was not asked yet
}

// Admit says whether an entry comes into a collection, and which of those there it
// puts out.
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

// amongFew says whether an entry is one of the best of its host or domain, which has at
// most so many (0 is no limit), and which of these it puts out: several where there were
// more before the limit was set.
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

// Standing is how far a crawl is.
type Standing struct {
	Requests int
	Run      int           // see Record.Ask
	Took     time.Duration // by all runs
	Paused   bool
	Ended    bool
	Tunnels  bool // see Tunnel
	Lesson   int  // requests at which the last lesson was begun; see Record.Lesson
	Learnt   int  // and at which that was begun which came to an end last
	Topics   map[string]Filled
}

// Filled is how far the collection of a topic is.
type Filled struct {
	Entries int
	Worst   float64 // the least correlation of an entry
}
