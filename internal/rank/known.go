package rank

import (
	"math"
	"slices"

	"gleaner/internal/web/page"
)

// known holds the features of a waiting link, in three runs: those that mean the same on every
// site, those of similar links on this site, and those of this link. Many links share the first
// two, so a model sums them once for all of them.
type known struct {
	// Values for this version of the model; version 0 means none.
	version int
	promise float64 // its log-odds, with the bonus for uncertainty
	risen   float64 // model.risen at that version

	most    float64 // greatest increase of its log-odds if one weight rises by 1
	wanted  float64 // of the candidate when it was computed
	depth   int     // likewise
	pattern uint16

	features []feature // all of them
	shared   *block
	like     *block
	own      []feature
}

// block is a run of features shared by many links.
type block struct {
	features     []feature
	version      int // of the model, for which the sums hold
	mean, spread float32
}

// sums returns the sums of the block under a model. It recomputes them after the model has
// learnt.
func (b *block) sums(m *model) (mean, spread float32) {
	if b.version != m.version {
		b.mean, b.spread = m.sums(b.features)
		b.version = m.version
	}
	return b.mean, b.spread
}

// maxKnown is the maximum number of links and of blocks in memory.
const maxKnown = 1 << 14

// memory caches the features of waiting links. Every entry can be recomputed.
type memory struct {
	links  map[int64]*known
	blocks map[uint64]*block
	slots  []slot             // of the waiting links at the last pick
	fresh  map[string]entered // by address, links that entered and have no ID yet
}

// entered is a link at the time of its entry.
type entered struct {
	candidate page.Candidate
	known     *known
}

// maxFresh is the maximum number of links without an ID in memory.
const maxFresh = 1 << 10

// slot avoids a lookup for a link at the same index of the window as in the last pick.
type slot struct {
	id    int64
	known *known
}

func newMemory() memory {
	return memory{links: map[int64]*known{}, blocks: map[uint64]*block{}, fresh: map[string]entered{}}
}

// fits reports whether the cached values still hold. A link that is found again may be closer to
// a seed or to a wanted title.
func (k *known) fits(c *page.Candidate) bool {
	return k != nil && k.depth == c.Depth && k.wanted == c.Wanted
}

// block returns the shared block of a run of features. Pages and documents never share one, since
// each has its own model.
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
	if len(y.blocks) >= maxKnown { // waiting links hold pointers to theirs
		clear(y.blocks)
	}
	y.blocks[h] = b
	return b
}

// know returns the features of a candidate, cached while it waits. A link that enters may have no
// ID yet (0).
func (g *gleaner) know(c *page.Candidate) *known {
	y := &g.memory
	if c.ID == 0 {
		k := g.compute(c)
		if len(y.fresh) >= maxFresh {
			clear(y.fresh)
		}
		y.fresh[c.Link.URL] = entered{*c, k}
		return k
	}
	if k := y.links[c.ID]; k.fits(c) {
		return k
	}
	e := y.fresh[c.Link.URL]
	delete(y.fresh, c.Link.URL)
	was, k := e.candidate, e.known
	was.ID, was.Queue, was.Priority = c.ID, c.Queue, c.Priority // not used by the features
	if was != *c {
		k = g.compute(c)
	}
	y.links[c.ID] = k
	return k
}

// compute computes the features of a candidate.
func (g *gleaner) compute(c *page.Candidate) *known {
	k := &known{depth: c.Depth, wanted: c.Wanted, pattern: patternOf(c.Link.URL)}
	fs, like, own := g.x.extract(c, g.arms.of(c.Link), g.scratch[:0])
	g.scratch = fs
	fs = slices.Clone(fs)
	k.features, k.own, k.most = fs, fs[own:], heaviest(fs[like:])
	k.shared, k.like = g.memory.block(fs[:like:like], c.Document), g.memory.block(fs[like:own:own], c.Document)
	return k
}

// heaviest returns the greatest sum of values for one weight, at least 1: features with the same
// hash add up.
func heaviest(fs []feature) float64 {
	most := float32(1)
	for i, f := range fs {
		sum := f.value
		for _, e := range fs[i+1:] {
			if e.index == f.index {
				sum += e.value
			}
		}
		most = max(most, sum)
	}
	return float64(most)
}

// knowAt is know for waiting link i.
func (g *gleaner) knowAt(i int, c *page.Candidate) *known {
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

// features returns the present features of a candidate.
func (g *gleaner) features(c *page.Candidate) []feature { return g.know(c).features }

// slack is greater than the rounding error of the sums in a bound.
const slack = 1e-4

// bound returns an upper bound of the promise without computing it: the last promise plus the
// rise of the weights since. Variances only shrink.
func (k *known) bound(m *model) float64 {
	switch k.version {
	case m.version:
		return k.promise
	case 0:
		return math.Inf(1)
	}
	return k.promise + k.most*(m.risen-k.risen) + slack
}

// judge updates the promise of a waiting link.
func (g *gleaner) judge(k *known, m *model) {
	if k.version == m.version {
		return
	}
	mean, spread := m.sums(k.own)
	for _, b := range [...]*block{k.shared, k.like} {
		mean2, spread2 := b.sums(m)
		mean, spread = mean+mean2, spread+spread2
	}
	k.promise = float64(mean) + g.tune.Optimism*math.Sqrt(float64(spread))
	k.version, k.risen = m.version, m.risen
}
