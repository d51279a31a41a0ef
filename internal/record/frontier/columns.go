package frontier

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
	c.url = append(c.url, e.Link.URL)
	c.queue = append(c.queue, int16(e.Queue))
	c.mark = append(c.mark, int32(e.Mark))
	c.priority = append(c.priority, float32(e.Priority))
	c.depth = append(c.depth, int16(min(e.Depth, 32767)))
	c.role = append(c.role, int16(e.Role))
	c.wanted = append(c.wanted, float32(e.Wanted))
	c.position = append(c.position, int32(e.Link.Position))
	c.parent = append(c.parent, e.Parent)
	c.source = append(c.source, string(e.Link.Source))
	c.anchor = append(c.anchor, e.Link.Anchor)
	c.context = append(c.context, e.Link.Context)
	c.heading = append(c.heading, e.Link.Heading)
	c.tagPath = append(c.tagPath, e.Link.TagPath)
	state := Waiting
	if e.Skip != "" {
		state = Skipped
	}
	c.state = append(c.state, int16(state))
	c.outcome = append(c.outcome, string(e.Skip))
}
