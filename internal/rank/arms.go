package rank

import (
	"math"
	"strings"

	"gleaner/internal/text"
	"gleaner/internal/web/page"
)

// maxArms is the maximum number of groups of similar links on one site. Later groups share the
// last.
const maxArms = 96

// armCosine is the least cosine of two tag paths of one group.
const armCosine = 0.75

// arms groups links by their place in the structure of their pages. The pairs of neighbours in
// the tag path are hashed into 2^12 buckets and compared by cosine (sleeping bandits over DOM tag
// paths, arXiv 2602.11874). The first path of a group is its leader, and a path joins the first
// group whose leader is similar. So the group of a path never changes.
type arms struct {
	leaders []string
	vectors [][]uint16    // sorted buckets of each leader, with repetition
	known   map[place]int // cache; every entry can be recomputed
}

// place is the position of a link in the structure of a page.
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

// of returns the group of a link.
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

// pathVector returns the sorted buckets of the pairs of neighbouring steps of a path.
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

// cosine returns the cosine of two sorted multisets of buckets.
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

// maxGroups is the maximum number of groups of a site's links. Later groups share the last.
const maxGroups = 160

// groups numbers the pairs of arm and directory (with its numbers folded) in the order of
// discovery. The number is the mark of a link. The window of waiting links holds the best links
// of each mark, so that hundreds of numbered pages cannot hide other links in the same list
// markup.
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
