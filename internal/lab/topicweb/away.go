package topicweb

import (
	"fmt"
	"math/rand/v2"

	"gleaner/internal/each"
)

// away are the pages of other hosts that a page links to. Pages of a topic link to
// those of its island; all others to pages off topic, and now and then to any host:
// that is how one comes from island to island.
func (w *Web) away(h, i int) (to [][2]int) {
	r := w.random(fmt.Sprintf("away %d %d", h, i))
	t := w.about(h, i)
	for k := range 3 {
		var other int
		switch {
		case t != offTopic && k < 2:
			near := w.near(t, h)
			other = near[r.IntN(len(near))]
		default:
			other = w.elsewhere(h, r, func() int { return r.IntN(w.opt.Hosts) })
		}
		to = w.linked(to, h, other, r)
	}
	return to
}

// elsewhere is a host beyond a page's topic: now and then one on the way to another island,
// or any where nothing lies between them, else one off topic, of those that choose deals.
func (w *Web) elsewhere(h int, r *rand.Rand, choose func() int) int {
	switch {
	case w.opt.Gap > 0 && r.IntN(4) == 0:
		return w.onward(h, r)
	case w.opt.Gap == 0 && r.IntN(20) == 0:
		return r.IntN(w.opt.Hosts)
	}
	for {
		if other := choose(); w.topicOf(other) == offTopic {
			return other
		}
	}
}

// linked adds a link to the root of another host or, as often, to any of its pages.
func (w *Web) linked(to [][2]int, h, other int, r *rand.Rand) [][2]int {
	at := 0
	if r.IntN(2) == 0 {
		at = r.IntN(w.size(other))
	}
	if other != h {
		to = append(to, [2]int{other, at})
	}
	return to
}

// near are the hosts of a topic that pages of a host link to: those of its island, for
// a host off topic all.
func (w *Web) near(t, h int) []int {
	return each.Where(w.of[t], func(o int) bool { return w.island(o) == w.island(h) || w.topicOf(h) == offTopic })
}

// stage is how far along the way from island to island a host off topic lies: one in
// five lies there, 1 to Gap; the others and those of a topic are at 0.
func (w *Web) stage(host int) int {
	if w.opt.Gap == 0 || w.topicOf(host) != offTopic || host%5 != 1 {
		return 0
	}
	return 1 + host/5%w.opt.Gap
}

// onward is a host one step farther along the way between islands: after the last
// step one of a topic, from a page beside the way its first.
func (w *Web) onward(host int, r *rand.Rand) int {
	next := w.stage(host) + 1
	for {
		switch other := r.IntN(w.opt.Hosts); {
		case next > w.opt.Gap && w.topicOf(other) != offTopic:
			return other
		case next <= w.opt.Gap && w.stage(other) == next:
			return other
		}
	}
}
