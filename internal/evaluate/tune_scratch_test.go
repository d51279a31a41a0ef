package evaluate

import (
	"math"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"sync"
	"testing"

	"gleaner/internal/page"
	"gleaner/internal/rank"
)

type shuffled struct {
	Site
	seed  int64
	cache map[string]Answer
}

func (s *shuffled) Get(u string) (Answer, error) {
	if a, ok := s.cache[u]; ok {
		return a, nil
	}
	a, err := s.Site.Get(u)
	if err == nil && a.Page != nil && s.seed > 0 {
		r := rand.New(rand.NewSource(s.seed + int64(len(a.URL))))
		p := *a.Page
		p.Links = append([]page.Link(nil), p.Links...)
		// runs of ten are turned round or not, blocks swapped: order within a list stays plausible
		r.Shuffle(len(p.Links), func(i, j int) { p.Links[i], p.Links[j] = p.Links[j], p.Links[i] })
		a.Page = &p
	}
	if err == nil {
		s.cache[u] = a
	}
	return a, err
}

type variant struct {
	host        string
	setup       Setup
	goals       map[string]bool
	order, best []string
}

func variants(t testing.TB, sites []farmSite, n int) []variant {
	var out []variant
	for _, site := range sites {
		for k := 0; k < n; k++ {
			su := site.setup
			su.Site = &shuffled{site.setup.Site, int64(k), map[string]Answer{}}
			base := simulate(t, su, rank.BreadthFirst, nil)
			goals, order := base.Goals(), base.Order()
			if len(goals) < 3 {
				continue
			}
			out = append(out, variant{site.host, su, goals, order, Oracle(order[0], base.Graph(), goals)})
		}
	}
	return out
}

// score gives the mean over hosts, the medians over hosts of the hosts' means, the worst hosts.
func score(vs []variant, priors map[string]*rank.Prior, tune rank.Tuning) (res [6]float64, per map[string][3]float64) {
	sums := map[string]*[4]float64{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	ch := make(chan variant)
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for v := range ch {
				s, err := rank.New(rank.Gleaner, rank.Options{Prior: priors[v.host], Tuning: &tune})
				if err != nil {
					panic(err)
				}
				run, _ := Simulate(v.setup, s)
				o := run.Order()
				mu.Lock()
				h := sums[v.host]
				if h == nil {
					h = &[4]float64{}
					sums[v.host] = h
				}
				for i, share := range []float64{.5, .85, .95} {
					x := Saving(RequestsTo(o, v.goals, share), RequestsTo(v.order, v.goals, share), RequestsTo(v.best, v.goals, share))
					if math.IsNaN(x) {
						x = 1
					}
					h[i] += math.Max(x, -2)
				}
				h[3]++
				mu.Unlock()
			}
		}()
	}
	for _, v := range vs {
		ch <- v
	}
	close(ch)
	wg.Wait()
	per = map[string][3]float64{}
	var a, b []float64
	for k, h := range sums {
		p := [3]float64{h[0] / h[3], h[1] / h[3], h[2] / h[3]}
		per[k] = p
		a, b = append(a, p[1]), append(b, p[2])
	}
	sort.Float64s(a)
	sort.Float64s(b)
	mean := func(v []float64) (m float64) {
		for _, x := range v {
			m += x / float64(len(v))
		}
		return
	}
	return [6]float64{mean(a), mean(b), a[len(a)/2], b[len(b)/2], a[0], b[0]}, per
}

func perms() int {
	if n, err := strconv.Atoi(os.Getenv("PERMS")); err == nil {
		return n
	}
	return 5
}

func TestTuneScratch(t *testing.T) {
	if os.Getenv("TUNE") == "" {
		t.Skip()
	}
	sites := farm(t)
	vs := variants(t, sites, perms())
	vs0 := variants(t, sites, 1)
	priors := lpo(t, sites)
	base := rank.DefaultTuning()
	try := func(name string, f func(tn *rank.Tuning)) {
		tn := base
		f(&tn)
		r, per := score(vs, priors, tn)
		nat, np := score(vs0, priors, tn)
		t.Logf("%-22s NAT %.3f", name, nat)
		if name == "base" {
			for k, v := range np {
				t.Logf("   nat   %-30s %.2f", k, v)
			}
		}
		t.Logf("%-22s mean85 %.3f mean95 %.3f med %.3f %.3f worst %.3f %.3f", name, r[0], r[1], r[2], r[3], r[4], r[5])
		if name == "base" {
			for k, v := range per {
				t.Logf("      %-30s %.2f", k, v)
			}
		}
	}
	try("base", func(*rank.Tuning) {})
	if os.Getenv("TUNE") == "0" {
		return
	}
	for _, x := range []float64{0, .05, .15, .2, .25, .3, .4} {
		try("grain "+strconv.FormatFloat(x, 'g', 3, 64), func(t *rank.Tuning) { t.Grain = x })
	}
}

func lpo(t testing.TB, sites []farmSite) map[string]*rank.Prior {
	lists, _ := rank.DefaultLists()
	p, err := LeaveOneOut(lists, named(sites))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func simulate(t testing.TB, setup Setup, name string, prior *rank.Prior) Run {
	s, _ := rank.New(name, rank.Options{Prior: prior})
	run, _ := Simulate(setup, s)
	return run
}
