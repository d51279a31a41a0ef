package rank

import (
	"math"
	"slices"

	"gleaner/internal/web/page"
)

// known is what is kept of a waiting link. Its features fall into three runs:
// what can be said of a link on any site, what it shares with its like on this
// one, and what is its own. The first two are the same for many links, so that
// what a model makes of them is added up once for all of these.
type known struct {
	// As the link was when its model was at a version. A version of 0 is none.
	version int
	promise float64 // its log-odds, with the benefit of the doubt
	risen   float64 // how far the model's weights had risen

	most    float64 // the most that the rise of one weight by 1 can add to its log-odds
	wanted  float64 // of the candidate when it was computed
	depth   int     // and this
	pattern uint16

	features []feature // all of them
	shared   *block
	like     *block
	own      []feature
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
	slots  []slot             // of the waiting links at the last pick
	fresh  map[string]entered // by address, the links that entered and have no ID yet
}

// entered is a link as it entered.
type entered struct {
	candidate page.Candidate
	known     *known
}

// maxFresh bounds the links that are kept until they have an ID.
const maxFresh = 1 << 10

// slot saves looking a link up that stands where it stood at the last pick.
type slot struct {
	id    int64
	known *known
}

func newMemory() memory {
	return memory{links: map[int64]*known{}, blocks: map[uint64]*block{}, fresh: map[string]entered{}}
}

// fits says whether what is known of a link still holds: one that is met again
// may come closer to a seed or to a wanted title.
func (k *known) fits(c *page.Candidate) bool {
	return k != nil && k.depth == c.Depth && k.wanted == c.Wanted
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
	if len(y.blocks) >= maxKnown { // links that wait keep theirs
		clear(y.blocks)
	}
	y.blocks[h] = b
	return b
}

// know takes a candidate's features, which are kept while it waits. A link that
// enters may have no place in the order of discovery yet (ID 0).
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
	was.ID, was.Queue, was.Priority = c.ID, c.Queue, c.Priority // which say nothing of it
	if was != *c {
		k = g.compute(c)
	}
	y.links[c.ID] = k
	return k
}

// compute finds out what there is to know of a candidate.
func (g *gleaner) compute(c *page.Candidate) *known {
	k := &known{depth: c.Depth, wanted: c.Wanted, pattern: patternOf(c.Link.URL)}
	fs, like, own := g.x.extract(c, g.arms.of(c.Link), g.scratch[:0])
	g.scratch = fs
	fs = slices.Clone(fs)
	k.features, k.own, k.most = fs, fs[own:], heaviest(fs[like:])
	k.shared, k.like = g.memory.block(fs[:like:like], c.Document), g.memory.block(fs[like:own:own], c.Document)
	return k
}

// heaviest is the greatest value that features give to one weight, at least 1:
// the same word twice, or two of the same hash, add up.
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

// knowAt is know for the waiting link at a place in the window.
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

// features of a candidate as things are now.
func (g *gleaner) features(c *page.Candidate) []feature { return g.know(c).features }

// slack is more than the rounding of sums can make of a bound.
const slack = 1e-4

// bound is a promise that a link certainly does not exceed, at no cost: its last
// one, and as much as the weights have risen since. Variances only shrink.
func (k *known) bound(m *model) float64 {
	switch k.version {
	case m.version:
		return k.promise
	case 0:
		return math.Inf(1)
	}
	return k.promise + k.most*(m.risen-k.risen) + slack
}

// judge brings up to date what is known of a waiting link.
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
