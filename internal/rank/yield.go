package rank

import (
	"encoding/binary"
	"math"

	"gleaner/internal/web/page"
)

// yields counts requested and accepted documents for each group (a link's mark).
type yields [2 * maxGroups]yield

type yield struct {
	asked, accepted uint16
	least           float64 // log-odds of the accepted share; −∞ without accepted documents
}

// doubt is the number of rejected documents added to the counts of a group, so that one accepted
// document has limited weight.
const doubt = 2

// of returns the counts of a link's group.
func (y *yields) of(c *page.Candidate) *yield { return &y[c.Mark%len(y)] }

// add counts a judged document.
func (y *yields) add(c *page.Candidate, accepted bool) {
	n := y.of(c)
	if n.asked == math.MaxUint16 {
		return
	}
	n.asked++
	if accepted {
		n.accepted++
	}
	n.weigh()
}

// weigh updates least. It runs once per request, since each pick reads least for all waiting
// links.
func (n *yield) weigh() {
	n.least = math.Log(float64(n.accepted) / (float64(n.asked-n.accepted) + doubt))
}

// least returns the log-odds of the accepted share of a document's group: −∞ for a page and for a
// group without accepted documents.
func (y *yields) least(c *page.Candidate) float64 {
	n := y.of(c)
	if !c.Document || n.accepted == 0 {
		return math.Inf(-1)
	}
	return n.least
}

// encode writes six bytes for each group with requests: its mark and its counts.
func (y *yields) encode() (buf []byte) {
	for mark, n := range y {
		if n.asked > 0 {
			for _, v := range [3]uint16{uint16(mark), n.asked, n.accepted} {
				buf = binary.LittleEndian.AppendUint16(buf, v)
			}
		}
	}
	return buf
}

func decodeYields(buf []byte) (y yields) {
	le := binary.LittleEndian
	for ; len(buf) >= 6; buf = buf[6:] {
		asked := le.Uint16(buf[2:])
		n := &y[int(le.Uint16(buf))%len(y)]
		n.asked, n.accepted = asked, min(asked, le.Uint16(buf[4:]))
		n.weigh()
	}
	return y
}
