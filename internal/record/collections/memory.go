package collections

import (
	"cmp"
	"container/heap"
	"context"
	"math/bits"
	"slices"
	"time"

	"gleaner/internal/record/frontier"
)

// Memory keeps one crawl in the process. It is not safe for concurrent use, and knows
// no hosts that are busy: what waits can be asked for at once.
type Memory struct {
	rules    Rules
	rows     map[frontier.Hash]*memoryRow
	queue    byPriority
	hosts    map[string]int
	failures map[string]int // in a row, by host
	held     map[string][]Held
	requests int
	prints   []int64
	read     int            // pages whose terms were counted
	df       map[string]int // by term
}

type memoryRow struct {
	URL
	seq     int
	place   int // in the queue; -1 where it does not wait
	waiting bool
}

// NewMemory makes an empty one.
func NewMemory(rules Rules) *Memory {
	return &Memory{rules: rules, rows: map[frontier.Hash]*memoryRow{}, hosts: map[string]int{}, failures: map[string]int{}, held: map[string][]Held{}, df: map[string]int{}}
}

// Add enters URLs; one that waits already keeps the better of both.
func (m *Memory) Add(urls []URL) {
	for _, u := range urls {
		h := u.Hash()
		r, met := m.rows[h]
		switch {
		case !met:
			r = &memoryRow{URL: u, seq: len(m.rows), waiting: true}
			m.rows[h] = r
			heap.Push(&m.queue, r)
		case r.waiting && u.Priority > r.Priority:
			r.Parent, r.Anchor, r.Priority, r.Off, r.Depth = u.Parent, u.Anchor, u.Priority, min(r.Off, u.Off), min(r.Depth, u.Depth)
			heap.Fix(&m.queue, r.place)
		}
	}
}

// Next takes the URL of the highest priority; of those that are equal the one that
// was met first. wait is 0 where none waits.
func (m *Memory) Next(context.Context) (u *URL, wait time.Duration, err error) {
	for len(m.queue) > 0 {
		r := heap.Pop(&m.queue).(*memoryRow)
		if m.rules.HostPages > 0 && m.hosts[r.Host] >= m.rules.HostPages || m.failures[r.Host] >= maxFailures {
			continue
		}
		return &r.URL, 0, nil
	}
	return nil, 0, nil
}

// Write notes what became of a URL.
func (m *Memory) Write(_ context.Context, v *Visit) error {
	m.rows[v.Hash()].waiting = false
	m.requests++
	m.hosts[v.Host]++
	m.failures[v.Host] = (m.failures[v.Host] + 1) * failure(v)
	if v.Print != 0 {
		m.prints = append(m.prints, v.Print)
	}
	if v.Terms != nil {
		m.read++
		for _, t := range v.Terms {
			m.df[t]++
		}
	}
	for _, e := range v.Entries {
		one := Held{v.Hash(), v.Host, e.Correlation}
		in, out := m.rules.Admit(m.held[e.Topic], one)
		if in {
			m.held[e.Topic] = append(slices.DeleteFunc(m.held[e.Topic], func(h Held) bool { return slices.Contains(out, h.Hash) }), one)
		}
	}
	m.Add(v.Links)
	if v.Alias != "" {
		m.Add([]URL{{URL: v.Alias, Host: v.Host}})
		if r := m.rows[frontier.HashOf(v.Alias)]; r.waiting {
			r.waiting = false
			heap.Remove(&m.queue, r.place)
		}
	}
	return nil
}

// Standing says how far the crawl is.
func (m *Memory) Standing(context.Context) (Standing, error) {
	s := Standing{Requests: m.requests, Topics: map[string]Filled{}}
	for topic, held := range m.held {
		s.Topics[topic] = Filled{len(held), slices.MinFunc(held, func(a, b Held) int { return cmp.Compare(a.Correlation, b.Correlation) }).Correlation}
	}
	return s, nil
}

// Known reports whether a URL was asked for.
func (m *Memory) Known(_ context.Context, h frontier.Hash) bool {
	r, met := m.rows[h]
	return met && !r.waiting
}

// Like reports whether a text nearly the same was read.
func (m *Memory) Like(_ context.Context, print int64) (bool, error) {
	return slices.ContainsFunc(m.prints, func(p int64) bool { return bits.OnesCount64(uint64(p^print)) <= near }), nil
}

// Terms says how many pages were read, and in how many of them each word occurs.
func (m *Memory) Terms(context.Context) (pages int, df map[string]int, err error) {
	return m.read, m.df, nil
}

// Entries are those of a topic.
func (m *Memory) Entries(topic string) []Held { return m.held[topic] }

// near is in how many bits two prints of nearly the same text differ, at most.
const near = 3

// byPriority is a heap.
type byPriority []*memoryRow

func (q byPriority) Len() int { return len(q) }
func (q byPriority) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[j].Priority, q[i].Priority), cmp.Compare(q[i].seq, q[j].seq)) < 0
}
func (q byPriority) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push is for package heap.
func (q *byPriority) Push(x any) {
	r := x.(*memoryRow)
	r.place = len(*q)
	*q = append(*q, r)
}

// Pop is for package heap.
func (q *byPriority) Pop() any {
	old := *q
	r := old[len(old)-1]
	r.place = -1
	*q = old[:len(old)-1]
	return r
}
