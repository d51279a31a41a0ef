package harvest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"gleaner/internal/homepage"
	"gleaner/internal/metadata"
	"gleaner/internal/store"
	"gleaner/internal/venue"
	"gleaner/internal/weburl"
)

// decisionAge is for how long a decision about an author stands.
const decisionAge = 30 * 24 * time.Hour

// parallelAuthors is how many authors are looked for at once. Their pages are on
// different hosts, whose turns they wait for.
const parallelAuthors = 12

// Looked is what a batch of FindHomepages comes to.
type Looked struct {
	Looked, Found, Searches, Fetches int
	Last                             string // id to go on after
	More                             bool
}

// FindHomepages looks for the homepages of the next authors of a harvest's
// missing papers. In the first pass every author not decided lately is looked
// for, by what is known of that author alone; in the second those without a
// homepage, by the homepages that the first found for their co-authors. So what
// is found does not depend on the order of work.
func (s *Stages) FindHomepages(ctx context.Context, id, venueKey, after string, limit, pass int, since time.Time, report func(done, of int)) (Looked, error) {
	if since.IsZero() {
		since = time.Now().Add(-decisionAge)
	}
	authors, err := s.DB.AuthorsToFind(ctx, id, after, since, limit, pass == 2)
	if err != nil || len(authors) == 0 {
		return Looked{}, err
	}
	names := s.VenueNames(ctx, venueKey)
	out := Looked{Last: authors[len(authors)-1].ID(), More: len(authors) == limit}
	var mu sync.Mutex
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelAuthors)
	for _, a := range authors {
		g.Go(func() error {
			d, err := s.findOne(gctx, a, names, pass)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			out.Looked++
			out.Searches += d.Searches
			out.Fetches += d.Fetches
			if len(d.Homepages) > 0 {
				out.Found++
			}
			report(out.Looked, len(authors))
			return nil
		})
	}
	return out, g.Wait()
}

func (s *Stages) findOne(ctx context.Context, a venue.Author, names []string, pass int) (homepage.Decision, error) {
	subject, err := s.subject(ctx, a, names, pass)
	if err != nil || pass == 2 && len(subject.CoAuthorHomepages) == 0 {
		return homepage.Decision{}, err
	}
	d, err := s.Finder.Find(ctx, subject)
	if err != nil && !errors.Is(err, homepage.ErrSearchUnavailable) {
		return d, err
	}
	d, err = s.heed(ctx, d)
	if err != nil {
		return d, err
	}
	return d, s.save(ctx, d)
}

func (s *Stages) subject(ctx context.Context, a venue.Author, names []string, pass int) (homepage.Subject, error) {
	sub := homepage.Subject{Author: a, Venue: names}
	var err error
	if sub.Papers, err = s.DB.PapersOf(ctx, a.ID()); err != nil {
		return sub, err
	}
	seen := map[string]bool{a.ID(): true}
	for _, p := range sub.Papers {
		for _, co := range p.Authors {
			if !seen[co.ID()] {
				seen[co.ID()] = true
				sub.CoAuthors = append(sub.CoAuthors, co)
			}
		}
	}
	if pass == 2 {
		if err := s.coAuthorHomepages(ctx, &sub); err != nil {
			return sub, err
		}
	}
	return sub, s.directories(ctx, a, &sub)
}

func (s *Stages) coAuthorHomepages(ctx context.Context, sub *homepage.Subject) error {
	ids := make([]string, len(sub.CoAuthors))
	for i, co := range sub.CoAuthors {
		ids[i] = co.ID()
	}
	pages, err := s.DB.HomepagesOf(ctx, ids)
	for _, h := range pages {
		if h.Rank == 0 {
			sub.CoAuthorHomepages = append(sub.CoAuthorHomepages, h.URL)
		}
	}
	return err
}

// directories adds what DBLP lists of a person, and a person's own words.
func (s *Stages) directories(ctx context.Context, a venue.Author, sub *homepage.Subject) error {
	if a.PID != "" {
		p, err := s.DBLP.Person(ctx, a.PID)
		var none metadata.ErrNotFound
		var bad metadata.ErrBadAnswer
		switch {
		case err == nil:
			for _, u := range p.URLs {
				sub.Listed = append(sub.Listed, homepage.Listed{URL: u, Source: "dblp"})
			}
			sub.Aliases = p.Aliases
		case !errors.As(err, &none) && !errors.As(err, &bad):
			return err
		}
	}
	words, err := s.DB.Overrides(ctx, a.ID())
	for _, w := range words {
		if w.Word == "is" {
			sub.Listed = append(sub.Listed, homepage.Listed{URL: w.URL, Source: "user"})
		}
	}
	return err
}

// heed puts a person's words above what was decided.
func (s *Stages) heed(ctx context.Context, d homepage.Decision) (homepage.Decision, error) {
	words, err := s.DB.Overrides(ctx, d.Author.ID())
	for _, w := range words {
		same := func(c homepage.Candidate) bool { return weburl.Key(c.URL) == weburl.Key(w.URL) }
		d.Homepages = slices.DeleteFunc(d.Homepages, same)
		if w.Word == "is" {
			d.Homepages = slices.Insert(d.Homepages, 0, homepage.Candidate{URL: w.URL, Source: "user", Rule: "a person said so", Priority: "high", Score: 1, Kept: true})
			d.NotFound = ""
		} else if len(d.Homepages) == 0 && d.NotFound == "" {
			d.NotFound = "a person said that the page found is not theirs"
		}
	}
	return d, err
}

func (s *Stages) save(ctx context.Context, d homepage.Decision) error {
	var kept []store.Homepage
	for i, c := range d.Homepages {
		kept = append(kept, store.Homepage{AuthorID: d.Author.ID(), URL: c.URL, Host: weburl.Host(c.URL), Rank: i, Source: c.Source, Score: c.Score})
	}
	return s.DB.SaveDecision(ctx, d.Author.ID(), d, d.NotFound, d.Fetches, kept)
}

// SettleHomepages leaves a page that several of the harvest's authors were given
// to the one with the most evidence.
func (s *Stages) SettleHomepages(ctx context.Context, id string) (int, error) {
	bodies, err := s.DB.HarvestDecisions(ctx, id)
	if err != nil {
		return 0, err
	}
	decisions := make([]homepage.Decision, len(bodies))
	for i, b := range bodies {
		if err := json.Unmarshal(b, &decisions[i]); err != nil {
			return 0, err
		}
	}
	before := make([]int, len(decisions))
	for i := range decisions {
		before[i] = len(decisions[i].Homepages)
	}
	homepage.ResolveConflicts(decisions)
	n := 0
	for i := range decisions {
		if len(decisions[i].Homepages) == before[i] {
			continue
		}
		n++
		if err := s.save(ctx, decisions[i]); err != nil {
			return n, err
		}
	}
	return n, nil
}
