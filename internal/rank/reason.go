package rank

import (
	"fmt"
	"math"
	"strings"

	"gleaner/internal/web/page"
)

// part is the contribution of one feature, or of all features of the site, to a link's log-odds.
type part struct {
	name  string
	value float64
}

// parts are the contributions of greatest weight, in descending order.
type parts [4]part

func (p *parts) add(name string, value float64) {
	for i := range p {
		if math.Abs(value) > math.Abs(p[i].value) {
			copy(p[i+1:], p[i:])
			p[i] = part{name, value}
			return
		}
	}
}

// explain names the main features for and against a link.
func (g *gleaner) explain(c *page.Candidate) string {
	fs := g.features(c)
	m := g.model(c)
	logit, variance := m.predict(fs)
	var most parts
	site := 0.0
	for _, f := range fs {
		v := float64(m.at(f.index).mean * f.value)
		if int(f.index) < g.x.shared {
			most.add(g.x.named[f.index], v)
		} else {
			site += v
		}
	}
	most.add("learnt here", site)
	var b strings.Builder
	kind := "page"
	if c.Document {
		kind = "document"
	}
	fmt.Fprintf(&b, "%s, expected %.2f papers per request (± %.1f)", kind, sigmoid(logit), math.Sqrt(variance))
	sep := ": "
	for _, p := range most {
		if math.Abs(p.value) >= 0.05 {
			fmt.Fprintf(&b, "%s%s %+.1f", sep, p.name, p.value)
			sep = ", "
		}
	}
	if kept := g.floor(c); kept > logit+g.tune.Optimism*math.Sqrt(variance) {
		of := g.yields.of(c)
		fmt.Fprintf(&b, "; taken as promising %.2f, since of its group %d of %d were accepted", sigmoid(kept), of.accepted, of.asked)
	}
	return b.String()
}

// Expect returns the expected papers per request of the candidate.
func (g *gleaner) Expect(c *page.Candidate) float64 { return g.value(c, g.features(c)) }
