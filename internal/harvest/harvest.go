package harvest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/homepage"
	"gleaner/internal/metadata"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Stages runs the stages of harvests.
type Stages struct {
	DB     *store.DB
	DBLP   *metadata.DBLP
	Papers *PaperSources
	Copies []metadata.CopySource
	Finder *homepage.Finder
	Pages  *Getter // of the Finder
	// Every returns a gate for single pages that keeps a least time between two requests to
	// a host; nil leaves that to the client.
	Every func(time.Duration) fetch.Gate
	Log   *slog.Logger

	// Directories are asked for people's pages after DBLP.
	Directories []Directory
	// NoDBLPPeople leaves DBLP out of the directories.
	NoDBLPPeople bool
	// Index is given the pages that were fetched as evidence; nil is none.
	Index *store.PageIndex
	// WebSearch is whether the finder asks one, whose pace is most of a search's time.
	WebSearch bool

	suspects guard.Mutex // held while an author over whom a process may have died is looked for
}

// PaperSources lists the papers of a goal from all sources that know them, and keeps the
// lists in the record.
type PaperSources struct {
	DB   *store.DB
	DBLP *metadata.DBLP
	Log  *slog.Logger

	// Sources are further sources of papers by name, and Completers sources of copies that
	// also know identifiers. Names selects among them, "dblp" and "file" for venues without a
	// choice of their own; nil is dblp alone.
	Sources    map[string]metadata.Source
	Completers map[string]metadata.CopySource
	Names      []string
}

// namesAge is for how long a venue's names are not asked for again.
const namesAge = 90 * 24 * time.Hour

// venue is a venue with all its names, or what else a harvest is after.
func (s *PaperSources) venue(ctx context.Context, key string) (store.Venue, error) {
	v, err := s.DB.Venue(ctx, key)
	if err != nil || gleaner.ParseGoal(key).Venue == "" || time.Since(v.Named) < namesAge || !s.asksDBLP(v) {
		return v, err
	}
	known, err := s.DBLP.ResolveVenue(ctx, key)
	if err != nil {
		s.Log.DebugContext(ctx, "the venue's names are not known; its key must do", "venue", key, "error", err)
		return v, nil
	}
	v.Name, v.Title = known.Name, known.Title
	return v, s.DB.NameVenue(ctx, gleaner.Venue{Key: key, Name: known.Name, Title: known.Title})
}

// VenueNames are the names under which a venue is searched for.
func (s *PaperSources) VenueNames(ctx context.Context, key string) ([]string, error) {
	if gleaner.ParseGoal(key).Venue == "" {
		return nil, nil // of a person or a list, whose papers are of many
	}
	v, err := s.venue(ctx, key)
	if err != nil || v.Name == "" && v.Title == "" {
		return homepage.VenueNames(key), err
	}
	return homepage.VenueNames(key, metadata.Variations(v.Venue)...), nil
}

// landingsOfListing is how many landing pages in one directory make it worth a
// request to see whether the directory lists their documents.
const landingsOfListing = 5

// withListings adds the directories of landing pages, such as a volume of
// proceedings. A list that names the documents makes the landing pages needless,
// each of which is a request that brings no document.
func withListings(entries []frontier.Entry) []frontier.Entry {
	landings := map[string]int{}
	for _, e := range entries {
		if dir := directory(e.Link.URL); dir != "" && e.Role == frontier.Landing {
			landings[dir]++
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(landings)) {
		if landings[dir] >= landingsOfListing {
			entries = append(entries, frontier.Entry{Role: frontier.Landing, Candidate: page.Candidate{
				Link: page.Link{URL: dir, Source: page.SourceListing}, Queue: seedQueue, Priority: listingPriority}})
		}
	}
	return entries
}

// listingPriority brings a list before what it may list.
const listingPriority = seedPriority + 1

// directory is the URL of the directory that a page lies in, "" where that is the
// whole host or where a script makes the page.
func directory(url string) string {
	if strings.Contains(url, "?") {
		return ""
	}
	dir := weburl.Above(url)
	if strings.Count(dir, "/") < 4 { // scheme://host/
		return ""
	}
	return dir
}

// askYears lists year by year. A year of which the source knows nothing is no
// failure of the others.
func (s *PaperSources) askYears(ctx context.Context, src metadata.Source, v gleaner.Venue, years gleaner.Years, report func(string)) (missing []gap, err error) {
	if years == (gleaner.Years{}) {
		return nil, s.askWhole(ctx, src, v, report)
	}
	for _, y := range years.All() {
		year := gleaner.YearsOf(y)
		err := enter(ctx, s, src.Name(), v.Key, year.String(), func() ([]gleaner.Paper, error) {
			report(fmt.Sprintf("%s: %s %d", src.Name(), v.Key, y))
			papers, err := src.Papers(ctx, v, year)
			if none := (metadata.ErrNoVolume{}); errors.As(err, &none) {
				err = nil
			}
			return papers, err
		})
		if refused(err) {
			missing = append(missing, gap{src.Name(), year.String(), err})
		} else if err != nil {
			return missing, err
		}
	}
	return missing, nil
}

// refused reports whether a source gave an answer that it would give again: what is missing
// is noted, and nobody asks for it without end.
func refused(err error) bool {
	var bad metadata.ErrBadAnswer
	var oai metadata.ErrOAI
	return errors.As(err, &bad) || errors.As(err, &oai)
}

// askWhole lists a venue whose years nobody knows, and keeps them as if they had been
// asked one by one.
func (s *PaperSources) askWhole(ctx context.Context, src metadata.Source, v gleaner.Venue, report func(string)) error {
	whole := gleaner.Years{}
	return enter(ctx, s, src.Name(), v.Key, whole.String(), func() ([]gleaner.Paper, error) {
		report(src.Name() + ": " + v.Key)
		papers, err := src.Papers(ctx, v, whole)
		byYear := map[int][]gleaner.Paper{}
		for _, p := range papers {
			byYear[p.Year] = append(byYear[p.Year], p)
		}
		for y, some := range byYear {
			if err == nil {
				err = s.Enter(ctx, src.Name(), v.Key, fmt.Sprint(y), some)
			}
		}
		return nil, err
	})
}

// yearsOf are the years of papers that are known.
func yearsOf(records []metadata.Record) gleaner.Years {
	var all []int
	for _, r := range records {
		if r.Paper.Year > 0 {
			all = append(all, r.Paper.Year)
		}
	}
	return gleaner.YearsOf(all...)
}
