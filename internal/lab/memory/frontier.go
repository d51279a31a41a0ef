// Package memory keeps what a crawl has met in the process, by the rules of the tables.
package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
)

// Frontier keeps the URLs of one site for a crawl of it that begins with nothing, by
// the rules of the table urls (addSQL, windowSQL, Done, Relax): all of a crawl.Recorder
// but its Write. It is for recorded sites, and not safe for concurrent use.
type Frontier struct {
	rows map[frontier.Hash]*row
	seq  int64
}

type row struct {
	frontier.Entry
	state   frontier.State
	outcome gleaner.Outcome
}

// maxMarks is how many marks windowSQL looks at.
const maxMarks = 4096

// NewFrontier makes an empty one.
func NewFrontier() *Frontier { return &Frontier{rows: map[frontier.Hash]*row{}} }

// Write enters what a crawl did.
func (m *Frontier) Write(b *frontier.Batch) frontier.Written {
	for i := range b.Visits {
		m.done(&b.Visits[i])
	}
	w := frontier.Written{Added: m.Add(b.Links)}
	for i := range b.Aliases {
		e := &b.Aliases[i]
		m.Add([]frontier.Entry{*e})
		if r := m.rows[e.Hash()]; r.state == frontier.Waiting || r.state == frontier.Failed {
			r.state, r.outcome = frontier.Moved, gleaner.OK
		}
	}
	return w
}

// Add is the function Add in memory.
func (m *Frontier) Add(entries []frontier.Entry) map[frontier.Hash]frontier.Added {
	out := make(map[frontier.Hash]frontier.Added, len(entries))
	for _, e := range entries {
		// As wide as the columns are.
		e.Priority, e.Wanted = float64(float32(e.Priority)), float64(float32(e.Wanted))
		h := e.Hash()
		o, met := m.rows[h]
		if met && !o.gains(&e) {
			continue
		}
		if !met {
			m.seq++
			o = &row{Entry: e}
			o.ID, o.Skip = m.seq, ""
			if e.Skip != "" {
				o.state, o.outcome = frontier.Skipped, e.Skip
			}
			m.rows[h] = o
		} else {
			o.improve(&e)
		}
		out[h] = frontier.Added{Seq: o.ID, New: !met, Waiting: o.state == frontier.Waiting}
	}
	return out
}

// gains reports whether a row gets better by a URL that was met again.
func (r *row) gains(e *frontier.Entry) bool {
	wider := e.Role < r.Role && (r.state == frontier.Waiting || r.state == frontier.Page || r.state == frontier.Failed || r.state == frontier.Moved)
	return e.Skip == "" && (e.Depth < r.Depth || wider || r.state == frontier.Waiting && (e.Queue > r.Queue || e.Wanted > r.Wanted) || r.state == frontier.Skipped)
}

func (r *row) improve(e *frontier.Entry) {
	wider := e.Role < r.Role
	if (r.state == frontier.Page || r.state == frontier.Moved) && wider || r.state == frontier.Skipped {
		r.state = frontier.Waiting
	}
	r.Depth, r.Role, r.Wanted = min(r.Depth, e.Depth), min(r.Role, e.Role), max(r.Wanted, e.Wanted)
	switch {
	case e.Queue > r.Queue:
		r.Queue, r.Priority = e.Queue, e.Priority
	case e.Queue == r.Queue:
		r.Priority = max(r.Priority, e.Priority)
	}
	if wider { // its links were not followed then: it must come whole
		r.ETag, r.LastModified, r.Content = "", "", nil
	}
}

func (m *Frontier) done(v *frontier.Visit) {
	r := m.rows[v.Entry.Hash()]
	if r == nil {
		return
	}
	r.state, r.outcome, r.Tries, r.Visited, r.Interval = v.State, v.Outcome, v.Entry.Tries, v.At, v.Interval
	r.ETag, r.LastModified = v.ETag, v.LastModified
	if v.Content != nil {
		r.Content = v.Content
	}
	if v.State == frontier.Page || v.State == frontier.Document {
		r.Was = v.State
	}
}

// Window is the function Window in memory, and says whether all that waits is in
// it.
func (m *Frontier) Window(_ context.Context, limit int) (best []frontier.Entry, all bool, _ error) {
	var waiting []*row
	for _, r := range m.rows {
		if r.state == frontier.Waiting {
			waiting = append(waiting, r)
		}
	}
	slices.SortFunc(waiting, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.Queue, a.Queue), cmp.Compare(a.Mark, b.Mark), cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID))
	})
	var marks [][]*row // what waits of each queue and mark, the best first
	for i, r := range waiting {
		if i == 0 || r.Queue != waiting[i-1].Queue || r.Mark != waiting[i-1].Mark {
			marks = append(marks, nil)
		}
		marks[len(marks)-1] = append(marks[len(marks)-1], r)
	}
	marks = marks[:min(len(marks), maxMarks)]
	share := max(1, limit/max(1, len(marks)))
	var taken, more []*row
	for _, rows := range marks {
		n := min(share, len(rows))
		taken, more = append(taken, rows[:n]...), append(more, rows[n:min(n+share, len(rows))]...)
	}
	foremost := func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.Queue, a.Queue), cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID))
	}
	slices.SortFunc(taken, foremost)
	if 4*len(taken) < 3*limit {
		slices.SortFunc(more, foremost)
		taken = append(taken, more...)
	}
	taken = taken[:min(len(taken), limit)]
	slices.SortFunc(taken, foremost)
	for _, r := range taken {
		e := r.Entry
		e.Derive()
		best = append(best, e)
	}
	return best, len(waiting) <= len(best), nil
}

// LookUp is the function LookUp in memory.
func (m *Frontier) LookUp(_ context.Context, hashes []frontier.Hash) (known []frontier.Known, _ error) {
	for _, h := range hashes {
		if r := m.rows[h]; r != nil {
			known = append(known, frontier.Known{Hash: h, Depth: r.Depth, Role: r.Role})
		}
	}
	return known, nil
}

// Hold implements crawl.Recorder.
func (*Frontier) Hold(context.Context) error { return nil }

// Fetched is the function Fetched in memory.
func (m *Frontier) Fetched(_ context.Context, h frontier.Hash) bool {
	r := m.rows[h]
	return r != nil && (r.state == frontier.Page || r.state == frontier.Document || r.state == frontier.Moved && r.outcome == gleaner.OK)
}

// Left is the function Relax in memory; nothing is asked again later.
func (m *Frontier) Left(_ context.Context, maxDepth int) (relaxed int, _ time.Time, _ error) {
	depths := map[frontier.Hash]int{}
	for h, r := range m.rows {
		if r.state == frontier.Skipped && r.outcome == frontier.TooDeep {
			depths[h] = m.depth(h, maxDepth+1)
		}
	}
	for h, d := range depths {
		if d <= maxDepth {
			r := m.rows[h]
			r.state, r.outcome, r.Depth = frontier.Waiting, "", d
			relaxed++
		}
	}
	return relaxed, time.Time{}, nil
}

// depth is the least known, by the pages that lead to a URL; hops bounds the way.
func (m *Frontier) depth(h frontier.Hash, hops int) int {
	r := m.rows[h]
	parent := frontier.HashOf(r.Parent)
	if m.rows[parent] == nil || r.Parent == "" || hops == 0 {
		return r.Depth
	}
	return min(r.Depth, m.depth(parent, hops-1)+1)
}
