package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"math/bits"
	"slices"
	"time"

	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/weburl"
)

// Collection keeps one crawl of collections in the process. It is not safe for concurrent use, and knows
// no hosts that are busy: what waits can be asked for at once.
type Collection struct {
	rules    collections.Rules
	rows     map[frontier.Hash]*queued
	hosts    map[string]*hostQueue
	met      []*hostQueue // all of them
	domains  map[string]*domainUse
	held     map[string][]collections.Held
	requests int
	prints   []int64
	linked   []collections.Linked
	training int
	learnt   json.RawMessage
	learntAt int
	tunnels  bool
	sites    int // new ones since it does
}

type queued struct {
	collections.URL
	seq     int
	waiting bool
}

// before puts the higher priority first, and of those that are equal what was met first.
func (r *queued) before(o *queued) bool {
	return cmp.Or(cmp.Compare(o.Priority, r.Priority), cmp.Compare(r.seq, o.seq)) < 0
}

// hostQueue is what waits of a host.
type hostQueue struct {
	rows     []*queued
	best     *queued // of them; nil for none
	requests int
	about    int // of them, on topic
	pages    int // of them, that were read
	relevant int // of these, on topic
	failures int // in a row
	worth    float64
	domain   *domainUse
}

// domainUse is what a registrable domain took of the crawl.
type domainUse struct{ requests, urls int }

// before compares the best that waits of each, with the worth of its host.
func (h *hostQueue) before(o *hostQueue) bool {
	return cmp.Or(cmp.Compare(o.best.Priority+o.worth, h.best.Priority+h.worth), cmp.Compare(h.best.seq, o.best.seq)) < 0
}

// take takes a row from those that wait.
func (h *hostQueue) take(r *queued) {
	h.rows = slices.DeleteFunc(h.rows, func(o *queued) bool { return o == r })
	h.best = nil
	for _, o := range h.rows {
		if h.best == nil || o.before(h.best) {
			h.best = o
		}
	}
}

// NewCollection makes an empty one.
func NewCollection(rules collections.Rules) *Collection {
	return &Collection{rules: rules, rows: map[frontier.Hash]*queued{}, hosts: map[string]*hostQueue{},
		domains: map[string]*domainUse{}, held: map[string][]collections.Held{}}
}

// Add enters URLs; one that waits already keeps the better of both. Domains that have as
// many as they may get no more.
func (m *Collection) Add(urls []collections.URL) {
	full := map[*domainUse]bool{}
	for _, u := range urls {
		d := m.host(u.Host).domain
		if _, met := full[d]; !met {
			full[d] = m.rules.Domain.URLs > 0 && d.urls >= m.rules.Domain.URLs
		}
		if known := len(m.rows); !full[d] {
			m.enter(u)
			d.urls += len(m.rows) - known
		}
	}
}

func (m *Collection) enter(u collections.URL) {
	h := u.Hash()
	r, met := m.rows[h]
	of := m.host(u.Host)
	switch {
	case !met:
		r = &queued{URL: u, seq: len(m.rows), waiting: true}
		m.rows[h], of.rows = r, append(of.rows, r)
	case r.waiting:
		r.Off, r.Depth = min(r.Off, u.Off), min(r.Depth, u.Depth)
		if u.Priority > r.Priority {
			r.Parent, r.Anchor, r.Priority = u.Parent, u.Anchor, u.Priority
		}
	default:
		return
	}
	if of.best == nil || r.before(of.best) {
		of.best = r
	}
}

func (m *Collection) host(host string) *hostQueue {
	h := m.hosts[host]
	if h == nil {
		d := cmp.Or(m.domains[weburl.Owner(host)], &domainUse{})
		m.domains[weburl.Owner(host)] = d
		h = &hostQueue{worth: m.rules.Worth.New, domain: d}
		m.hosts[host], m.met = h, append(m.met, h)
	}
	return h
}

// waits reports whether a host has something to ask for that the rules leave anything of.
func (m *Collection) waits(h *hostQueue) bool {
	within := func(requests, limit int) bool { return limit == 0 || requests < limit }
	return h.best != nil && within(h.requests, m.rules.HostPages) &&
		within(h.domain.requests, m.rules.Domain.Pages) && h.failures < collections.MaxFailures && !m.rules.Trap.Is(h.pages, h.relevant)
}

// Next takes the URL of the highest priority of the host that is best by that and by its
// worth; of those that are equal the one that was met first. wait is 0 where none waits.
func (m *Collection) Next(context.Context) (u *collections.URL, wait time.Duration, err error) {
	var best *hostQueue
	for _, h := range m.met {
		if m.waits(h) && (best == nil || h.before(best)) {
			best = h
		}
	}
	if best == nil {
		return nil, 0, nil
	}
	r := best.best
	best.take(r)
	return &r.URL, 0, nil
}

// Write notes what became of a URL.
func (m *Collection) Write(_ context.Context, v *collections.Visit) error {
	m.rows[v.Hash()].waiting = false
	m.requests += one(!v.Refused)
	of := m.host(v.Host)
	of.requests += one(!v.Refused)
	of.domain.requests += one(!v.Refused)
	pages, relevant := collections.PageCounts(v)
	of.pages, of.relevant = of.pages+pages, of.relevant+relevant
	of.failures = (of.failures + 1) * one(v.Trouble)
	if v.About {
		if of.about++; of.about == 1 {
			m.sites++
			m.tunnels = m.tunnels && m.sites < m.rules.Tunnel.Sites
		}
	}
	if w := m.rules.Worth; of.requests > 0 {
		of.worth = w.Most * (float64(of.about) - w.Usual*float64(of.requests)) / (float64(of.requests) + w.Slow)
	}
	if v.Leads != nil {
		p := collections.Linked{URL: v.URL.URL, Host: v.Host, Hash: v.Hash(), Anchor: v.Anchor, Words: v.Words, Correlation: v.Best.Correlation, Links: v.Leads}
		if v.Alias != "" {
			p.Alias = frontier.HashOf(v.Alias)
		}
		m.linked = append(m.linked, p)
	}
	if v.Print != 0 {
		m.prints = append(m.prints, v.Print)
	}
	for _, e := range v.Entries {
		one := collections.Held{Hash: v.Hash(), Host: v.Host, Correlation: e.Correlation}
		in, out := m.rules.Admit(m.held[e.Topic], one)
		if in {
			m.held[e.Topic] = append(slices.DeleteFunc(m.held[e.Topic], func(h collections.Held) bool { return slices.Contains(out, h.Hash) }), one)
		}
	}
	m.Add(v.Links)
	if v.Alias != "" {
		m.enter(collections.URL{URL: v.Alias, Host: v.Host})
		if r := m.rows[frontier.HashOf(v.Alias)]; r.waiting {
			r.waiting = false
			of.take(r)
		}
	}
	return nil
}

// Standing says how far the crawl is.
func (m *Collection) State(context.Context) (collections.CrawlState, error) {
	s := collections.CrawlState{Requests: m.requests, Tunnels: m.tunnels, TrainingBegun: m.training, TrainingDone: m.learntAt, Topics: map[string]collections.Filled{}}
	for topic, held := range m.held {
		s.Topics[topic] = collections.Filled{Entries: len(held), Worst: slices.MinFunc(held, func(a, b collections.Held) int { return cmp.Compare(a.Correlation, b.Correlation) }).Correlation}
	}
	return s, nil
}

// Tunnel begins to tunnel where nothing of high priority waits, and reports whether the
// crawl does.
func (m *Collection) Tunnel(context.Context) (bool, error) {
	is := func(h *hostQueue) bool { return m.waits(h) && h.best.Priority >= m.rules.Tunnel.High }
	if m.rules.Tunnel.Sites > 0 && !m.tunnels && !slices.ContainsFunc(m.met, is) {
		m.tunnels, m.sites = true, 0
	}
	return m.tunnels, nil
}

// Known reports whether a URL was asked for.
func (m *Collection) Known(_ context.Context, h frontier.Hash) bool {
	r, met := m.rows[h]
	return met && !r.waiting
}

// Linked are the pages read last, as those of a Record.
func (m *Collection) Linked(_ context.Context, most int) ([]collections.Linked, error) {
	return m.linked[max(0, len(m.linked)-most):], nil
}

// BeginTraining says who is to learn, as that of a Record.
func (m *Collection) BeginTraining(_ context.Context, last, requests int) (bool, error) {
	mine := m.training == last && last < requests
	if mine {
		m.training = requests
	}
	return mine, nil
}

// SaveTraining keeps what a training came to.
func (m *Collection) SaveTraining(_ context.Context, requests int, what json.RawMessage) error {
	m.learnt, m.learntAt = what, requests
	return nil
}

// LastTraining is what the last training came to.
func (m *Collection) LastTraining(context.Context) (json.RawMessage, int, error) {
	return m.learnt, m.learntAt, nil
}

// IsDuplicate reports whether a text nearly the same was read.
func (m *Collection) IsDuplicate(_ context.Context, print int64) (bool, error) {
	return slices.ContainsFunc(m.prints, func(p int64) bool { return bits.OnesCount64(uint64(p^print)) <= collections.NearBits }), nil
}

// Entries are those of a topic.
func (m *Collection) Entries(topic string) []collections.Held { return m.held[topic] }

// one is 1 for what is so, else 0.
func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
