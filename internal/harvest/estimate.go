package harvest

import (
	"context"
	"fmt"
	"math"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/record/store"
	"gleaner/internal/text"
)

// Pace holds the options of a harvest that determine its duration.
type Pace struct {
	Delay   time.Duration // between two requests to an unknown host
	Search  time.Duration // between two searches
	Authors int           // searched for at a time
	Sites   int           // crawled at a time
	Most    int           // requests of one site

	store.Again
}

// Estimate is the work of a harvest, estimated from the record.
type Estimate struct {
	Papers  int                `json:"papers"`
	Held    int                `json:"held"`
	Wanted  int                `json:"wanted"`
	Found   map[string]bool    `json:"-"`       // by key, those that documents on record are
	Authors int                `json:"authors"` // of wanted papers that were not found yet
	Known   store.AuthorsKnown `json:"known"`

	ToFind   int `json:"to_find"`   // authors to search for
	NewSites int `json:"new_sites"` // crawled for the first time, about

	Looking  int `json:"requests_for_homepages"`
	Crawling int `json:"requests_of_crawls"`
	Requests int `json:"requests"`

	Least   float64  `json:"seconds_at_least"` // with all crawls beside the search for homepages
	Seconds float64  `json:"seconds"`          // with all crawls after it
	Assumed bool     `json:"assumed"`          // the record has too little data
	Basis   []string `json:"basis"`            // the origin of the figures
}

// Assumptions used if the record has too little data, and how much is enough.
const (
	enough          = 10
	assumedRequests = 10.0  // for an author
	assumedFound    = 0.7   // of authors
	assumedHosts    = 1.0   // of an author
	assumedCrawl    = 200.0 // requests of a site
)

// Estimate estimates the work of a harvest of papers. It uses only the record.
func (s *Stages) Estimate(ctx context.Context, papers []gleaner.Paper, held map[string]string, p Pace) (Estimate, error) {
	e := Estimate{Papers: len(papers), Held: len(held), Wanted: len(papers) - len(held)}
	var err error
	if e.Found, err = s.found(ctx, papers); err != nil {
		return e, err
	}
	papers = each.Where(papers, func(p gleaner.Paper) bool { return held[p.Key] == "" && !e.Found[p.Key] })
	ids := wantedAuthors(p.Harvest, papers)
	e.Authors = len(ids)
	h, err := s.DB.History(ctx)
	if err != nil {
		return e, err
	}
	if h.Paced >= enough && h.Pace > p.Delay {
		p.Delay = h.Pace
		e.Basis = append(e.Basis, fmt.Sprintf("pace: a request every %s, the mean of %s on record", h.Pace.Round(10*time.Millisecond), text.Count(h.Paced, "site")))
	} else {
		e.Basis = append(e.Basis, fmt.Sprintf("pace: a request every %s, the setting", p.Delay))
	}
	if e.Known, err = s.DB.AuthorsKnown(ctx, ids, time.Now().Add(-decisionAge), p.Delay, p.Again); err != nil {
		return e, err
	}
	e.ToFind = max(0, e.Authors-e.Known.Found-e.Known.InVain)
	e.Assumed = h.Authors < enough || h.Requests == 0 || h.Crawls < enough
	requests, found, hosts := assumedRequests, assumedFound, assumedHosts
	if h.Authors >= enough && h.Requests > 0 {
		requests, found, hosts = h.Requests, float64(h.Found)/float64(h.Authors), max(h.Hosts, 0.1)
		e.Basis = append(e.Basis, fmt.Sprintf("homepages: %.1f requests an author, %.0f %% found, on %.1f hosts each, by %s on record", requests, 100*found, hosts, text.Count(h.Authors, "author")))
	} else {
		e.Basis = append(e.Basis, fmt.Sprintf("homepages: assumed, since the record has %s: %.0f requests an author, %.0f %% found, on a host each", text.Count(h.Authors, "author"), requests, 100*found))
	}
	crawl, largest := assumedCrawl, assumedCrawl
	if h.Crawls >= enough {
		crawl, largest = h.OfCrawl, h.Largest
		e.Basis = append(e.Basis, fmt.Sprintf("crawls: %.0f requests of a new site, the mean of %d first crawls on record, and %.0f of the largest", crawl, h.Crawls, largest))
	} else {
		e.Basis = append(e.Basis, fmt.Sprintf("crawls: assumed, since the record has %d first crawls: %.0f requests of a site", h.Crawls, crawl))
	}
	crawl = min(crawl, float64(p.Most))
	e.NewSites = e.Known.Sites - e.Known.Crawled + int(math.Round(float64(e.ToFind)*found*hosts))
	e.Looking = int(math.Round(float64(e.ToFind) * requests))
	e.Crawling = e.Known.Waiting + int(math.Round(float64(e.NewSites)*crawl))
	e.Requests = e.Looking + e.Crawling
	e.Least, e.Seconds = lasts(e, p, crawl, min(largest, float64(p.Most)))
	return e, nil
}

// lasts returns how many seconds the work takes, at least and at most. Authors are searched
// for in parallel, but all with one search engine. Sites are crawled in parallel, each at
// its pace, and some of them during the search; at most, a new one is as large as any on record.
func lasts(e Estimate, p Pace, crawl, largest float64) (least, most float64) {
	looking := max(float64(e.Looking)*p.Delay.Seconds()/float64(max(p.Authors, 1)), float64(e.ToFind)*p.Search.Seconds())
	crawling := func(site float64) float64 {
		return max(e.Known.Longest.Seconds(), float64(min(e.NewSites, 1))*site*p.Delay.Seconds(), float64(e.Crawling)*p.Delay.Seconds()/float64(max(p.Sites, 1)))
	}
	return max(looking, crawling(crawl)), looking + crawling(largest)
}

// found returns which papers documents on record are, as these or as papers of another list.
func (s *Stages) found(ctx context.Context, papers []gleaner.Paper) (map[string]bool, error) {
	all, err := s.DB.FoundPapers(ctx)
	found := each.Set(all, func(p gleaner.Paper) string { return p.Key })
	for key := range match.Held(papers, all) {
		found[key] = true
	}
	return found, err
}

// wantedAuthors returns the authors for whom a harvest of missing papers searches: all of
// them, or the one whose papers are the goal.
func wantedAuthors(harvest string, papers []gleaner.Paper) (ids []string) {
	seen := map[string]bool{}
	goal, _ := gleaner.SplitHarvest(harvest)
	alone := gleaner.ParseGoal(goal).Author
	for _, p := range papers {
		for _, a := range p.Authors {
			if !seen[a.ID()] && (alone == "" || alone == a.ID()) {
				seen[a.ID()] = true
				ids = append(ids, a.ID())
			}
		}
	}
	return ids
}
