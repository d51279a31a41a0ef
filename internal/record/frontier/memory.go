package frontier

import (
	"cmp"
	"slices"

	"gleaner/internal/gleaner"
)

// Memory keeps the URLs of one site for a crawl of it that begins with nothing, by
// the rules of the table urls (addSQL, windowSQL, Done, Relax). It is for recorded
// sites, and not safe for concurrent use.
type Memory struct {
	rows map[Hash]*row
	seq  int64
}

type row struct {
	Entry
	state   State
	outcome gleaner.Outcome
}

// maxMarks is how many marks windowSQL looks at.
const maxMarks = 4096

// NewMemory makes an empty one.
func NewMemory() *Memory { return &Memory{rows: map[Hash]*row{}} }

// Write enters what a crawl did.
func (m *Memory) Write(b *Batch) Written {
	for i := range b.Visits {
		m.done(&b.Visits[i])
	}
	w := Written{Added: m.Add(b.Links)}
	for i := range b.Aliases {
		e := &b.Aliases[i]
		m.Add([]Entry{*e})
		if r := m.rows[e.Hash()]; r.state == Waiting || r.state == Failed {
			r.state, r.outcome = Moved, gleaner.OK
		}
	}
	return w
}

// Add is the function Add in memory.
func (m *Memory) Add(entries []Entry) map[Hash]Added {
	out := make(map[Hash]Added, len(entries))
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
				o.state, o.outcome = Skipped, e.Skip
			}
			m.rows[h] = o
		} else {
			o.improve(&e)
		}
		out[h] = Added{Seq: o.ID, New: !met, Waiting: o.state == Waiting}
	}
	return out
}

// gains reports whether a row gets better by a URL that was met again.
func (r *row) gains(e *Entry) bool {
	wider := e.Role < r.Role && (r.state == Waiting || r.state == Page || r.state == Failed || r.state == Moved)
	return e.Skip == "" && (e.Depth < r.Depth || wider || r.state == Waiting && (e.Queue > r.Queue || e.Wanted > r.Wanted) || r.state == Skipped)
}

func (r *row) improve(e *Entry) {
	wider := e.Role < r.Role
	if (r.state == Page || r.state == Moved) && wider || r.state == Skipped {
		r.state = Waiting
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

func (m *Memory) done(v *Visit) {
	r := m.rows[v.Entry.Hash()]
	if r == nil {
		return
	}
	r.state, r.outcome, r.Tries, r.Visited, r.Interval = v.State, v.Outcome, v.Entry.Tries, v.At, v.Interval
	r.ETag, r.LastModified = v.ETag, v.LastModified
	if v.Content != nil {
		r.Content = v.Content
	}
	if v.State == Page || v.State == Document {
		r.Was = v.State
	}
}

// Window is the function Window in memory, and says whether all that waits is in
// it.
func (m *Memory) Window(limit int) (best []Entry, all bool) {
	var waiting []*row
	for _, r := range m.rows {
		if r.state == Waiting {
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
	return best, len(waiting) <= len(best)
}

// LookUp is the function LookUp in memory.
func (m *Memory) LookUp(hashes [][]byte) (known []Known) {
	for _, h := range hashes {
		if r := m.rows[Hash(h)]; r != nil {
			known = append(known, Known{Hash: Hash(h), Depth: r.Depth, Role: r.Role})
		}
	}
	return known
}

// Fetched is the function Fetched in memory.
func (m *Memory) Fetched(h Hash) bool {
	r := m.rows[h]
	return r != nil && (r.state == Page || r.state == Document || r.state == Moved && r.outcome == gleaner.OK)
}

// Relax is the function Relax in memory.
func (m *Memory) Relax(maxDepth int) (relaxed int) {
	w := ways{known: make(map[Hash]way, len(m.rows))}
	var deep []Hash
	for h, r := range m.rows {
		w.known[h] = way{depth: r.Depth, parent: HashOf(r.Parent), seed: r.Parent == ""}
		if r.state == Skipped && r.outcome == TooDeep {
			deep = append(deep, h)
		}
	}
	for _, h := range deep {
		if d := w.depth(h, maxDepth+1); d <= maxDepth {
			r := m.rows[h]
			r.state, r.outcome, r.Depth = Waiting, "", d
			relaxed++
		}
	}
	return relaxed
}
