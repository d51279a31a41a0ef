package harvest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/frontier"
	"gleaner/internal/metadata"
	"gleaner/internal/page"
	"gleaner/internal/rank"
	"gleaner/internal/store"
	"gleaner/internal/venue"
	"gleaner/internal/weburl"
)

// Seeded counts what was given to the frontier.
type Seeded struct {
	Hosts int `json:"hosts"`
	URLs  int `json:"urls"` // new ones
}

// A seed enters before anything a strategy would queue.
const seedQueue, seedPriority = 3, 1

// LocateCopies asks every source of open copies for each wanted paper that was
// not found yet, and makes the copies leads of their hosts, the best first.
func (s *Stages) LocateCopies(ctx context.Context, id string, o store.SiteOptions, report func(done, of int)) (Seeded, error) {
	papers, err := s.DB.Missing(ctx, id)
	if err != nil {
		return Seeded{}, err
	}
	byHost := map[string][]frontier.Entry{}
	for i, p := range papers {
		copies, err := s.copiesOf(ctx, p)
		if err != nil {
			return Seeded{}, err
		}
		for _, c := range copies {
			e := frontier.Entry{Role: frontier.Lead, Candidate: rank.Candidate{Link: page.Link{URL: c.URL, Anchor: p.Title, Context: c.Source, Source: page.SourceSeed},
				OffSite: true, Document: !c.Landing, Wanted: 1, Queue: seedQueue, Priority: seedPriority}}
			if c.Landing {
				e.Role = frontier.Landing
			}
			host := weburl.Host(c.URL)
			byHost[host] = append(byHost[host], e)
		}
		report(i+1, len(papers))
	}
	return s.seed(ctx, id, "copy", o, byHost, nil)
}

func (s *Stages) copiesOf(ctx context.Context, p venue.Paper) ([]metadata.Copy, error) {
	var all []metadata.Copy
	for _, src := range s.Copies {
		cs, err := src.Copies(ctx, p)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			// One catalogue that is out must not stop a harvest; the next run
			// asks it again.
			s.Log.Warn("open copies could not be asked for", "source", src.Name(), "paper", p.Key, "error", err)
			continue
		}
		all = append(all, cs...)
	}
	return metadata.Rank(all), nil
}

// SeedHomepages gives the homepages of the harvest's authors to the frontier,
// each with the scope that says what of its host may be crawled. scope is
// prefix, host or domain.
func (s *Stages) SeedHomepages(ctx context.Context, id, scope string, o store.SiteOptions) (Seeded, error) {
	pages, err := s.DB.HarvestHomepages(ctx, id)
	if err != nil {
		return Seeded{}, err
	}
	byHost := map[string][]frontier.Entry{}
	prefixes := map[string]map[string]string{}
	for _, h := range pages {
		host := weburl.Host(h.URL)
		e := frontier.Entry{Role: frontier.Member, Candidate: rank.Candidate{Link: page.Link{URL: h.URL, Anchor: h.AuthorID, Source: page.SourceSeed},
			Queue: seedQueue, Priority: seedPriority}}
		byHost[host] = append(byHost[host], e)
		prefix := "/"
		if scope == "" || scope == "prefix" {
			prefix = weburl.PathPrefix(h.URL)
		}
		if prefixes[host] == nil {
			prefixes[host] = map[string]string{}
		}
		prefixes[host][prefix] = h.AuthorID
	}
	return s.seed(ctx, id, "homepage", o, byHost, prefixes)
}

func (s *Stages) seed(ctx context.Context, id, origin string, o store.SiteOptions, byHost map[string][]frontier.Entry, prefixes map[string]map[string]string) (Seeded, error) {
	var done Seeded
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		entries := unique(byHost[host])
		err := pgx.BeginFunc(ctx, s.DB.Pool, func(tx pgx.Tx) error {
			site, err := store.EnsureSite(ctx, tx, host)
			if err != nil {
				return err
			}
			if err := store.JoinSite(ctx, tx, id, site, origin, o); err != nil {
				return err
			}
			for _, prefix := range slices.Sorted(maps.Keys(prefixes[host])) {
				if err := store.AddScope(ctx, tx, site, prefix, prefixes[host][prefix]); err != nil {
					return err
				}
			}
			added, err := frontier.Add(ctx, tx, site, entries)
			done.URLs += len(added)
			return err
		})
		if err != nil {
			return done, fmt.Errorf("harvest: seed %s: %w", host, err)
		}
		done.Hosts++
	}
	return done, nil
}

// unique drops entries of one identity, keeping the first, in seq order.
func unique(entries []frontier.Entry) []frontier.Entry {
	seen := map[frontier.Hash]bool{}
	return slices.DeleteFunc(entries, func(e frontier.Entry) bool {
		h := e.Hash()
		had := seen[h]
		seen[h] = true
		return had
	})
}
