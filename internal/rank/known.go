package rank

import (
	"math"
	"slices"
)

// known is what is computed once for a waiting link. Its features fall into
// three runs: what can be said of a link on any site, what it shares with its like
// on this one, and what is its own. The first two are the same for many links, so
// that what a model makes of them is added up once for all of these.
type known struct {
	features []feature // all of them
	twin     []feature // the same, for when it turns out to be a twin
	shared   *block
	like     *block
	own      []feature
	ownTwin  []feature
	stem     uint32
	pattern  uint16
	depth    int     // of the candidate when it was computed
	wanted   float64 // and this
	checked  int     // version of the twins at which isTwin was found
	isTwin   bool
}

// block is a run of features that many links have.
type block struct {
	features     []feature
	version      int // of the model at which the sums were made
	mean, spread float32
}

// sums of the block under a model, made anew when the model has learnt.
func (b *block) sums(m *model) (mean, spread float32) {
	if b.version != m.version {
		b.mean, b.spread = m.sums(b.features)
		b.version = m.version
	}
	return b.mean, b.spread
}

// maxKnown bounds the links of which it is kept.
const maxKnown = 1 << 14

// memory is what is known of waiting links. It holds nothing that is not computed
// again the same.
type memory struct {
	links  map[int64]*known
	blocks map[uint64]*block
	slots  []slot // of the waiting links at the last pick
}

// slot saves looking a link up that stands where it stood at the last pick.
type slot struct {
	id    int64
	known *known
}

func newMemory() memory {
	return memory{links: map[int64]*known{}, blocks: map[uint64]*block{}}
}

// fits says whether what is known of a link still holds: one that is met again
// may come closer to a seed or to a wanted title.
func (k *known) fits(c *Candidate) bool {
	return k != nil && k.depth == c.Depth && k.wanted == c.Wanted
}

func (y *memory) keep(id int64, k *known) {
	if len(y.links) >= maxKnown {
		*y = newMemory()
	}
	y.links[id] = k
}

// block finds or makes the one of a run of features. A page and a document never
// share one, since each has a model of its own.
func (y *memory) block(fs []feature, document bool) *block {
	h := uint64(14695981039346656037)
	if document {
		h++
	}
	for _, f := range fs {
		h = (h ^ uint64(f.index)<<32 ^ uint64(math.Float32bits(f.value))) * 1099511628211
		h ^= h >> 29
	}
	if b := y.blocks[h]; b != nil && slices.Equal(b.features, fs) {
		return b
	}
	b := &block{features: fs}
	y.blocks[h] = b
	return b
}

// know takes a candidate's features; those that never change are kept while it
// waits. A link that enters may have no place in the order of discovery yet (ID
// 0).
func (g *gleaner) know(c *Candidate) *known {
	if k := g.memory.links[c.ID]; k.fits(c) {
		return k
	}
	k := &known{depth: c.Depth, wanted: c.Wanted, pattern: patternOf(c.Link.URL), checked: -1}
	fs, like, own := g.x.extract(c, g.arms.of(c.Link), g.scratch[:0])
	fs = append(fs, feature{traitTwin, 1})
	g.scratch = fs
	if c.Document {
		k.stem = stemHash(c.Link.URL)
	}
	if c.ID != 0 {
		fs = slices.Clone(fs)
	}
	n := len(fs) - 1
	k.twin, k.features = fs, fs[:n:n]
	if c.ID != 0 {
		k.own, k.ownTwin = fs[own:n:n], fs[own:]
		k.shared, k.like = g.memory.block(fs[:like:like], c.Document), g.memory.block(fs[like:own:own], c.Document)
		g.memory.keep(c.ID, k)
	}
	return k
}

// knowAt is know for the waiting link at a place in the window.
func (g *gleaner) knowAt(i int, c *Candidate) *known {
	for len(g.memory.slots) <= i {
		g.memory.slots = append(g.memory.slots, slot{})
	}
	if s := &g.memory.slots[i]; s.id == c.ID && s.id != 0 && s.known.fits(c) {
		return s.known
	}
	k := g.know(c)
	g.memory.slots[i] = slot{c.ID, k}
	return k
}

// isTwin says whether the same document was accepted in another format.
func (g *gleaner) isTwin(k *known) bool {
	if k.stem == 0 {
		return false
	}
	if k.checked != g.twins.version {
		k.checked, k.isTwin = g.twins.version, g.twins.has(k.stem)
	}
	return k.isTwin
}

// features of a candidate as things are now.
func (g *gleaner) features(c *Candidate) []feature {
	k := g.know(c)
	if g.isTwin(k) {
		return k.twin
	}
	return k.features
}

// predict is the log-odds of a waiting link and their variance, as its model's of
// all its features.
func (g *gleaner) predict(c *Candidate, k *known) (logit, variance float64) {
	m, own := g.model(c), k.own
	if g.isTwin(k) {
		own = k.ownTwin
	}
	if k.shared == nil {
		return m.predict(g.features(c))
	}
	mean, spread := k.shared.sums(m)
	mean2, spread2 := k.like.sums(m)
	mean3, spread3 := m.sums(own)
	return float64(mean + mean2 + mean3), float64(spread + spread2 + spread3)
}
