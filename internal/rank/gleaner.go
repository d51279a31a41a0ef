package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gleaner/internal/web/page"
)

// tuning holds the constants of gleaner. They were chosen by results on sites whose links were
// not in the training of the prior. So results on those sites are slightly too good; only
// held-out sites give a fair estimate.
type tuning struct {
	PriorVariance float64 // of the shared weights: how fast they change on a site
	SiteVariance  float64 // of the weights of the site
	Optimism      float64 // standard deviations (in log-odds) added for uncertainty
	Novelty       float64 // log-odds added in exploration to a link whose pattern was never tried
	Deeper        float64 // discount of a page one hop further, in (0,1)
	Sure          float64 // picks with a greater probability are never used for exploration
	Explore       int     // of so many other picks, one takes the oldest link and one the least tried pattern
	Grain         float64 // documents of a group on a page keep page order below this difference of log-odds
	GroupGrain    float64 // the same for documents of different groups on a page
	Floor         float64 // a document's log-odds are at least those of its group's accepted share minus this
	Verdict       float64 // weight of the verdicts on a page's documents relative to their estimates, in (0,1)
	Failure       float64 // weight of a failed request as evidence, in (0,1)
}

func tuned() tuning {
	return tuning{PriorVariance: 0.08, SiteVariance: 0.6, Optimism: 1, Novelty: 5, Grain: 1, GroupGrain: 0.75, Deeper: 0.7, Sure: 0.06, Explore: 3, Floor: 0.5, Verdict: 0.5, Failure: 0.1}
}

// gleaner learns on each site which links lead to papers. It has two online models: one for
// documents (the probability of a paper) and one for pages (the papers per request they lead to).
// Both start from a prior shared by all sites and add features of this site: groups of links by
// tag path, directories, words and shapes of names, headings, parent pages. Both use one unit,
// papers per request, so documents and pages share one order. Uncertain links get a bonus, and
// some picks of low promise take the oldest link, so every link is requested in the end.
type gleaner struct {
	tune     tuning
	x        *extractor
	prior    [2][]float32 // pages, documents
	arms     *arms
	groups   groups
	pages    *model
	docs     *model
	picks    int // uncertain picks so far; every Explore-th is exploration
	pending  *pendingPage
	children map[string]*offspring
	path     ancestry
	tries    [patterns]uint16 // requests by pattern of the address
	yields   yields
	memory   memory
	scratch  []feature
	bounds   []float64 // upper bounds of the waiting links' promises in this pick; scratch
}

// pendingPage is a page whose links may still be entering.
type pendingPage struct {
	asked, came string // addresses of the link and of the page, which differ after a redirect
	parent      string
	features    []feature
}

// offspring holds the links that entered from one page.
type offspring struct {
	documents []float64 // their probabilities at entry
	best      float64   // value of the best page among them
}

// newGleaner returns a strategy with complete options.
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

// Enter sets the group of a link and its present value. All links share one queue. Groups
// separate documents from pages, so that neither hides the other in the window of waiting links.
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

// value returns the expected papers per request of the candidate, without the bonus for
// uncertainty.
func (g *gleaner) value(c *page.Candidate, fs []feature) float64 {
	logit, _ := g.model(c).predict(fs)
	return sigmoid(logit)
}

// Next selects the link with the greatest promise; of equal links, the oldest.
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

// most returns the waiting link with the greatest sum of promise and extra. It starts from the
// link with the greatest upper bound, so that few promises need to be computed.
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

// promise returns the log-odds of waiting link i, with the bonus for uncertainty, and makes its
// bound exact.
func (g *gleaner) promise(waiting []page.Candidate, i int) float64 {
	k := g.memory.slots[i].known
	g.judge(k, g.model(&waiting[i]))
	g.bounds[i] = math.Max(k.promise, g.floor(&waiting[i]))
	return g.bounds[i]
}

// floor returns the least promise of a waiting document: slightly less than the accepted share of
// its group. Without it, a run of rejected documents would lower the features that they share
// with accepted ones.
func (g *gleaner) floor(c *page.Candidate) float64 { return g.yields.least(c) - g.tune.Floor }

// exploration returns at fixed intervals the oldest link, so that no link waits forever, or the
// least tried one.
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

// inPageOrder prefers the first link of the same page whose promise is nearly the best. The words
// around two links of one list differ mostly by chance. The author's order is better evidence,
// and it is the order of breadth-first.
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

// settle trains the page model with the last page after its links entered.
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

// credit raises the worth of the pages on the path to a good page. Their worth so far was an
// estimate from their links.
func (g *gleaner) credit(at uint32, worth float64) {
	for range maxCredit {
		a := g.path.find(at)
		worth *= g.tune.Deeper
		if a == nil || worth < float64(a.worth)+minChange {
			return
		}
		a.worth, a.credited = float32(worth), true
		g.pages.learn(a.features, worth, 1)
		at = a.parent
	}
}

// maxCredit is the number of hops upwards that credit follows.
const maxCredit = 4

// minChange is the least change of a page's worth for which the page is learnt again.
const minChange = 0.05

// unwantedWorth is the outcome of an accepted document that is none of the wanted papers: wanted
// ones may be on the same page.
const unwantedWorth = 0.5

// minJudged is the number of judged documents of a page from which on a share below the estimate
// is used.
const minJudged = 3

// verdict learns the page of a document again if the share of accepted documents differs from the
// estimate: a greater share at once, a lower one after minJudged documents, unless the worth
// comes from pages below. Similar pages, such as a course for each year, are then judged by this
// page.
func (g *gleaner) verdict(c *page.Candidate, accepted bool) {
	a := g.path.find(hashOf(c.Parent))
	if a == nil {
		return
	}
	a.count(accepted)
	worth, was := a.yield(), float64(a.worth)
	if accepted && worth > was+minChange || !a.credited && a.judged >= minJudged && worth < was-minChange {
		a.worth = float32(worth)
		g.pages.learn(a.features, worth, g.tune.Verdict)
		g.credit(a.parent, worth)
	}
}

// worth returns the yield of a page per request, the page included: its best documents by their
// probability at entry, or the discounted value of its best page.
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

// Observe learns from a document at once, and from a page after its links entered.
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
		} else { // similar addresses may lead to documents too
			g.pages.learn(fs, outcome, 1)
		}
	case r.Page != nil:
		g.settle()
		g.pending = &pendingPage{asked: c.Link.URL, came: r.Page.URL, parent: c.Parent, features: slices.Clone(fs)}
	}
}
