package match

import "slices"

// alignment is the position of a title in a text, and the edits between them.
type alignment struct {
	start, end int // letters of the text matched to the title: [start, end)
	edits      int
	ops        []op // in title order
}

// op is one edit at letter i of the title and letter j of the text.
type op struct {
	kind opKind
	i, j int
}

type opKind byte

const (
	substitute opKind = iota
	insert            // the text has an extra letter
	remove            // the text lacks a letter
)

// aligner holds the matrix, which is reused for each candidate, and the bit vectors of fewest for
// each 64 letters of a title.
type aligner struct {
	cost   []uint16
	blocks [][256]uint64 // by letter, the bits of its places in the title
	up     []uint64      // rows that cost one more than the row above
	down   []uint64      // rows that cost one less
}

// partOf returns the part of a text between bounds that may be outside it, and its start.
func partOf(text []byte, lo, hi int) (part []byte, from int) {
	lo = min(max(lo, 0), len(text))
	return text[lo:max(lo, min(hi, len(text)))], lo
}

// fewest returns the number of edits of align, at a twentieth of its time: 64 rows of the matrix
// at once (Myers 1999, section 4; Hyyrö 2003, figure 8).
func (a *aligner) fewest(title, text []byte, lo, hi int) int {
	part, _ := partOf(text, lo, hi)
	n := (len(title) + 63) / 64
	for len(a.blocks) < n {
		a.blocks, a.up, a.down = append(a.blocks, [256]uint64{}), append(a.up, 0), append(a.down, 0)
	}
	for b := range n {
		a.up[b], a.down[b] = ^uint64(0), 0
	}
	for i, c := range title {
		a.blocks[i/64][c] |= 1 << (i % 64)
	}
	score, best := len(title), len(title)
	for _, c := range part {
		var above, below uint64 // whether the row above costs one more, or less, than at the letter before
		for b := range n {
			last := uint64(1) << 63
			if b == n-1 {
				last = 1 << ((len(title) - 1) % 64)
			}
			same := a.blocks[b][c]
			v := same | a.down[b]
			same |= below
			h := (same&a.up[b] + a.up[b]) ^ a.up[b] | same
			more, less := a.down[b]|^(h|a.up[b]), a.up[b]&h
			nextAbove, nextBelow := more&last, less&last
			more, less = more<<1|above, less<<1|below
			a.up[b], a.down[b] = less|^(v|more), more&v
			above, below = min(nextAbove, 1), min(nextBelow, 1)
		}
		score += int(above) - int(below)
		best = min(best, score)
	}
	for i, c := range title {
		a.blocks[i/64][c] = 0
	}
	return best
}

// align finds the position of title in text[lo:hi] with the fewest edits; text before and behind
// it is free (Sellers 1980). Of equal positions it returns the first. Above limit edits it
// returns limit+1 edits and no position. Both bounds may be outside the text, since the text may
// hold only the end of a title.
func (a *aligner) align(title, text []byte, lo, hi, limit int) alignment {
	window, lo := partOf(text, lo, hi)
	m, n := len(title), len(window)
	w := n + 1
	if cap(a.cost) < (m+1)*w {
		a.cost = make([]uint16, (m+1)*w)
	}
	c := a.cost[:(m+1)*w]
	clear(c[:w])
	for i := 1; i <= m; i++ {
		row, prev := c[i*w:(i+1)*w], c[(i-1)*w:i*w]
		row[0] = uint16(i)
		t, least := title[i-1], uint16(i)
		for j := 1; j <= n; j++ {
			v := prev[j-1]
			if t != window[j-1] {
				v++
			}
			v = min(v, prev[j]+1, row[j-1]+1)
			row[j] = v
			least = min(least, v)
		}
		if int(least) > limit { // later rows never cost less
			return alignment{edits: limit + 1}
		}
	}
	last := c[m*w : (m+1)*w]
	fewest := slices.Min(last)
	if int(fewest) > limit {
		return alignment{edits: limit + 1}
	}
	return a.trace(c, title, window, lo, slices.Index(last, fewest))
}

// trace follows the matrix back from column j of the last row.
func (a *aligner) trace(c []uint16, title, window []byte, lo, j int) alignment {
	m, w := len(title), len(window)+1
	out := alignment{end: lo + j, edits: int(c[m*w+j])}
	i := m
	for i > 0 {
		v := c[i*w+j]
		switch {
		case j > 0 && title[i-1] == window[j-1] && v == c[(i-1)*w+j-1]:
			i, j = i-1, j-1
		case j > 0 && title[i-1] != window[j-1] && v == c[(i-1)*w+j-1]+1:
			i, j = i-1, j-1
			out.ops = append(out.ops, op{substitute, i, lo + j})
		case v == c[(i-1)*w+j]+1:
			i--
			out.ops = append(out.ops, op{remove, i, lo + j})
		default:
			j--
			out.ops = append(out.ops, op{insert, i, lo + j})
		}
	}
	out.start = lo + j
	slices.Reverse(out.ops)
	return out
}
