package harvest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/guard"
	"gleaner/internal/homepage"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// decisionAge is how long a decision on an author is valid.
const decisionAge = 30 * 24 * time.Hour

// ParallelAuthors is how many authors of a batch are searched for at once. Their pages are on
// different hosts, for whose turns they wait.
const ParallelAuthors = 12

// Looked is the result of a batch of FindHomepages.
type Looked struct {
	Looked   int    `json:"looked"`
	Found    int    `json:"found"`
	Searches int    `json:"searches"`
	Fetches  int    `json:"fetches"`
	Last     string `json:"last"` // place after which to continue
	More     bool   `json:"more"`
}

// AuthorBatches divides the authors in a range, as far as a pass searches for them, into
// batches, and returns the last place of each. Limit bounds the number of batches.
func (s *Stages) AuthorBatches(ctx context.Context, id string, in store.AuthorRange, size, pass int, since time.Time) (last []string, more bool, err error) {
	limit := in.Limit * size
	in.Limit = limit
	authors, err := s.DB.AuthorsToFind(ctx, id, in, decidedSince(since, pass), pass == 2)
	for batch := range slices.Chunk(authors, size) {
		last = append(last, batch[len(batch)-1].Place)
	}
	return last, len(authors) == limit, err
}

// decidedSince returns the time since which decisions are valid.
func decidedSince(given time.Time, pass int) time.Time {
	switch {
	case !given.IsZero():
		return given
	case pass == 2:
		return time.Now()
	}
	return time.Now().Add(-decisionAge)
}

// Part is a part of a search for homepages.
type Part struct {
	Authors store.AuthorRange
	Pass    int
	Since   time.Time     // older decisions, and in the first pass failures, do not count; zero is decisionAge ago
	Delay   time.Duration // the least time between two requests to a host; 0 is the client's
}

// FindHomepages searches for the homepages of the authors of a harvest's missing papers, as
// far as they are in a range. It is a part of a pass of a homepage.Search, which
// SettleHomepages ends.
//
// The first pass searches for every author without a decision since the time given (zero:
// within decisionAge), and for those with unanswered requests that are due. The second pass
// takes the time that SettleHomepages returned.
func (s *Stages) FindHomepages(ctx context.Context, id, venueKey string, in Part, report func(done, of int)) (Looked, error) {
	pass, pages := in.Pass, asker{Getter: s.Pages}
	if pass != 2 {
		pages.since = in.Since
	}
	if in.Delay > 0 && s.Every != nil {
		pages.gate = s.Every(in.Delay)
	}
	since := decidedSince(in.Since, pass)
	ctx, err := s.anew(ctx, id)
	if err != nil {
		return Looked{}, err
	}
	authors, err := s.DB.AuthorsToFind(ctx, id, in.Authors, since, pass == 2)
	if err != nil || len(authors) == 0 {
		return Looked{}, err
	}
	names, err := s.Papers.VenueNames(ctx, venueKey)
	if err != nil {
		return Looked{}, err
	}
	b := &findBatch{s: s, harvest: id, search: s.search(id), names: names, pass: pass, pages: pages, settled: since, report: report, of: len(authors),
		out: Looked{Last: authors[len(authors)-1].Place, More: len(authors) == in.Authors.Limit}}
	out, err := b.run(ctx, authors)
	if b.open {
		q, qerr := s.DB.StillOpen(context.WithoutCancel(ctx), id)
		err = cmp.Or(err, qerr)
		s.Log.WarnContext(ctx, "pages, searches or directories did not answer; so many authors of the harvest are looked for again",
			"harvest", id, "authors", q.Authors, "such as", b.example.What, "because", b.example.Reason)
	}
	return out, err
}

// findBatch is one call of FindHomepages.
type findBatch struct {
	s       *Stages
	harvest string
	search  homepage.Search
	names   []string
	pass    int
	pages   homepage.Getter
	settled time.Time
	report  func(done, of int)
	of      int

	mu      sync.Mutex // guards what follows
	done    int
	out     Looked
	open    bool                // something did not answer
	example evidence.Unanswered // of what
}

// run consults the directories for some authors while it fetches the pages of those before
// them. The chunks grow: the search for the first authors begins at once, and a directory
// that reads a whole dump for each chunk does so only a few times.
func (b *findBatch) run(ctx context.Context, authors []store.Sought) (Looked, error) {
	g, gctx := guard.WithContext(ctx)
	g.SetLimit(ParallelAuthors)
	var failed error
	for size := 2; len(authors) > 0 && failed == nil; size *= 2 {
		n := min(size, len(authors))
		var subjects []homepage.Subject
		if subjects, failed = b.subjects(gctx, authors[:n]); failed != nil {
			break
		}
		authors = authors[n:]
		for _, sub := range subjects {
			g.Go(func() error { return b.find(gctx, sub) })
		}
	}
	if err := g.Wait(); err != nil {
		return b.out, err
	}
	return b.out, failed
}

// subjects returns the authors with all that is known of them, without those for whom the
// second pass has nothing new.
func (b *findBatch) subjects(ctx context.Context, authors []store.Sought) ([]homepage.Subject, error) {
	var subjects []homepage.Subject
	for _, a := range authors {
		sub, err := b.s.subject(ctx, a.Author, b.names)
		if err != nil {
			return nil, err
		}
		again := true
		if b.pass == 2 {
			if sub, again, err = b.search.Second(ctx, sub, b.settled); err != nil {
				return nil, err
			}
		}
		if again {
			sub.Getter = b.pages
			subjects = append(subjects, sub)
		} else {
			b.count(evidence.Decision{}, false)
		}
	}
	return subjects, b.s.consult(ctx, subjects)
}

// poisonLimit is the number of deaths after which an author is skipped. A page over which
// frontier.MaxDeaths processes died is skipped before.
const poisonLimit = 2 * frontier.MaxDeaths

var errPoison = errors.New("the process that looked for the author ended, each time")

func (b *findBatch) find(ctx context.Context, sub homepage.Subject) error {
	id := sub.Author.ID()
	suspect, err := b.s.DB.Suspect(ctx, id, b.harvest)
	if err != nil {
		return err
	}
	if suspect { // one at a time, so that none is charged with another's deaths
		if err := b.s.suspects.Lock(ctx); err != nil {
			return err
		}
		defer b.s.suspects.Unlock()
	}
	deaths, err := b.s.DB.BeginSearch(ctx, id, b.harvest)
	if err != nil {
		return err
	}
	var d evidence.Decision
	if err = errPoison; deaths < poisonLimit {
		err = guard.Logged(ctx, b.s.Log, id, func() (err error) {
			d, err = b.search.Look(ctx, sub, b.pass)
			return err
		})
	}
	if err := b.s.DB.EndSearch(context.WithoutCancel(ctx), id, b.harvest); err != nil {
		return err
	}
	if guard.Panicked(err) || errors.Is(err, errPoison) { // over what was found of the author, who alone is set aside
		own := context.WithoutCancel(ctx)
		d, err = b.search.Book.ApplyOverrides(own, evidence.Decision{Author: sub.Author, NotFound: fmt.Sprintf("%s (%s)", evidence.Unreadable, err)})
		if err == nil {
			err = b.search.Book.Save(own, d)
		}
	}
	if err != nil && !errors.Is(err, homepage.ErrSearchUnavailable) {
		return err
	}
	b.count(d, true)
	return nil
}

func (b *findBatch) count(d evidence.Decision, looked bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done++
	if looked && b.pass != 2 {
		b.out.Looked++
	}
	if len(d.Unanswered) > 0 {
		b.open = true
		b.example = d.Unanswered[0]
	}
	b.out.Searches += d.Searches
	b.out.Fetches += d.Fetches
	if len(d.Homepages) > 0 {
		b.out.Found++
	}
	b.report(b.done, b.of)
}

// subject returns an author with papers, co-authors and the homepages that people named.
func (s *Stages) subject(ctx context.Context, a gleaner.Author, names []string) (homepage.Subject, error) {
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
	before, err := Homepages{s.DB}.decision(ctx, a.ID())
	if err != nil {
		return sub, err
	}
	sub.Withdrawn, sub.Listed = homepage.WithdrawnFrom(before), homepage.ConfirmedBy(before)
	words, err := s.DB.Overrides(ctx, a.ID())
	for _, w := range words {
		if w.Word == "is" {
			sub.Listed = append(sub.Listed, homepage.Listed{URL: w.URL, Source: "user"})
		}
	}
	return sub, err
}

// Subjects returns authors as a harvest searches for them, with their papers on record and
// the entries of the directories.
func (s *Stages) Subjects(ctx context.Context, authors []gleaner.Author, report func(done, of int)) ([]homepage.Subject, error) {
	subjects := make([]homepage.Subject, len(authors))
	for i, a := range authors {
		var err error
		if subjects[i], err = s.subject(ctx, a, nil); err != nil {
			return nil, err
		}
		if ps := subjects[i].Papers; len(ps) > 0 {
			if subjects[i].Venue, err = s.Papers.VenueNames(ctx, ps[0].Venue); err != nil {
				return nil, err
			}
		}
	}
	const chunk = 50
	for done := 0; done < len(subjects); done += chunk {
		report(done, len(subjects))
		if err := s.consult(ctx, subjects[done:min(done+chunk, len(subjects))]); err != nil {
			return nil, err
		}
	}
	return subjects, nil
}
