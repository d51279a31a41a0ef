package rank

import "encoding/json"

// gleaner takes documents before pages and pages by keyword class.
type gleaner struct{ z *zhuang }

func newGleaner(opts Options) (*gleaner, error) { return &gleaner{z: newZhuang(*opts.Lists)}, nil }

func (g *gleaner) Name() string { return Gleaner }

func (g *gleaner) Enter(c *Candidate) {
	g.z.Enter(c)
	if c.Document {
		c.Queue = QueueHigh + 1
	}
	c.Priority = c.Wanted
}

func (g *gleaner) Next(waiting []Candidate) (int, string) {
	best := 0
	for i, c := range waiting {
		b := waiting[best]
		if c.Queue > b.Queue || c.Queue == b.Queue && c.Priority > b.Priority {
			best = i
		}
	}
	g.z.Next(waiting[best : best+1])
	return best, "documents before pages, pages by keyword"
}

func (g *gleaner) Observe(c Candidate, r Result) {}

func (g *gleaner) State() (json.RawMessage, error) { return g.z.State() }

func (g *gleaner) Restore(raw json.RawMessage) error { return g.z.Restore(raw) }
