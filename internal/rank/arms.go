package rank

import (
	"math"
	"strings"

	"gleaner/internal/text"
	"gleaner/internal/web/page"
)

// maxArms bounds the groups of like links on one site; what comes after shares
// the last.
const maxArms = 96

// armCosine is how alike two tag paths must be to be one group.
const armCosine = 0.75

// arms groups links by where they stand in the structure of their pages: the
// pairs of neighbours in the tag path, hashed into 2^12 buckets, and compared
// by cosine (sleeping bandits over DOM tag paths, arXiv 2602.11874). Each group
// is led by its first path, and a path goes to the first group that is like it:
// so a path belongs to the same group for ever, whatever comes later.
type arms struct {
	leaders []string
	vectors [][]uint16    // sorted buckets of each leader, with repetition
	known   map[place]int // a cache: it holds nothing that is not computed again the same
}

// place is where a link stands.
type place struct {
	source page.Source
	path   string
}

func newArms(leaders []string) *arms {
	a := &arms{known: map[place]int{}}
	for _, l := range leaders {
		a.leaders = append(a.leaders, l)
		a.vectors = append(a.vectors, pathVector(l))
	}
	return a
}

// of is the group of a link.
func (a *arms) of(l page.Link) int {
	at := place{l.Source, l.TagPath}
	if id, ok := a.known[at]; ok {
		return id
	}
	id := a.find(text.Head(string(l.Source)+">"+l.TagPath, 300))
	if len(a.known) >= 1<<14 {
		clear(a.known)
	}
	a.known[at] = id
	return id
}

func (a *arms) find(path string) int {
	v := pathVector(path)
	for i := range a.vectors {
		if cosine(v, a.vectors[i]) >= armCosine {
			return i
		}
	}
	if len(a.leaders) >= maxArms {
		return maxArms - 1
	}
	a.leaders = append(a.leaders, path)
	a.vectors = append(a.vectors, v)
	return len(a.leaders) - 1
}

// pathVector lists the buckets of a path's pairs of neighbouring steps, sorted.
func pathVector(path string) []uint16 {
	steps := strings.FieldsFunc(path, func(r rune) bool { return r == '>' || r == ' ' || r == '/' })
	out := make([]uint16, 0, len(steps)+1)
	prev := "^"
	for _, s := range append(steps, "$") {
		h := hashSeed
		for _, part := range [2]string{prev, s} {
			for i := 0; i < len(part); i++ {
				h = (h ^ uint32(part[i])) * hashPrime
			}
			h = (h ^ 0xff) * hashPrime
		}
		h ^= h >> 15
		b := uint16(h & (1<<12 - 1))
		at := len(out)
		for at > 0 && out[at-1] > b {
			at--
		}
		out = append(out, 0)
		copy(out[at+1:], out[at:])
		out[at] = b
		prev = s
	}
	return out
}

// cosine of two sorted multisets of buckets.
func cosine(a, b []uint16) float64 {
	dot, aa, bb := 0, 0, 0
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		var v uint16
		switch {
		case i >= len(a):
			v = b[j]
		case j >= len(b):
			v = a[i]
		default:
			v = min(a[i], b[j])
		}
		na, nb := 0, 0
		for i < len(a) && a[i] == v {
			i++
			na++
		}
		for j < len(b) && b[j] == v {
			j++
			nb++
		}
		dot, aa, bb = dot+na*nb, aa+na*na, bb+nb*nb
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(aa)*float64(bb))
}

// maxGroups bounds the groups that a site's links are kept apart in; what comes
// after shares the last.
const maxGroups = 160

// groups numbers the pairs of arm and directory (its numbers folded) in the order
// in which they are met. A number is a link's mark: the window of waiting links
// shows the best of each, so that a few hundred numbered pages cannot hide what
// stands elsewhere in the same list markup.
type groups struct {
	keys []uint32
	at   map[uint32]int
}

func (g *groups) of(arm int, raw string) int {
	a := splitAddress(raw)
	h := foldedHash(foldedHash((hashSeed^uint32(arm))*hashPrime, a.host), a.dir)
	if id, ok := g.at[h]; ok {
		return id
	}
	if len(g.keys) >= maxGroups {
		return maxGroups - 1
	}
	return g.add(h)
}

func (g *groups) add(h uint32) int {
	if g.at == nil {
		g.at = map[uint32]int{}
	}
	g.at[h] = len(g.keys)
	g.keys = append(g.keys, h)
	return len(g.keys) - 1
}
