package rank

import (
	"encoding/json"

	"gleaner/internal/web/page"
)

// bfs asks for links in the order of their discovery, which is breadth-first
// where each page's links enter in page order.
type bfs struct{}

func (bfs) Name() string { return BreadthFirst }

func (bfs) Enter(c *page.Candidate) { c.Queue, c.Priority, c.Mark = 0, 0, 0 }

func (bfs) Next(waiting []page.Candidate) (int, string) {
	i := oldest(waiting)
	return i, "breadth-first: it has waited longest"
}

func (bfs) Observe(page.Candidate, Result) {}

func (bfs) State() (json.RawMessage, error) { return json.RawMessage("{}"), nil }

func (bfs) Restore(json.RawMessage) error { return nil }

// oldest is the index of the candidate that was discovered first.
func oldest(waiting []page.Candidate) int {
	best := 0
	for i := range waiting {
		if waiting[i].ID < waiting[best].ID {
			best = i
		}
	}
	return best
}
