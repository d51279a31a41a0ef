package harvest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/metadata"
	"gleaner/internal/record/store"
)

// Sources that are queried in a way of their own.
const (
	SourceDBLP = "dblp"
	SourceFile = "file" // a list that a person gave
)

// listingAge is how long a listed volume is valid.
const listingAge = 7 * 24 * time.Hour

// Listing is the result of ListPapers.
type Listing struct {
	Published int `json:"published"`
	Held      int `json:"held"`
	Wanted    int `json:"wanted"`
	// Missing has a reason for each volume and source that did not answer. The harvest
	// continues without them.
	Missing []string `json:"missing,omitempty"`
}

// ListPapers lists the papers of a venue in a range of years, of a person or of a list, and
// marks those that the library holds. It calls report for each volume. The user has to
// resolve errors for which metadata.UserError holds.
func (s *Stages) ListPapers(ctx context.Context, id, venueKey string, years gleaner.Years, report func(string)) (Listing, error) {
	ctx, err := s.anew(ctx, id)
	if err != nil {
		return Listing{}, err
	}
	records, gaps, err := s.Papers.known(ctx, venueKey, years, report)
	l := Listing{Missing: words(gaps)}
	if err != nil {
		return l, err
	}
	if err := s.openGaps(ctx, id, gaps); err != nil {
		return l, err
	}
	papers := metadata.Papers(records)
	held, err := s.Held(ctx, papers)
	if err != nil {
		return l, err
	}
	l.Published, l.Held, l.Wanted = len(papers), len(held), len(papers)-len(held)
	return l, s.DB.SetHarvestPapers(ctx, id, papers, held)
}

// HeldByNow returns, by key, why the library by now holds papers that a harvest misses.
func (s *Stages) HeldByNow(ctx context.Context, id string) (map[string]string, error) {
	missing, err := s.DB.Missing(ctx, id)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	return s.Held(ctx, missing)
}

// Held returns, by key, why the library holds papers. more are holdings beside its own.
func (s *Stages) Held(ctx context.Context, papers []gleaner.Paper, more ...gleaner.Paper) (map[string]string, error) {
	holdings, err := s.DB.Holdings(ctx)
	if err != nil {
		return nil, err
	}
	held := map[string]string{}
	for key, why := range match.Held(papers, append(holdings, more...)) {
		held[key] = string(why.Verdict) + ": " + why.Held.Title
	}
	return held, nil
}

// Known returns the merged records of all sources of a venue for a range of years, and saves
// them. The first source that covers the venue decides which papers belong to it, DBLP
// before all; the others complete identifiers and links. missing has a reason for each
// volume and source that did not answer.
func (s *PaperSources) Known(ctx context.Context, venueKey string, years gleaner.Years, report func(string)) (records []metadata.Record, missing []string, err error) {
	records, gaps, err := s.known(ctx, venueKey, years, report)
	return records, words(gaps), err
}

func (s *PaperSources) known(ctx context.Context, venueKey string, years gleaner.Years, report func(string)) (records []metadata.Record, missing []gap, err error) {
	v, err := s.venue(ctx, venueKey)
	if err != nil {
		return nil, nil, err
	}
	names, err := s.sourceNames(v)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		some, err := s.ask(ctx, name, v, years, records, report)
		missing = append(missing, some...)
		if err != nil {
			return nil, missing, err
		}
		if records, err = s.merged(ctx, names, venueKey, years); err != nil {
			return nil, missing, err
		}
	}
	for _, name := range names {
		if c := s.Completers[name]; c != nil {
			why, err := s.complete(ctx, c, venueKey, records, report)
			if err != nil {
				return nil, missing, err
			}
			missing = append(missing, why...)
		}
	}
	if records, err = s.merged(ctx, names, venueKey, years); err != nil {
		return nil, missing, err
	}
	if gleaner.ParseGoal(venueKey).List != "" {
		records, missing = untitled(records, missing)
	}
	if len(records) == 0 {
		return nil, missing, nothing(venueKey, years, missing)
	}
	from := each.Of(records, func(r metadata.Record) gleaner.Origin { return r.Origin })
	save := s.DB.SaveRecords
	if gleaner.ParseGoal(venueKey).Author != "" {
		save = s.DB.SaveNewRecords // records from their venues are more complete
	}
	return records, missing, save(ctx, metadata.Papers(records), from)
}

// nothing returns why there are no papers in the years of a venue: there are none, or they
// could not be listed. While a service is unavailable, that is not known.
func nothing(venueKey string, years gleaner.Years, gaps []gap) error {
	for _, g := range gaps {
		if away := (metadata.ErrUnavailable{}); errors.As(g.err, &away) {
			return fmt.Errorf("the papers of %s are not known: %w", venueKey, g.err)
		}
	}
	missing := words(gaps)
	var none error = metadata.ErrNoVolume{Venue: venueKey, Years: years}
	if gleaner.ParseGoal(venueKey).Venue == "" {
		none = metadata.ErrNoPapers{Goal: venueKey, Years: years}
	}
	if len(missing) == 0 {
		return none
	}
	return fmt.Errorf("%w (%s)", none, strings.Join(missing[:min(3, len(missing))], "; "))
}

// asksDBLP reports whether DBLP is among a venue's sources.
func (s *PaperSources) asksDBLP(v store.Venue) bool {
	names, err := s.sourceNames(v)
	return err != nil || slices.Contains(names, SourceDBLP)
}

// sourceNames returns the sources for a venue, in the order of trust.
func (s *PaperSources) sourceNames(v store.Venue) ([]string, error) {
	names := s.Names
	if v.Sources != "" {
		names = Names(v.Sources)
	}
	if gleaner.ParseGoal(v.Key).Author != "" { // DBLP lists a person's papers, and others complete them
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return s.Completers[n] == nil })
		names = append([]string{SourceDBLP}, names...)
	}
	if src, ok := s.titles(); ok && gleaner.ParseGoal(v.Key).List != "" {
		names = append(slices.Clone(names), src.Name())
	}
	if len(names) == 0 {
		names = []string{SourceDBLP}
	}
	for _, n := range names {
		if n != SourceDBLP && n != SourceFile && s.Sources[n] == nil && s.Completers[n] == nil {
			return nil, metadata.ErrRefused{Service: "the settings", URL: n, Reason: "no source of papers is called so, or its key or address is missing; want " + strings.Join(s.AllSources(), ", ")}
		}
	}
	names = slices.Clone(names)
	if i := slices.Index(names, SourceDBLP); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, SourceDBLP)
	}
	return names, nil
}

// AllSources returns the names of all sources.
func (s *PaperSources) AllSources() []string {
	names := []string{SourceFile}
	for n := range s.Sources {
		names = append(names, n)
	}
	for n := range s.Completers {
		names = append(names, n)
	}
	slices.Sort(names)
	return append([]string{SourceDBLP}, slices.Compact(names)...)
}

// Names splits a comma-separated list.
func Names(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// ask updates the listings of one source. known are the records of the sources before it. If
// there are any, a failure of the source is only noted as missing.
func (s *PaperSources) ask(ctx context.Context, name string, v store.Venue, years gleaner.Years, known []metadata.Record, report func(string)) (missing []gap, err error) {
	switch {
	case name == SourceFile || s.Sources[name] == nil && name != SourceDBLP:
		return nil, nil // a file is on record, and complete queries the others
	case gleaner.ParseGoal(v.Key).List != "":
		err = s.askTitles(ctx, v.Key, years, report)
	case name == SourceDBLP && gleaner.ParseGoal(v.Key).Author != "":
		missing, err = s.askPerson(ctx, v.Key, report)
	case name == SourceDBLP:
		missing, err = s.askDBLP(ctx, v.Key, years, report)
	default:
		if years == (gleaner.Years{}) {
			years = yearsOf(known)
		}
		missing, err = s.askYears(ctx, s.Sources[name], v.Venue, years, report)
	}
	var uncovered metadata.ErrNotCovered
	var none metadata.ErrNoVolume
	var gate metadata.ErrGate
	switch {
	case err == nil || ctx.Err() != nil || errors.As(err, &gate):
		return missing, err
	case errors.As(err, &uncovered), len(known) > 0, refused(err), errors.As(err, &none) && name != SourceDBLP:
		return append(missing, gap{name, "", err}), nil
	}
	return missing, err
}

// askDBLP lists volume by volume, so that an interrupted harvest continues after the last.
func (s *PaperSources) askDBLP(ctx context.Context, key string, years gleaner.Years, report func(string)) (missing []gap, err error) {
	volumes, err := s.DBLP.Volumes(ctx, key, years)
	if err != nil {
		return nil, err
	}
	for i, v := range volumes {
		report(fmt.Sprintf("volume %d of %d: %s", i+1, len(volumes), v.TOC))
		err := enter(ctx, s, SourceDBLP, key, v.TOC, func() ([]gleaner.Paper, error) { return s.DBLP.Papers(ctx, v) })
		var none metadata.ErrNoVolume
		switch {
		case errors.As(err, &none), refused(err):
			missing = append(missing, gap{SourceDBLP, v.TOC, err})
		case err != nil:
			return missing, err
		}
	}
	return missing, nil
}

// Enter saves the list of a source, or of a person's file, for a volume. All papers enter
// the record through it. It leaves out implausible papers, or returns a
// metadata.ErrBadAnswer if there are many.
func (s *PaperSources) Enter(ctx context.Context, source, venueKey, volume string, papers []gleaner.Paper) error {
	if err := metadata.FewAuthors(source, volume, papers); err != nil {
		return err
	}
	papers, err := metadata.Sound(ctx, s.Log, source, papers)
	if err != nil {
		return err
	}
	return s.DB.SaveListing(ctx, source, venueKey, volume, papers)
}

// enter lists a volume and enters its papers, unless its listing is valid.
func enter(ctx context.Context, s *PaperSources, source, key, volume string, list func() ([]gleaner.Paper, error)) error {
	at, err := s.DB.ListedAt(ctx, source, key, volume)
	if err != nil || time.Since(at) < listingAge {
		return err
	}
	papers, err := list()
	if err != nil {
		return err
	}
	return s.Enter(ctx, source, key, volume, papers)
}

// merged merges the listings of the sources on record. The first with papers decides which
// papers belong to the venue.
func (s *PaperSources) merged(ctx context.Context, names []string, key string, years gleaner.Years) ([]metadata.Record, error) {
	var lists []metadata.Listing
	for _, n := range names {
		papers, err := s.DB.Listing(ctx, n, key, years)
		if err != nil {
			return nil, err
		}
		for i := range papers {
			if gleaner.ParseGoal(key).Author == "" { // a person's are of many venues
				papers[i].Venue = key
			}
		}
		if len(papers) > 0 {
			lists = append(lists, metadata.Listing{Source: n, Papers: papers, Enrich: len(lists) > 0})
		}
	}
	if gleaner.ParseGoal(key).List != "" && len(lists) > 0 { // which have the ids of authors
		known, err := s.DB.PapersLike(ctx, lists[0].Papers)
		if err != nil {
			return nil, err
		}
		lists = append(lists, metadata.Listing{Source: "record", Papers: known, Enrich: true})
	}
	records := metadata.Merge(lists...)
	for i := range records {
		s.ownFields(&records[i])
	}
	return records, nil
}

// ownFields removes completing sources from the origins of fields that were only passed to
// them.
func (s *PaperSources) ownFields(r *metadata.Record) {
	for field, from := range r.From {
		if field == "arxiv" || field == "links" {
			continue
		}
		r.From[field] = slices.DeleteFunc(from, func(n string) bool { return s.Completers[n] != nil && s.Sources[n] == nil })
	}
}

// complete queries a source of copies for papers, unless that was done lately, and saves its
// answers as the source's listing.
func (s *PaperSources) complete(ctx context.Context, c metadata.CopySource, key string, records []metadata.Record, report func(string)) (missing []gap, err error) {
	byYear := map[int][]gleaner.Paper{}
	for _, r := range records {
		byYear[r.Paper.Year] = append(byYear[r.Paper.Year], r.Paper)
	}
	for year, papers := range byYear {
		volume := fmt.Sprint(year)
		var why error
		err := enter(ctx, s, c.Name(), key, volume, func() (listed []gleaner.Paper, err error) {
			report(fmt.Sprintf("%s: identifiers for %d papers of %d", c.Name(), len(papers), year))
			located, err := metadata.LocateCopies(ctx, []metadata.CopySource{c}, papers)
			for _, l := range located {
				why = cmp.Or(why, l.Failed[c.Name()])
				if p, ok := completed(l); ok {
					listed = append(listed, p)
				}
			}
			return listed, cmp.Or(err, why)
		})
		var bad metadata.ErrBadAnswer
		switch {
		case why != nil, errors.As(err, &bad):
			return append(missing, gap{c.Name(), volume, err}), nil
		case err != nil:
			return missing, err
		}
	}
	return missing, nil
}

// completed returns a paper with the links from a source of copies, and the arXiv identifier
// in them.
func completed(l metadata.Located) (gleaner.Paper, bool) {
	p := gleaner.Paper{Key: l.Paper.Key, Venue: l.Paper.Venue, Year: l.Paper.Year, Title: l.Paper.Title, Authors: l.Paper.Authors}
	for _, c := range l.Copies {
		if id, ok := strings.CutPrefix(c.URL, "https://arxiv.org/pdf/"); ok && p.ArXiv == "" {
			p.ArXiv = strings.TrimSuffix(id, ".pdf")
		}
		p.Links = append(p.Links, c.URL)
	}
	return p, len(l.Copies) > 0
}
