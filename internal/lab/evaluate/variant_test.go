package evaluate

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// variant is a site made from another by leaving links out or putting them in
// another order.
type variant struct {
	Site
	keep  func(l page.Link) bool
	order func([]page.Link)
}

// Get answers like the site, with the links of the variant.
func (v variant) Get(u string) (Answer, error) {
	a, err := v.Site.Get(u)
	if err != nil || a.Page == nil {
		return a, err
	}
	p := *a.Page
	p.Links = nil
	for _, l := range a.Page.Links {
		if v.keep == nil || v.keep(l) {
			p.Links = append(p.Links, l)
		}
	}
	if v.order != nil {
		v.order(p.Links)
		for i := range p.Links {
			p.Links[i].Position = i
		}
	}
	a.Page = &p
	return a, nil
}

// chance is a number in [0,1) that a seed and a word always give.
func chance(seed int, word string) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, word)
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// variants of one site: with a part of its documents, of its pages, of its papers,
// of its other documents, and with its lists shuffled or turned round.
func variants(name string, setup Setup, seeds int) []Named {
	var out []Named
	add := func(kind string, v variant) {
		v.Site = setup.Site
		s := setup
		s.Site = v
		out = append(out, Named{Name: name + ", " + kind, Setup: s})
	}
	document := func(l page.Link) bool { return weburl.IsDocumentName(l.URL) }
	paper := func(l page.Link) bool { return setup.Judge(l.URL) == Paper }
	add("turned round", variant{order: slices.Reverse[[]page.Link]})
	for seed := range seeds {
		roll := func(l page.Link) float64 { return chance(seed, weburl.Key(l.URL)) }
		add(fmt.Sprint("half its documents ", seed), variant{keep: func(l page.Link) bool { return !document(l) || roll(l) < 0.5 }})
		add(fmt.Sprint("two thirds of its pages ", seed), variant{keep: func(l page.Link) bool { return document(l) || roll(l) < 0.67 }})
		add(fmt.Sprint("a third of its papers ", seed), variant{keep: func(l page.Link) bool { return !paper(l) || roll(l) < 0.33 }})
		add(fmt.Sprint("a third of its other documents ", seed), variant{keep: func(l page.Link) bool { return paper(l) || !document(l) || roll(l) < 0.33 }})
		add(fmt.Sprint("shuffled ", seed), variant{order: func(ls []page.Link) {
			slices.SortStableFunc(ls, func(a, b page.Link) int { return cmp.Compare(roll(a), roll(b)) })
		}})
	}
	return out
}

// TestVariants measures on twenty-six variants of each host of one recording,
// with a prior that has not seen the host: nine sites are few to judge by, and what is
// true of one by chance is not of its variants.
func TestVariants(t *testing.T) {
	t.Parallel()
	sites, _, priors := leaveOut(t)
	all := savings{}
	for _, s := range sites {
		if s.from != recordings[0] {
			continue
		}
		one := savings{}
		for _, v := range variants(s.host, s.setup, 5) {
			c, _, err := Compare(v.Name, v.Setup, []string{rank.Zhuang, rank.Gleaner}, rank.Options{Prior: priors[s.host]})
			require.NoError(t, err)
			one.add(c)
			all.add(c)
		}
		if one[rank.Gleaner] != nil {
			t.Logf("%-26s %s", s.host, one[rank.Gleaner])
		}
	}
	t.Logf("%-26s %s", rank.Zhuang, all[rank.Zhuang])
	t.Logf("%-26s %s", rank.Gleaner, all[rank.Gleaner])
	for i, least := range [...]float64{0.80, 0.75} {
		g := all[rank.Gleaner]
		for _, b := range g.behind(i) {
			t.Log("behind: " + b)
		}
		require.GreaterOrEqual(t, median(g.values[i]), least)
		require.LessOrEqual(t, len(g.behind(i)), len(g.values[i])/50)
	}
}
