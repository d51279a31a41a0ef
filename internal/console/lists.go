package console

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/record/store"
)

// whitelistPage lists pages worth a crawl, the best domain's first.
type whitelistPage struct {
	URLs []store.ListedURL `json:"urls"`
	Next string            `json:"next,omitempty"`
}

func whitelist(ctx context.Context, c *Console, a *asked) (any, error) {
	position, url := -1, ""
	if after := a.get("after"); after != "" {
		at, rest, _ := strings.Cut(after, " ")
		n, err := strconv.Atoi(at)
		if err != nil {
			return nil, fmt.Errorf("%w: after is what the page before gave as next", errInput)
		}
		position, url = n, rest
	}
	rows, err := c.App.DB.Whitelist(ctx, position, url, pageSize+1)
	var p whitelistPage
	p.URLs, p.Next = more(rows, func(u store.ListedURL) string { return fmt.Sprintf("%d %s", u.Position, u.URL) })
	return p, err
}

// ratedSite is a site with the shares by which it is judged.
type ratedSite struct {
	store.SiteRates
	Yield float64 `json:"page_yield"`
	DDR   float64 `json:"ddr"`
	ADR   float64 `json:"adr"`
}

// statisticsPage is what the collection came to.
type statisticsPage struct {
	Counters store.Counters     `json:"counters"`
	Failures []store.Failure    `json:"failures"`
	Sites    []ratedSite        `json:"sites"` // those with the most accepted documents
	Domains  []store.DomainRank `json:"domains"`
	Months   []store.Month      `json:"months"` // what came in each of the last two years
	Paces    []store.PaceTally  `json:"paces"`  // how often sites are asked
}

// bestListed is how many sites and domains the statistics show.
const bestListed = 25

func statistics(ctx context.Context, c *Console, _ *asked) (any, error) {
	db := c.App.DB
	var p statisticsPage
	var err error
	if p.Counters, err = c.counters.get("", func() (store.Counters, error) { return db.HarvestCounters(ctx, "") }); err != nil {
		return nil, err
	}
	failures, err := c.failures.get("", func() ([]store.Failure, error) { return db.Failures(ctx, store.RetryFilter{}) })
	if err != nil {
		return nil, err
	}
	rates, err := db.SiteRatesList(ctx, "", bestListed)
	if err != nil {
		return nil, err
	}
	p.Sites = each.Of(rates, func(s store.SiteRates) ratedSite {
		return ratedSite{s, stats.PageYield(s.Rates), stats.DDR(s.Rates), stats.ADR(s.Rates)}
	})
	domains, err := db.DomainRanks(ctx, bestListed)
	if err != nil {
		return nil, err
	}
	grown, err := c.growth.get("", func() (growth, error) { return growthOf(ctx, db.StatisticRecords) })
	p.Failures, p.Domains = each.List(failures), each.List(domains)
	p.Months, p.Paces = each.List(grown.months), each.List(grown.paces)
	return p, err
}
