package evaluate

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"gleaner/internal/crawl"
	"gleaner/internal/each"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// past reports whether a document is on record from an earlier crawl: half of all are.
func past(u string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(weburl.Key(u)))
	return h.Sum32()&1 == 0
}

// goodParents are the pages of a crawl that link to papers of the past, and how many these are.
func goodParents(r Run) (urls []string, papers int) {
	of := map[string]bool{}
	for u := range r.Goals() {
		of[u] = past(u)
	}
	had := map[string]bool{}
	for _, s := range r.Answered() {
		leads := false
		if s.Page != nil {
			for _, l := range s.Page.Links {
				if k := weburl.Key(l.URL); of[k] {
					leads, had[k] = true, true
				}
			}
		}
		if leads {
			urls = append(urls, s.URL)
		}
	}
	return urls, len(had)
}

// yielded is what crawls under a policy gave, and after how many of their requests each new paper.
func yielded(policy string, crawls []Run) (y store.Yield, at []int) {
	y.Policy = policy
	parents, good := map[string]bool{}, map[string]bool{}
	for _, r := range crawls {
		for _, s := range r.Steps {
			y.Requests++
			if s.Failed {
				continue
			}
			y.Fetched++
			if !s.Document || past(s.URL) {
				continue
			}
			y.New++
			parents[s.Parent] = true
			if s.Goal != "" {
				y.Good++
				good[s.Parent] = true
				at = append(at, y.Requests)
			}
		}
	}
	y.Parents, y.GoodParents = len(parents), len(good)
	return y, at
}

// Whitelists makes Table 2 of Wu et al. (WebSci 2012) and the documents over a crawl again. Half
// of each site's documents are on record; blacklist crawls all sites, whitelist the pages alone
// that led to papers on record, most of them first, and hybrid what the whitelist lacks, too.
func Whitelists(sites []Named) (rows []Row, err error) {
	type listed struct {
		crawl  Run
		papers int
	}
	var all, rest []Run
	var white []listed
	for _, s := range sites {
		run, err := BreadthFirst(s.Setup)
		if err != nil {
			return nil, err
		}
		all = append(all, run)
		urls, papers := goodParents(run)
		if len(urls) == 0 {
			rest = append(rest, run)
			continue
		}
		s.Setup.Listed = urls
		if run, err = BreadthFirst(s.Setup); err != nil {
			return nil, err
		}
		white = append(white, listed{run, papers})
	}
	slices.SortStableFunc(white, func(a, b listed) int { return b.papers - a.papers })
	best := each.Of(white, func(l listed) Run { return l.crawl })
	theirs := map[string]string{crawl.PolicyBlacklist: "15.28 %, 20.33 %, 0.11 %, 0.750", crawl.PolicyWhitelist: "38.09 %, 49.61 %, 0.52 %, 1.082",
		crawl.PolicyHybrid: "15.64 %, 32.47 %, 0.07 %, 1.021"}
	curves := []string{}
	most := 0
	for _, p := range []struct {
		policy string
		crawls []Run
	}{{crawl.PolicyBlacklist, all}, {crawl.PolicyWhitelist, best}, {crawl.PolicyHybrid, append(best, rest...)}} {
		y, at := yielded(p.policy, p.crawls)
		most = max(most, y.Requests)
		rows = append(rows, Row{"Table 2, F/Q, G/N, G/Q, G/P: " + p.policy, theirs[p.policy],
			fmt.Sprintf("%.2f %%, %.2f %%, %.2f %%, %.3f (Q %d, F %d, N %d, G %d, P %d, P_G %d)", share(y.Fetched, y.Requests), share(y.Good, y.New),
				share(y.Good, y.Requests), share(y.Good, y.Parents)/100, y.Requests, y.Fetched, y.New, y.Good, y.Parents, y.GoodParents)})
		var after []string
		for _, part := range []int{5, 10, 25, 50, 100} {
			n, _ := slices.BinarySearch(at, most*part/100+1)
			after = append(after, fmt.Sprint(n))
		}
		curves = append(curves, p.policy+" "+strings.Join(after, ", "))
	}
	return append(rows, Row{"new papers after 5, 10, 25, 50, 100 % of the blacklist's requests", "drawn by day", strings.Join(curves, "; ")}), nil
}
