package stats

import (
	"context"
	"maps"
	"math"
	"slices"

	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// Measure computes the rates of a site and of its directories and replaces what
// was stored of them.
func Measure(ctx context.Context, db *store.DB, host string, t Thresholds) (store.SiteRates, error) {
	rec, err := db.SiteRecord(ctx, host)
	if err != nil {
		return store.SiteRates{}, err
	}
	if rec.Imported { // nobody knows of its other pages
		t.MinURLs, t.TrapPages = math.MaxInt, math.MaxInt
	}
	site, dirs := compute(rec, t)
	return site, db.SaveRates(ctx, rec.ID, rec.At, site, dirs)
}

// MeasureAll measures every site that was crawled, or that an import brought documents of.
func MeasureAll(ctx context.Context, db *store.DB, t Thresholds, report func(done int)) (int, error) {
	after, done := "", 0
	for {
		hosts, err := db.MeasuredHosts(ctx, after, 500)
		if err != nil || len(hosts) == 0 {
			return done, err
		}
		for _, h := range hosts {
			if _, err := Measure(ctx, db, h, t); err != nil {
				return done, err
			}
			done++
			report(done)
		}
		after = hosts[len(hosts)-1]
	}
}

// MeasureStale measures the sites of which something changed since they were
// measured: a crawl goes on there, or a document was judged anew.
func MeasureStale(ctx context.Context, db *store.DB, t Thresholds) (int, error) {
	hosts, err := db.StaleHosts(ctx)
	if err != nil {
		return 0, err
	}
	for i, h := range hosts {
		if _, err := Measure(ctx, db, h, t); err != nil {
			return i, err
		}
	}
	return len(hosts), nil
}

// compute is Measure without the record.
func compute(rec store.SiteRecord, t Thresholds) (store.SiteRates, []store.DirectoryRates) {
	relevant := relevantPages(rec)
	site := store.SiteRates{Host: rec.Host, Foreign: rec.Foreign}
	byPath := map[string]*store.Rates{}
	count := func(add func(*store.Rates), urls ...string) {
		add(&site.Rates)
		in := map[string]bool{}
		for _, url := range urls {
			for _, d := range directories(url) {
				in[d] = true
			}
		}
		for d := range in {
			r := byPath[d]
			if r == nil {
				r = &store.Rates{}
				byPath[d] = r
			}
			add(r)
		}
	}
	for url := range rec.Pages {
		count(func(r *store.Rates) {
			r.Pages++
			if relevant[url] {
				r.Relevant++
			}
			if about, judged := rec.About[url]; judged {
				r.Judged++
				if about {
					r.About++
				}
			}
		}, url)
	}
	for _, d := range rec.Documents {
		count(func(r *store.Rates) {
			r.Documents++
			if d.Accepted {
				r.Accepted++
			}
		}, d.URLs...)
		site.References += d.References
	}
	site.Verdict = t.verdict(site.Rates)
	return site, judged(rec, byPath, t)
}

// judged lists directories by path, each with a verdict: its own where there is
// enough to judge by, else that of the directory above. So a fruitful directory
// below a poor one is kept, and one of a few pages goes with the rest.
func judged(rec store.SiteRecord, byPath map[string]*store.Rates, t Thresholds) []store.DirectoryRates {
	avoid := map[string]bool{}
	dirs := make([]store.DirectoryRates, 0, len(byPath))
	for _, path := range slices.Sorted(maps.Keys(byPath)) { // what is above comes first
		r := *byPath[path]
		switch {
		case path == "/" || slices.Contains(rec.Scopes, path):
			// The way into the site is the site's own verdict.
		case t.judges(r):
			avoid[path] = t.poor(r)
		default:
			avoid[path] = avoid[weburl.Above(path)]
		}
		dirs = append(dirs, store.DirectoryRates{Host: rec.Host, Path: path, Name: name(path), Rates: r, Avoid: avoid[path]})
	}
	return dirs
}

// relevantPages are the pages on a way to an accepted document: those that link
// to one, and those by which these were found.
func relevantPages(rec store.SiteRecord) map[string]bool {
	out := map[string]bool{}
	for _, from := range rec.Fruitful {
		for page := from; page != "" && !out[page]; {
			parent, ok := rec.Pages[page]
			if !ok {
				break
			}
			out[page] = true
			page = parent
		}
	}
	return out
}
