package frontier

import (
	"strings"
	"unicode/utf8"
)

// columns are entries turned on their side, as unnest wants them.
type columns struct {
	hash                                                            [][]byte
	url, parent, source, anchor, context, heading, tagPath, outcome []string
	queue, depth, role, state                                       []int16
	mark, position                                                  []int32
	priority, wanted                                                []float32
}

func (c *columns) append(e *Entry) {
	h := e.Hash()
	c.hash = append(c.hash, h[:])
	c.url = append(c.url, storable(e.Link.URL))
	c.queue = append(c.queue, int16(e.Queue))
	c.mark = append(c.mark, int32(e.Mark))
	c.priority = append(c.priority, float32(e.Priority))
	c.depth = append(c.depth, int16(min(e.Depth, 32767)))
	c.role = append(c.role, int16(e.Role))
	c.wanted = append(c.wanted, float32(e.Wanted))
	c.position = append(c.position, int32(e.Link.Position))
	c.parent = append(c.parent, storable(e.Parent))
	c.source = append(c.source, string(e.Link.Source))
	c.anchor = append(c.anchor, storable(e.Link.Anchor))
	c.context = append(c.context, storable(e.Link.Context))
	c.heading = append(c.heading, storable(e.Link.Heading))
	c.tagPath = append(c.tagPath, storable(e.Link.TagPath))
	state := Waiting
	if e.Skip != "" {
		state = Skipped
	}
	c.state = append(c.state, int16(state))
	c.outcome = append(c.outcome, string(e.Skip))
}

// storable drops what a text column cannot hold: one bad byte of one header or
// anchor would fail the whole batch.
func storable(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}
