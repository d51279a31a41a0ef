package document

import "strings"

// titleGuess returns the lines of the largest letters in the upper part of the
// first page, joined: the title as it is printed, for most papers. It is ""
// where the layout is unknown. Running heads (one short line at the very top,
// arXiv stamps along the margin) are passed over.
func titleGuess(t *Text) string {
	best := -1
	for i, l := range t.First.Lines {
		if !titleLine(l, t.First) {
			continue
		}
		if best < 0 || l.Size > t.First.Lines[best].Size*1.04 {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	size := t.First.Lines[best].Size
	var parts []string
	for _, l := range t.First.Lines[best:] {
		if l.Size < size*0.93 || l.Size > size*1.07 || len(parts) == 5 {
			break
		}
		parts = append(parts, l.Text)
	}
	return strings.Join(parts, " ")
}

func titleLine(l Line, page Layout) bool {
	if page.Height > 0 && l.Y0 > page.Height*0.6 {
		return false
	}
	if l.X1-l.X0 < l.Y1-l.Y0 { // set upright: a stamp
		return false
	}
	return letters(l.Text) >= 4
}
