package app

import (
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/harvest"
	"gleaner/internal/homepage"
)

// maker makes the maker of collections by topic.
func (a *App) maker(web homepage.Engines, getter *harvest.Getter) *synthesis.Maker {
	limits := a.Config.Policy.Crawl
	c := synthesis.Defaults()
	c.MaxTries, c.RetryBase, c.WARC = limits.Tries, limits.RetryBase, a.Config.Crawl.WARC
	c.Links, c.StopSites, c.StopShare = Links(a.Config), a.Stats.StopSites, a.Stats.StopShare
	return synthesis.New(synthesis.Tools{Searcher: web.Searcher(), DB: a.DB, Keeper: a.Keeper, Fetch: watchedClient{a.Fetch, a.Watch}, Coll: a.Collection, Getter: getter, Config: c, Log: a.Log})
}
