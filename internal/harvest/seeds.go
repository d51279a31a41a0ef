package harvest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Seeded counts the seeds that were added to the frontier.
type Seeded struct {
	Hosts int `json:"hosts"`
	URLs  int `json:"urls"` // new ones
}

// Seeds come before the links of all strategies.
const seedQueue, seedPriority = 3, 1

// Asked is the position of LocateCopies in the list of papers.
type Asked struct {
	Year int    `json:"year"`
	Key  string `json:"key"` // of the last paper requested
	Done int    `json:"done"`
	Of   int    `json:"of"`
}

// in returns how many papers of a list by year were requested. If the last one is no longer
// missing, its whole year is requested again.
func (a Asked) in(papers []gleaner.Paper) int {
	if i := slices.IndexFunc(papers, func(p gleaner.Paper) bool { return p.Key == a.Key }); i >= 0 {
		return i + 1
	}
	i, _ := slices.BinarySearchFunc(papers, a.Year, func(p gleaner.Paper, year int) int { return cmp.Compare(p.Year, year) })
	return i
}

// LocateCopies queries every source of open copies for each missing paper, and adds the
// copies to the frontiers of their hosts, the best first. For papers up to from, requested
// by an earlier attempt, it uses the record.
func (s *Stages) LocateCopies(ctx context.Context, id string, from Asked, report func(Asked)) (Seeded, error) {
	ctx, err := s.anew(ctx, id)
	if err != nil {
		return Seeded{}, err
	}
	papers, err := s.DB.Missing(ctx, id)
	if err != nil {
		return Seeded{}, err
	}
	first := from.in(papers)
	byHost := map[string][]frontier.Entry{}
	add := byCopyHost(byHost)
	if err := s.located(ctx, papers[:first], add); err != nil {
		return Seeded{}, err
	}
	err = s.locate(ctx, id, s.Copies, papers[first:], func(n, _ int) {
		last := papers[first+n-1]
		report(Asked{Year: last.Year, Key: last.Key, Done: first + n, Of: len(papers)})
	}, eachCopy(add))
	if err != nil {
		return Seeded{}, err
	}
	return s.seedCopies(ctx, id, byHost)
}

// byCopyHost returns a function that adds a copy to the entries of its host.
func byCopyHost(byHost map[string][]frontier.Entry) func(p gleaner.Paper, url, source string, landing bool) {
	return func(p gleaner.Paper, url, source string, landing bool) {
		host := weburl.Host(url)
		byHost[host] = append(byHost[host], copyEntry(p, url, source, landing))
	}
}

// eachCopy returns a function that calls add for each located copy.
func eachCopy(add func(p gleaner.Paper, url, source string, landing bool)) func(metadata.Located) {
	return func(l metadata.Located) {
		for _, c := range l.Copies {
			add(l.Paper, c.URL, c.Source, c.Landing)
		}
	}
}

func (s *Stages) seedCopies(ctx context.Context, id string, byHost map[string][]frontier.Entry) (Seeded, error) {
	for host, entries := range byHost {
		byHost[host] = withListings(entries)
	}
	return s.seed(ctx, id, "copy", byHost, nil, ignoreSeeded)
}

// located calls each for the copies of papers on record.
func (s *Stages) located(ctx context.Context, papers []gleaner.Paper, each func(p gleaner.Paper, url, source string, landing bool)) error {
	for some := range slices.Chunk(papers, papersPerAsk) {
		keys := make([]string, len(some))
		for i, p := range some {
			keys[i] = p.Key
		}
		known, err := s.DB.OpenCopies(ctx, keys)
		if err != nil {
			return err
		}
		for _, p := range some {
			for _, c := range known[p.Key] {
				each(p, c.URL, c.Source, c.Landing)
			}
		}
	}
	return nil
}

func ignoreSeeded(string, Seeded) {}

// Locate queries every source of open copies for papers of the record and saves the copies.
func (s *Stages) Locate(ctx context.Context, papers []gleaner.Paper, report func(done, of int)) error {
	return s.locate(ctx, "", s.Copies, papers, report, func(metadata.Located) {})
}

// locate queries sources for copies. Failures are recorded with the harvest, if there is one.
func (s *Stages) locate(ctx context.Context, id string, sources []metadata.CopySource, papers []gleaner.Paper, report func(done, of int), each func(metadata.Located)) error {
	done := 0
	for some := range slices.Chunk(papers, papersPerAsk) {
		located, err := metadata.LocateCopies(ctx, sources, some)
		if err != nil {
			return err
		}
		if err := s.keepCopies(ctx, located); err != nil {
			return err
		}
		if id != "" {
			if err := s.openCopies(ctx, id, sources, located); err != nil {
				return err
			}
		}
		for _, l := range located {
			each(l)
		}
		done += len(some)
		report(done, len(papers))
	}
	return nil
}

// papersPerAsk is how many papers are requested between two reports of progress. Some
// catalogues answer for many papers at once.
const papersPerAsk = 500

func copyEntry(p gleaner.Paper, url, source string, landing bool) frontier.Entry {
	e := frontier.Entry{Role: frontier.Lead, Candidate: page.Candidate{Link: page.Link{URL: url, Anchor: p.Title, Context: source, Source: page.SourceSeed},
		Wanted: 1, Queue: seedQueue, Priority: seedPriority}}
	if landing {
		e.Role = frontier.Landing
	}
	return e
}

// keepCopies saves copies with licence and version, and logs which catalogues failed: one
// that is unavailable must not stop a harvest.
func (s *Stages) keepCopies(ctx context.Context, located []metadata.Located) error {
	var rows []store.Copy
	failed := map[string]error{}
	for _, l := range located {
		for _, c := range l.Copies {
			rows = append(rows, store.Copy{Paper: l.Paper.Key, URL: c.URL, Landing: c.Landing, Version: string(c.Version), License: c.License, Host: string(c.Host), Source: c.Source})
		}
		maps.Copy(failed, l.Failed)
	}
	for name, err := range failed {
		s.Log.WarnContext(ctx, "open copies could not be asked for", "source", name, "error", err)
	}
	return s.DB.SaveCopies(ctx, rows)
}

// SeedHomepages adds the homepages of the harvest's authors and their places of papers to the
// frontier, each with its scope: the path of a homepage, or with ScopeHost the whole host.
// It skips hosts up to after, in their order, and calls report for each host with the
// counts so far.
func (s *Stages) SeedHomepages(ctx context.Context, id, scope string, after string, report func(host string, so Seeded)) (Seeded, error) {
	pages, err := s.DB.HarvestHomepages(ctx, id)
	if err != nil {
		return Seeded{}, err
	}
	return s.seedPages(ctx, id, scope, after, pages, report)
}

// SeedFound adds homepages that are a whole host to the frontier while the search for others
// goes on. It returns their hosts, at most limit that were never crawled and are not in
// without. The scope of other hosts is known only when all homepages there are found.
func (s *Stages) SeedFound(ctx context.Context, id string, without []string, limit int) ([]string, error) {
	pages, err := s.DB.HarvestHomepages(ctx, id)
	if err != nil {
		return nil, err
	}
	var hosts []string
	on := map[string][]store.Homepage{}
	for _, h := range pages {
		if h.Prefix(false) != "/" || slices.Contains(without, h.Host) {
			continue
		}
		if on[h.Host] == nil {
			hosts = append(hosts, h.Host)
		}
		on[h.Host] = append(on[h.Host], h)
	}
	if hosts, err = s.DB.NeverCrawled(ctx, hosts, limit); err != nil {
		return nil, err
	}
	pages = nil
	for _, host := range hosts {
		pages = append(pages, on[host]...)
	}
	_, err = s.seedPages(ctx, id, "", "", pages, ignoreSeeded)
	return hosts, err
}

func (s *Stages) seedPages(ctx context.Context, id, scope, after string, pages []store.Homepage, report func(host string, so Seeded)) (Seeded, error) {
	byHost := map[string][]frontier.Entry{}
	prefixes := map[string]map[string]string{}
	for _, h := range pages {
		host := weburl.Host(h.URL)
		if host <= after {
			continue
		}
		e := frontier.Entry{Role: frontier.Member, Candidate: page.Candidate{Link: page.Link{URL: h.URL, Anchor: h.AuthorID, Source: page.SourceSeed},
			Queue: seedQueue, Priority: seedPriority}}
		byHost[host] = append(byHost[host], e)
		prefix := h.Prefix(scope == ScopeHost)
		if prefixes[host] == nil {
			prefixes[host] = map[string]string{}
		}
		prefixes[host][prefix] = h.AuthorID
	}
	return s.seed(ctx, id, "homepage", byHost, prefixes, report)
}

func (s *Stages) seed(ctx context.Context, id, origin string, byHost map[string][]frontier.Entry, prefixes map[string]map[string]string, report func(host string, so Seeded)) (Seeded, error) {
	var done Seeded
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		into := func(tx pgx.Tx) (site int, err error) {
			if site, err = store.HoldSite(ctx, tx, host); err == nil {
				err = store.JoinSite(ctx, tx, id, site, origin)
			}
			return site, err
		}
		n, err := seedHost(ctx, s.DB, into, unique(byHost[host]), prefixes[host])
		if err != nil {
			return done, fmt.Errorf("harvest: seed %s: %w", host, err)
		}
		done.Hosts, done.URLs = done.Hosts+1, done.URLs+n
		report(host, done)
	}
	return done, nil
}

// seededAtOnce is how many entries of a host are added in one transaction, so that its row is
// not locked for long.
const seededAtOnce = 500

// seedHost adds scopes and then URLs of a host, some at a time. into locks the host's row and
// returns its id. seedHost returns how many URLs were new.
func seedHost(ctx context.Context, db *store.DB, into func(pgx.Tx) (site int, err error), entries []frontier.Entry, scopes map[string]string) (n int, err error) {
	for some := range slices.Chunk(slices.Sorted(maps.Keys(scopes)), seededAtOnce) {
		err := db.Tx(ctx, func(tx pgx.Tx) error {
			site, err := into(tx)
			for _, prefix := range some {
				if err == nil {
					err = store.AddScope(ctx, tx, site, prefix, scopes[prefix])
				}
			}
			return err
		})
		if err != nil {
			return n, err
		}
	}
	for some := range slices.Chunk(entries, seededAtOnce) {
		var added map[frontier.Hash]frontier.Added
		err := db.Tx(ctx, func(tx pgx.Tx) error {
			site, err := into(tx)
			if err == nil {
				added, err = frontier.Add(ctx, tx, site, some)
			}
			return err
		})
		if err != nil {
			return n, err
		}
		n += len(added)
	}
	return n, nil
}

// unique drops entries with the same hash, except the first.
func unique(entries []frontier.Entry) []frontier.Entry {
	seen := map[frontier.Hash]bool{}
	return slices.DeleteFunc(entries, func(e frontier.Entry) bool {
		h := e.Hash()
		had := seen[h]
		seen[h] = true
		return had
	})
}
