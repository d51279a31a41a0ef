package rank

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	"gleaner/internal/web/page"
)

// yields counts, for each group of documents (a link's mark), how many were asked
// for and how many of them accepted.
type yields [2 * maxGroups]yield

type yield struct {
	asked, accepted uint16
	least           float64 // the log-odds of the accepted ones' share, where there are any
}

// doubt is how many rejected documents are added to the counts of a group, so that one accepted
// document is not evidence enough for the rest.
const doubt = 2

// of is the group of a link.
func (y *yields) of(c *page.Candidate) *yield { return &y[c.Mark%len(y)] }

// add counts an answer.
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

// weigh is computed once a request, since each pick compares all waiting links with their
// groups.
func (n *yield) weigh() {
	n.least = math.Log(float64(n.accepted) / (float64(n.asked-n.accepted) + doubt))
}

// least is the log-odds of the share of a document's group that was accepted; that of
// a group which brought nothing is −∞, as is that of a page.
func (y *yields) least(c *page.Candidate) float64 {
	n := y.of(c)
	if !c.Document || n.accepted == 0 {
		return math.Inf(-1)
	}
	return n.least
}

// encode writes six bytes for each group with requests: its mark and its counts.
func (y *yields) encode() string {
	var buf []byte
	for mark, n := range y {
		if n.asked > 0 {
			for _, v := range [3]uint16{uint16(mark), n.asked, n.accepted} {
				buf = binary.LittleEndian.AppendUint16(buf, v)
			}
		}
	}
	return base64.StdEncoding.EncodeToString(buf)
}

func decodeYields(s string) (y yields, err error) {
	buf, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return y, fmt.Errorf("rank: restore %s: yields: %w", Gleaner, err)
	}
	le := binary.LittleEndian
	for ; len(buf) >= 6; buf = buf[6:] {
		asked := le.Uint16(buf[2:])
		n := &y[int(le.Uint16(buf))%len(y)]
		n.asked, n.accepted = asked, min(asked, le.Uint16(buf[4:]))
		n.weigh()
	}
	return y, nil
}
