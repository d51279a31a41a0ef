package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/harvest/report"
	"gleaner/internal/rank"
	"gleaner/internal/web/weburl"
)

// nutchLinks is how many links of a page Nutch follows unless it is told otherwise.
const nutchLinks = 100

// fewLinks is a site of whose pages no further links are seen.
type fewLinks struct{ Site }

func (f fewLinks) Get(u string) (Answer, error) {
	a, err := f.Site.Get(u)
	if a.Page != nil && len(a.Page.Links) > nutchLinks {
		p := *a.Page
		p.Links = p.Links[:nutchLinks]
		a.Page = &p
	}
	return a, err
}

// pagesTo is how many pages were read when a share of the papers was reached.
func pagesTo(r Run, papers int, share float64) int {
	pages, got := 0, 0
	for _, s := range r.Answered() {
		switch {
		case s.Kind == Paper:
			got++
		case !s.Document:
			pages++
		}
		if float64(got) >= share*float64(papers) {
			return pages
		}
	}
	return -1
}

// manyPapers is from how many papers on a site has a row of its own.
const manyPapers = 75

// Zhuang makes figures 6 to 13, 15 and 16 and Table 4 of Zhuang et al. (JCDL 2005) again.
func Zhuang(lib Library, opts rank.Options) (rows []Row, err error) {
	var logs [][]Followed
	var theirs []Run
	composed, reached := map[string]map[Kind]int{}, map[string]int{}
	for _, s := range lib.Sites {
		c, runs, err := Compare(s.Name, s.Setup, []string{rank.Zhuang, rank.Gleaner}, opts)
		if err != nil {
			return nil, err
		}
		few, err := BreadthFirst(Setup{Site: fewLinks{s.Setup.Site}, Judge: s.Setup.Judge})
		if err != nil {
			return nil, err
		}
		logs, theirs = append(logs, Log(runs[0])), append(theirs, runs[1])
		reached["bfs by 100 links a page"] += few.Goals().Papers()
		pages := max(1, pagesTo(runs[0], c.Papers, 1))
		var to []string
		for i, r := range c.Results {
			if r.Strategy == OracleName {
				continue
			}
			at := each.Of([]float64{0.5, 0.85, 1}, func(of float64) string {
				return fmt.Sprintf("%.0f", share(pagesTo(runs[i], c.Papers, of), pages))
			})
			to = append(to, r.Strategy+" "+strings.Join(at, ", "))
			reached[r.Strategy] += r.Papers
			if composed[r.Strategy] == nil {
				composed[r.Strategy] = map[Kind]int{}
			}
			for kind, n := range classes(runs[i].Answered(), firstOf(runs[0])) {
				composed[r.Strategy][kind] += n
			}
		}
		if c.Papers >= manyPapers {
			rows = append(rows, Row{fmt.Sprintf("Fig. 10-12, %s: %d papers, %d pages, to 50, 85, 100 %%", s.Name, c.Papers, pages),
				"VLDB: bfs to 85 % 50, theirs 33 % of pages; bfs first to 100 %", strings.Join(to, "; ") + " %"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(composed)) {
		rows = append(rows, Row{"Fig. 13, classes of the first seventh of each site's documents, " + name,
			"500 of 3,500: less noise than bfs", shares(composed[name])})
	}
	papers := each.Of(slices.Sorted(maps.Keys(reached)), func(name string) string {
		return fmt.Sprintf("%s %d", name, reached[name])
	})
	rows = append(rows, Row{"Fig. 15-16, papers reached", "Nutch misses 184 of the ACL site", strings.Join(papers, ", ")})
	lists, _ := TrainLinks(rank.Lists{}, logs)
	high, medium := lists.High[:min(9, len(lists.High))], lists.Medium[:min(9, len(lists.Medium))]
	rows = append(rows,
		Row{"Table 4, without the anchors of documents, high", "volume pub paper conf journal content program research list", strings.Join(high, " ")},
		Row{"Table 4, medium", "topic faculty people group lab", strings.Join(medium, " ")})
	return append(rows, recall(lib.Papers, theirs)...), nil
}

// firstOf is how many documents of a site are looked at as their figure 13 does: 500, but no
// more than a seventh, as of VLDB's 3,500.
func firstOf(r Run) int {
	all := each.Count(r.Answered(), func(s Step) bool { return s.Document })
	return min(500, all/7)
}

// classes counts the first documents of a crawl by what they are.
func classes(steps []Step, first int) map[Kind]int {
	out := map[Kind]int{}
	for _, s := range steps {
		if s.Document && first > 0 {
			out[s.Kind]++
			first--
		}
	}
	return out
}

// shares are classes in percent, the largest first.
func shares(of map[Kind]int) string {
	all := 0
	for _, n := range of {
		all += n
	}
	var out []string
	for _, k := range slices.SortedFunc(maps.Keys(of), func(a, b Kind) int { return cmp.Or(of[b]-of[a], cmp.Compare(a, b)) }) {
		out = append(out, fmt.Sprintf("%s %.1f", cmp.Or(k, "unknown"), share(of[k], all)))
	}
	return strings.Join(out, ", ") + fmt.Sprintf(" %% of %d", all)
}

// recall says of each venue which of its papers crawls found, by year, in the paper's three forms,
// and why papers are missing. A paper is found where one of its documents was reached.
func recall(papers []Published, crawls []Run) (rows []Row) {
	venues := map[string]map[int]*report.Summary{}
	why, met := map[Kind]int{}, fates(crawls)
	for _, p := range papers {
		if venues[p.Venue] == nil {
			venues[p.Venue] = map[int]*report.Summary{}
		}
		became := p.fate(met)
		for _, year := range []int{0, p.Year} { // 0 is all
			s := cmp.Or(venues[p.Venue][year], &report.Summary{})
			venues[p.Venue][year] = s
			s.Published++
			switch {
			case p.Held && became == found:
				s.Held, s.HeldMet = s.Held+1, s.HeldMet+1
			case p.Held:
				s.Held++
			case became == found:
				s.Found++
			}
		}
		if became != found {
			why[Kind(became.String())]++
		}
	}
	for _, venue := range slices.Sorted(maps.Keys(venues)) {
		var all string
		var years []string
		for _, year := range slices.Sorted(maps.Keys(venues[venue])) {
			s := venues[venue][year]
			s.Finish()
			text := fmt.Sprintf("%s, %s, %s of %d papers", report.RecallOf(s.Target, s.Published), report.RecallOf(s.Recall, s.Wanted),
				report.RecallOf(s.Covered, s.Published), s.Published)
			if year == 0 {
				all = text
			} else {
				years = append(years, fmt.Sprintf("%d: %s", year, strings.ReplaceAll(text, " %", "")))
			}
		}
		rows = append(rows,
			Row{"Fig. 6-9, " + venue + ": found of all, found of the missing, held or found",
				"WebDB 84.8, JAIR 79.5, both 81.7 %; 78, 72 %; drawn", all},
			Row{"the same by year", "drawn, 1998-2004", strings.Join(years, "; ")})
	}
	return append(rows, Row{"reasons of the papers not found", "JAIR: 29 of 35 one link outside the domain", shares(why)})
}

// fate is what became of a paper's document, the better the higher.
type fate int

const (
	noCopy fate = iota
	notLinked
	noAnswer
	outside
	noPaper
	found
)

func (f fate) String() string {
	return [...]string{"no copy known", "linked nowhere", "no answer", "one link outside", "judged no paper", "found"}[f]
}

// fates are what became of the addresses that crawls met.
func fates(crawls []Run) map[string]fate {
	out := map[string]fate{}
	note := func(url string, f fate) { out[unescapedKey(url)] = max(out[unescapedKey(url)], f) }
	for _, r := range crawls {
		for _, s := range r.Steps {
			switch {
			case s.Failed:
				note(s.URL, noAnswer)
			case s.Kind == Paper:
				note(s.URL, found)
			case s.Document:
				note(s.URL, noPaper)
			case s.Page != nil:
				for _, l := range s.Page.Links {
					if weburl.Host(l.URL) != weburl.Host(s.URL) {
						note(l.URL, outside)
					}
				}
			}
		}
	}
	return out
}

// fate is the best of the paper's addresses.
func (p Published) fate(met map[string]fate) (best fate) {
	for _, u := range p.URLs {
		best = max(best, notLinked, met[unescapedKey(u)])
	}
	return best
}
