package evaluate

import (
	"cmp"
	"slices"

	"gleaner/internal/topic"
	"gleaner/internal/web/weburl"
)

// group is how many pages' correlations are drawn as one point.
const group = 100

// measure makes the figures of a crawl.
func (c *topicCrawl) measure(name string, early int) TopicRun {
	run := TopicRun{Policy: name, Pages: len(c.read), Early: min(early, len(c.read)), PRR: map[string]float64{}}
	for _, d := range c.documents {
		if d.pages <= run.Early {
			run.Documents++
			if d.accepted {
				run.Accepted++
			}
		}
	}
	for _, r := range c.read[:run.Early] {
		run.Like += r.correlation / float64(run.Early)
		if r.correlation >= topic.Defaults().Threshold {
			run.PRR[r.said] += 1 / float64(run.Early)
		}
	}
	met, on, sum := map[string]bool{}, 0, 0.0
	targets := targetsOf(c.web)
	for i, r := range c.read {
		if r.about != "" {
			on++
			if targets[r.host] {
				met[r.host] = true
			}
		}
		n := i + 1
		run.OverCrawl = append(run.OverCrawl, Point{n, 100 * float64(on) / float64(n)})
		run.Target = append(run.Target, Point{n, 100 * float64(len(met)) / float64(len(targets))})
		if sum += r.correlation; n%group == 0 {
			run.Correlation = append(run.Correlation, Point{n, 100 * sum / group})
			sum = 0
		}
	}
	run.Found = at(run.OverCrawl, early) / 100 * float64(run.Early) / float64(max(1, c.web.Relevant()))
	run.Precision, run.All = at(run.OverCrawl, early)/100, at(run.Target, len(run.Target))/100
	ranked := slices.Clone(c.read)
	slices.SortStableFunc(ranked, func(a, b topicRead) int { return cmp.Compare(b.correlation, a.correlation) })
	by := map[string][]bool{}
	for _, r := range ranked {
		if r.said != "" {
			by[r.said] = append(by[r.said], r.about == r.said)
		}
	}
	run.ByRank, run.Ranks = byRank(c.web, by)
	return run
}

func targetsOf(web TopicSource) map[string]bool {
	targets := map[string]bool{}
	for _, t := range web.Topics() {
		for _, h := range web.Sites(t.ID) {
			targets[h] = true
		}
	}
	return targets
}

// farthest is the rank up to which precision is drawn.
const farthest = 500

// byRank is the share of right pages among the first of each topic, the mean of the
// topics; a topic with fewer pages has nothing right beyond them.
func byRank(web TopicSource, right map[string][]bool) (points []Point, told []float64) {
	topics := web.Topics()
	on := 0
	for k := range farthest {
		any := false
		for _, t := range topics {
			if k < len(right[t.ID]) {
				any = true
				if right[t.ID][k] {
					on++
				}
			}
		}
		if !any {
			break
		}
		points = append(points, Point{k + 1, 100 * float64(on) / float64((k+1)*len(topics))})
	}
	for _, rank := range Ranks() {
		p := 0.0
		if n := min(rank, len(points)); n > 0 {
			p = points[n-1].Value / 100 * float64(n) / float64(rank)
		}
		told = append(told, p)
	}
	return points, told
}

// searchAlone is what the search engine finds without a crawl (figure 6 of Bergmark
// 2002).
func searchAlone(web TopicSource) TopicRun {
	right, met, targets := map[string][]bool{}, map[string]bool{}, targetsOf(web)
	run := TopicRun{Policy: SearchAlone}
	for _, t := range web.Topics() {
		for _, u := range web.Search(t.Query, farthest) {
			is := web.About(u) == t.ID
			right[t.ID] = append(right[t.ID], is)
			if h := weburl.Host(u); is && targets[h] {
				met[h] = true
			}
			run.Pages++
		}
	}
	run.All = float64(len(met)) / float64(len(targets))
	run.ByRank, run.Ranks = byRank(web, right)
	return run
}
