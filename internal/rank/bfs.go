package rank

import (
	"encoding/json"

	"gleaner/internal/web/page"
)

// bfs requests links in the order of discovery. This is breadth-first if the links of each page
// enter in page order.
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

// oldest returns the index of the candidate that was discovered first.
func oldest(waiting []page.Candidate) int {
	best := 0
	for i := range waiting {
		if waiting[i].ID < waiting[best].ID {
			best = i
		}
	}
	return best
}
