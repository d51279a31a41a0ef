package collection

import (
	"fmt"
	"slices"

	"gleaner/internal/classify"
	"gleaner/internal/document"
)

// filtered returns the filter's judgement of a text, and for an academic one checks its
// discipline. Wanted papers are stored in any case.
func (c *Collection) filtered(t *document.Text, h document.Hints) document.Judgement {
	j := c.filter.Judge(t, h)
	if !j.Academic || c.of == nil {
		return j
	}
	name, sure := c.of.Best(t.Title, t.String())
	if sure >= classify.Sure {
		j.Reasons = append(j.Reasons, fmt.Sprintf("discipline %s (%.2f)", name, sure))
		return j
	}
	why := string(document.OtherDiscipline)
	if name != "" {
		why = fmt.Sprintf("%s: %s at most (%.2f)", document.OtherDiscipline, name, sure)
	}
	j.Academic, j.Elsewhere, j.Reasons = false, true, slices.Insert(j.Reasons, 0, why)
	return j
}

// outcome returns how a document was read, or that its discipline is not collected.
func outcome(t *document.Text, j document.Judgement) string {
	if j.Elsewhere {
		return string(document.OtherDiscipline)
	}
	return string(t.Outcome)
}
