package sampleweb

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
)

// Options shape a Web. The zero value is the demo: one venue of three years,
// thirty papers and twenty-five authors on some twenty hosts.
type Options struct {
	Seed uint64
	// Venues is how many venues there are; the first is conf/sample, the others
	// conf/sample2, conf/sample3 and so on. Default 1.
	Venues int
	// FirstYear and Years say when each venue took place. Default 2001 and 3.
	FirstYear, Years int
	// Papers is the number of papers of each venue over all its years. Default 30.
	Papers int
	// Authors is the number of people who wrote them, shared by all venues.
	// Default 25.
	Authors int
	// PagesPerSite is how many pages without papers (courses, photos, blog)
	// stand on each author's site beside those with. Default 8.
	PagesPerSite int
	// ConferencePages is the number of HTML pages of ConferenceHost, about; documents
	// come on top. Default 0: there is no such host.
	ConferencePages int
	// Hostile adds sites that want their reader to fail (HostileHosts).
	Hostile bool
	// NoCrawlDelay leaves out the delay of a second that ProceedingsHost asks for.
	NoCrawlDelay bool
	// Beside answers for all hosts that this web lacks. Default none.
	Beside http.Handler
}

func (o Options) withDefaults() Options {
	o.Venues = cmp.Or(o.Venues, 1)
	o.FirstYear = cmp.Or(o.FirstYear, 2001)
	o.Years = cmp.Or(o.Years, 3)
	o.Papers = cmp.Or(o.Papers, 30)
	o.Authors = max(cmp.Or(o.Authors, 25), len(styleCycle))
	o.PagesPerSite = cmp.Or(o.PagesPerSite, 8)
	return o
}

// random is a generator that depends on the seed and a name alone, never on
// what was generated before.
func (o Options) random(name string) *rand.Rand { return Random(o.Seed, name) }

// Random is a generator that depends on a seed and a name alone.
func Random(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
