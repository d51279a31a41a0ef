package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gleaner/internal/web/page"
)

// tuning are gleaner's constants. They are few, and were chosen by what sites
// reached whose links the prior had not been trained on; so figures on those
// very sites are a little too good, and only sites kept aside judge fairly.
type tuning struct {
	PriorVariance float64 // how fast the shared weights move on a site
	SiteVariance  float64 // how fast the site's own do
	Optimism      float64 // standard deviations (in log-odds) added to what is uncertain
	Novelty       float64 // log-odds added, for a share of exploration, to a link whose like was never tried
	Deeper        float64 // worth of a page one hop further, in (0,1)
	Sure          float64 // a pick that promises more than this is never given to exploration
	Explore       int     // of so many other picks, one goes to the oldest link and one to the least tried kind
	Grain         float64 // documents of one group on one page whose promises (in log-odds) differ by less go in the order of the page
	GroupGrain    float64 // and so do those of different groups on one page
	Floor         float64 // a document promises no less than its group's share of accepted ones, less so much (in log-odds)
	Verdict       float64 // how much what a page's documents turned out to be counts beside what they seemed, in (0,1)
	Failure       float64 // how much a request without an answer counts as evidence, in (0,1)
}

func tuned() tuning {
	return tuning{PriorVariance: 0.08, SiteVariance: 0.6, Optimism: 1, Novelty: 5, Grain: 1, GroupGrain: 0.75, Deeper: 0.7, Sure: 0.06, Explore: 3, Floor: 0.5, Verdict: 0.5, Failure: 0.1}
}

// gleaner learns on the site which links pay. Two online models, one for
// documents (is it a paper) and one for pages (how many papers per request does
// it lead to), start from a prior that all sites share and add what is
// particular to this one: groups of links by tag path, directories, words and
// shapes of names, headings, the page on which a link stands. Both speak the
// same unit, papers per request, so that documents and pages compete in one
// order. Uncertain links are given the benefit of the doubt, and a share of the
// picks that promise little goes to the link that has waited longest: so every
// link has its turn, and the tail is not lost.
type gleaner struct {
	tune     tuning
	x        *extractor
	prior    [2][]float32 // pages, documents
	arms     *arms
	groups   groups
	pages    *model
	docs     *model
	picks    int // uncertain picks so far, for the share of exploration
	pending  *pendingPage
	children map[string]*offspring
	path     ancestry
	tries    [patterns]uint16 // requests by pattern of the address
	yields   yields
	memory   memory
	scratch  []feature
	bounds   []float64 // of the promises of the waiting links at the present pick; scratch
}

// pendingPage is a page whose links may still be entering.
type pendingPage struct {
	asked, came string // the link's address and the page's, which a redirect tells apart
	parent      string
	features    []feature
}

// offspring is what entered from one page.
type offspring struct {
	documents []float64 // their chances, as seen when they entered
	best      float64   // value of the best page among them
}

// newGleaner makes one of complete options.
func newGleaner(opts Options) *gleaner {
	g := &gleaner{tune: tuned(), x: opts.x}
	names := g.x.named
	g.prior = [2][]float32{weights(opts.Prior.Page, names), weights(opts.Prior.Document, names)}
	g.reset()
	return g
}

func (g *gleaner) reset() {
	t := g.tune
	g.arms, g.groups = newArms(nil), groups{}
	g.pages = newModel(g.prior[0], t.PriorVariance, t.SiteVariance)
	g.docs = newModel(g.prior[1], t.PriorVariance, t.SiteVariance)
	g.picks, g.pending, g.path, g.tries = 0, nil, ancestry{}, [patterns]uint16{}
	g.yields = yields{}
	g.children, g.memory = map[string]*offspring{}, newMemory()
}

func (g *gleaner) Name() string { return Gleaner }

// Enter gives a link its group and what it is worth as far as is known now. All
// links are in one queue; groups keep documents and pages apart, so that in the
// window of the waiting links neither hides the other.
func (g *gleaner) Enter(c *page.Candidate) {
	c.Queue = 0
	c.Mark = 2 * g.groups.of(g.arms.of(c.Link), c.Link.URL)
	if c.Document {
		c.Mark++
	}
	fs := g.features(c)
	value := g.value(c, fs)
	c.Priority = value
	if c.Parent != "" {
		o := g.children[c.Parent]
		if o == nil {
			o = &offspring{}
			g.children[c.Parent] = o
		}
		if c.Document {
			o.documents = append(o.documents, value)
		} else {
			o.best = math.Max(o.best, value)
		}
	}
}

func (g *gleaner) model(c *page.Candidate) *model {
	if c.Document {
		return g.docs
	}
	return g.pages
}

// value is what a request for the candidate is expected to bring, in papers per
// request, without the benefit of the doubt.
func (g *gleaner) value(c *page.Candidate, fs []feature) float64 {
	logit, _ := g.model(c).predict(fs)
	return sigmoid(logit)
}

// Next takes the link of most promise; of equals the one found first.
func (g *gleaner) Next(waiting []page.Candidate) (int, string) {
	g.settle()
	if len(g.memory.links) >= maxKnown {
		g.memory = newMemory()
	}
	g.bounds = g.bounds[:0]
	for i := range waiting {
		c := &waiting[i]
		g.bounds = append(g.bounds, math.Max(g.knowAt(i, c).bound(g.model(c)), g.floor(c)))
	}
	best := g.most(waiting, func(*known) float64 { return 0 })
	top := sigmoid(g.bounds[best])
	best = g.inPageOrder(waiting, best)
	if top < g.tune.Sure {
		g.picks++
		if i, why := g.exploration(waiting); why != "" {
			return i, fmt.Sprintf("exploration: %s, and the best promised only %.2f", why, top)
		}
	}
	return best, g.explain(&waiting[best])
}

// most is the waiting link of which promise and extra are the greatest together.
// It begins with the one that might be, so that few promises have to be found out.
func (g *gleaner) most(waiting []page.Candidate, extra func(*known) float64) int {
	best, top := 0, math.Inf(-1)
	for i := range waiting {
		if b := g.bounds[i] + extra(g.memory.slots[i].known); b > top {
			best, top = i, b
		}
	}
	top = g.promise(waiting, best) + extra(g.memory.slots[best].known)
	for i := range waiting {
		more := extra(g.memory.slots[i].known)
		if g.bounds[i]+more < top || i == best {
			continue
		}
		if v := g.promise(waiting, i) + more; v > top || v == top && waiting[i].ID < waiting[best].ID {
			best, top = i, v
		}
	}
	return best
}

// promise is what the waiting link at a place promises: its log-odds, with the
// benefit of the doubt. Its bound is exact from then on.
func (g *gleaner) promise(waiting []page.Candidate, i int) float64 {
	k := g.memory.slots[i].known
	g.judge(k, g.model(&waiting[i]))
	g.bounds[i] = math.Max(k.promise, g.floor(&waiting[i]))
	return g.bounds[i]
}

// floor is the least that a waiting document promises: a little less than the share of
// its group that was accepted. What the model has learnt of a run of rejected ones, by
// all the features that they share, would make it forget the accepted ones before.
func (g *gleaner) floor(c *page.Candidate) float64 { return g.yields.least(c) - g.tune.Floor }

// exploration takes, at its turn, the link that has waited longest, so that none
// waits for ever, or the one of which least is known.
func (g *gleaner) exploration(waiting []page.Candidate) (index int, why string) {
	switch g.picks % g.tune.Explore {
	case 0:
		return oldest(waiting), "it has waited longest"
	case g.tune.Explore / 2:
		return g.most(waiting, func(k *known) float64 {
			return g.tune.Novelty / math.Sqrt(1+float64(g.tries[k.pattern]))
		}), "its like was hardly tried"
	}
	return 0, ""
}

// inPageOrder gives way to the first link of the same page that promises nearly
// as much as the best. What the words around two links of one list say of the
// difference between them is mostly noise, and an author's own order is better
// than noise: it is the order of breadth-first, which so is never lost by chance.
func (g *gleaner) inPageOrder(waiting []page.Candidate, best int) int {
	b, top := &waiting[best], g.bounds[best]
	if !b.Document {
		return best
	}
	first := best
	for i := range waiting {
		c := &waiting[i]
		if !c.Document || c.ID >= waiting[first].ID || c.Parent != b.Parent {
			continue
		}
		grain := g.tune.Grain
		if c.Mark != b.Mark {
			grain = g.tune.GroupGrain
		}
		if g.bounds[i] >= top-grain && g.promise(waiting, i) >= top-grain {
			first = i
		}
	}
	return first
}

// settle lets the page model learn from the last page, once its links are in.
func (g *gleaner) settle() {
	if g.pending == nil {
		return
	}
	p := g.pending
	g.pending = nil
	o := g.children[p.asked]
	if o == nil {
		o = g.children[p.came]
	}
	worth := g.worth(o)
	g.pages.learn(p.features, worth, 1)
	g.path.add(ancestor{asked: hashOf(p.asked), came: hashOf(p.came), parent: hashOf(p.parent), worth: float32(worth), features: p.features})
	g.credit(hashOf(p.parent), worth)
	delete(g.children, p.asked)
	delete(g.children, p.came)
	if len(g.children) > remembered {
		clear(g.children)
	}
}

// credit tells the pages on the way to a worthy page that they led to it: what
// they seemed worth when they were read was only what their links promised.
func (g *gleaner) credit(at uint32, worth float64) {
	for range maxCredit {
		a := g.path.find(at)
		worth *= g.tune.Deeper
		if a == nil || worth < float64(a.worth)+news {
			return
		}
		a.worth, a.credited = float32(worth), true
		g.pages.learn(a.features, worth, 1)
		at = a.parent
	}
}

// maxCredit is how many hops up a page's worth is told.
const maxCredit = 4

// news is how far the worth of a page has to be from what was learnt of it, so that it
// is learnt again.
const news = 0.05

// unwantedWorth is what an accepted document is worth in a crawl for papers of which it is
// none: where it stood they may stand.
const unwantedWorth = 0.5

// enough is how many of a page's documents are judged before their share is believed
// where it is less than they promised.
const enough = 3

// verdict tells the page on which a document stands what its documents have turned out
// to be, where that is better than they seemed, or worse after enough of them, unless
// pages below it are what it is worth: so that the pages like it, a course for each year
// or a project for each paper, are judged by what came of this one.
func (g *gleaner) verdict(c *page.Candidate, accepted bool) {
	a := g.path.find(hashOf(c.Parent))
	if a == nil {
		return
	}
	a.count(accepted)
	worth, was := a.yield(), float64(a.worth)
	if accepted && worth > was+news || !a.credited && a.judged >= enough && worth < was-news {
		a.worth = float32(worth)
		g.pages.learn(a.features, worth, g.tune.Verdict)
		g.credit(a.parent, worth)
	}
}

// worth is the yield of a page per request, itself included: its best documents
// as they were expected when they entered, or what a page further on promised.
func (g *gleaner) worth(o *offspring) float64 {
	if o == nil {
		return 0
	}
	slices.SortFunc(o.documents, func(a, b float64) int { return cmp.Compare(b, a) })
	best, sum := g.tune.Deeper*o.best, 0.0
	for i, p := range o.documents {
		sum += p
		best = math.Max(best, sum/float64(i+2))
	}
	return best
}

// Observe learns whether a document was a paper at once, and what a page was
// worth when its links have entered.
func (g *gleaner) Observe(c page.Candidate, r Result) {
	fs := g.features(&c)
	if n := &g.tries[g.know(&c).pattern]; *n < math.MaxUint16 {
		*n++
	}
	delete(g.memory.links, c.ID)
	if c.Document && r.Document {
		g.yields.add(&c, r.Accepted)
		g.verdict(&c, r.Accepted)
	}
	switch {
	case r.Failed:
		g.model(&c).learn(fs, 0, g.tune.Failure)
	case r.Document:
		outcome := 0.0
		if r.Accepted {
			outcome = 1
			if r.Unwanted {
				outcome = unwantedWorth
			}
		}
		if c.Document {
			g.docs.learn(fs, outcome, 1)
		} else { // a page's name hid a document: its like may do so too
			g.pages.learn(fs, outcome, 1)
		}
	case r.Page != nil:
		g.settle()
		g.pending = &pendingPage{asked: c.Link.URL, came: r.Page.URL, parent: c.Parent, features: slices.Clone(fs)}
	}
}
