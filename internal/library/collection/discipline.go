package collection

import (
	"fmt"
	"slices"

	"gleaner/internal/classify"
	"gleaner/internal/document"
)

// filtered is what the filter says of a text and, of an academic one, whether it is of a
// discipline that is collected. A wanted paper is kept whatever either says.
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

// outcome is how a document was read, or that it is of another discipline.
func outcome(t *document.Text, j document.Judgement) string {
	if j.Elsewhere {
		return string(document.OtherDiscipline)
	}
	return string(t.Outcome)
}
