package rank

import (
	"encoding/json"
	"fmt"

	"gleaner/internal/web/page"
)

// The three queues of Zhuang et al. (JCDL 2005, §3.3), and before them one for documents: a
// document "will be inserted into the document database" at once, and only other links are
// queued.
const (
	QueueLow    = 0
	QueueMedium = 1
	QueueHigh   = 2
	QueueAtOnce = 3
)

// remembered is the number of pages whose queue a strategy keeps to look up the parents of links.
// Links enter soon after their page was fetched, so few pages suffice.
const remembered = 256

// zhuang orders links by keyword classes alone (Zhuang et al., JCDL 2005, §3.3): documents, then
// the highest queue first, and first in, first out within each.
type zhuang struct {
	lists Lists
	state zhuangState
}

type zhuangState struct {
	Picked []pickedPage `json:"picked"` // the latest last
}

type pickedPage struct {
	URL   string `json:"url"`
	Queue int    `json:"queue"`
}

func (z *zhuang) Name() string { return Zhuang }

// Enter is Get_Priority of the paper: a link whose anchor has a weight enters the queue of that
// weight, other links one below their parent. Documents are requested at once.
func (z *zhuang) Enter(c *page.Candidate) {
	c.Priority, c.Mark = 0, 0
	if c.Parent == "" {
		c.Queue = QueueLow // the paper's queue for seeds
		return
	}
	weight, _ := z.lists.weight(c.Link)
	parent := z.queueOf(c.Parent)
	switch {
	case c.Document:
		c.Queue = QueueAtOnce
	case weight > 0:
		c.Queue = weight
	case parent > 0:
		c.Queue = parent - 1
	default:
		c.Queue = QueueLow
	}
}

// queueOf returns the queue from which a page was taken. After a redirect the address of the page
// is unknown; then it is that of the latest pick.
func (z *zhuang) queueOf(parent string) int {
	p := z.state.Picked
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].URL == parent {
			return p[i].Queue
		}
	}
	if len(p) > 0 {
		return p[len(p)-1].Queue
	}
	return QueueLow
}

// queueNow returns the queue of a waiting link. Seeds are low whatever the stored queue, which
// only puts them into the window.
func queueNow(c *page.Candidate) int {
	if c.Parent == "" && !c.Document {
		return QueueLow
	}
	return c.Queue
}

func (z *zhuang) Next(waiting []page.Candidate) (int, string) {
	best := 0
	for i, c := range waiting {
		b := waiting[best]
		if q, most := queueNow(&c), queueNow(&b); q > most || q == most && c.ID < b.ID {
			best = i
		}
	}
	c := waiting[best]
	queue := queueNow(&c)
	z.state.Picked = append(z.state.Picked, pickedPage{c.Link.URL, queue})
	if n := len(z.state.Picked); n > remembered {
		z.state.Picked = append(z.state.Picked[:0], z.state.Picked[n-remembered:]...)
	}
	if queue == QueueAtOnce {
		return best, "a document, taken at once"
	}
	name := [...]string{"low", "medium", "high"}[min(max(queue, QueueLow), QueueHigh)]
	if _, word := z.lists.weight(c.Link); word != "" {
		return best, fmt.Sprintf("queue %s: the link says %q", name, word)
	}
	return best, fmt.Sprintf("queue %s: no keyword, one below its parent", name)
}

func (z *zhuang) Observe(page.Candidate, Result) {}

func (z *zhuang) State() (json.RawMessage, error) {
	s := z.state
	for i := range s.Picked { // long URLs must not exceed the size limit of State
		if len(s.Picked[i].URL) > 900 {
			s.Picked[i].URL = ""
		}
	}
	return json.Marshal(s)
}

func (z *zhuang) Restore(raw json.RawMessage) error {
	var s zhuangState
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("rank: restore %s: %w", Zhuang, err)
		}
	}
	z.state = s
	return nil
}
