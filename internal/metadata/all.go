package metadata

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gleaner/internal/gleaner"
)

// CopySources returns the sources of copies that cfg allows, and by name why the
// others cannot be used: they want a key or a contact. Crossref is not among
// them: its licensed full texts are known to Unpaywall and OpenAlex too, at less
// than one request a paper.
func CopySources(cfg Config) (sources []CopySource, unusable map[string]error) {
	cfg = cfg.withDefaults()
	unusable = map[string]error{}
	sources = []CopySource{NewLinks(cfg), NewSemanticScholar(cfg), NewArXiv(cfg)}
	if u := NewUnpaywall(cfg); u.usable() == nil {
		sources = append(sources, u)
	} else {
		unusable[u.Name()] = u.usable()
	}
	if o := NewOpenAlex(cfg); o.keyless() == nil {
		sources = append(sources, o)
	} else {
		unusable[o.Name()] = o.keyless()
	}
	return sources, unusable
}

// Sources returns the sources that can list a venue, DBLP first, in the order of
// trust in which Merge expects them. Those that cannot say which venue is meant
// answer with ErrNotCovered; OpenAlex is left out without its key.
func Sources(cfg Config) []Source {
	cfg = cfg.withDefaults()
	out := []Source{NewDBLP(cfg).AsSource(), NewACL(cfg), NewCrossref(cfg)}
	if cfg.OpenAlexKey != "" {
		out = append(out, NewOpenAlex(cfg))
	}
	return out
}

// Known is what all sources together know of a venue's years.
type Known struct {
	Records []Record
	// Failed names the sources that did not answer, with the reason; those that
	// cannot list this venue at all (ErrNotCovered) are in NotCovered.
	Failed     map[string]error
	NotCovered map[string]error
}

// Collect asks all sources side by side and merges what they list, in the given
// order of trust. It fails where the first source that covers the venue fails:
// without it the list would look whole and not be. OpenAlex only enriches.
func Collect(ctx context.Context, sources []Source, v gleaner.Venue, years gleaner.Years) (Known, error) {
	lists, errs := make([][]gleaner.Paper, len(sources)), make([]error, len(sources))
	var wg sync.WaitGroup
	for i, s := range sources {
		wg.Go(func() { lists[i], errs[i] = s.Papers(ctx, v, years) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return Known{}, ctx.Err()
	}
	k := Known{Failed: map[string]error{}, NotCovered: map[string]error{}}
	var listings []Listing
	decided := false
	for i, s := range sources {
		var uncovered ErrNotCovered
		switch {
		case errors.As(errs[i], &uncovered):
			k.NotCovered[s.Name()] = errs[i]
			continue
		case errs[i] != nil && (!decided || isGate(errs[i])):
			return Known{}, fmt.Errorf("%s: %w", s.Name(), errs[i])
		case errs[i] != nil:
			k.Failed[s.Name()] = errs[i]
			continue
		}
		_, enrich := s.(*OpenAlex)
		decided = decided || !enrich
		listings = append(listings, Listing{Source: s.Name(), Papers: lists[i], Enrich: enrich})
	}
	if !decided {
		return k, ErrNoVolume{Venue: v.Key, Years: years}
	}
	k.Records = Merge(listings...)
	return k, nil
}
