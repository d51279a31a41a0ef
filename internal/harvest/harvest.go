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

	"gleaner/internal/each"
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

	// Directories list people's pages, after DBLP.
	Directories []Directory
	// NoDBLPPeople omits DBLP from the directories.
	NoDBLPPeople bool
	// Index receives the pages fetched as evidence; nil for none.
	Index *store.PageIndex
	// WebSearch reports whether the finder uses a search engine, whose pace is most of the time.
	WebSearch bool

	suspects guard.Mutex // held during the search for an author over whom a process may have died
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

// namesAge is how long the names of a venue are valid.
const namesAge = 90 * 24 * time.Hour

// venue returns a venue with its names, or another goal of a harvest.
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

// VenueNames returns the names under which a venue is searched for.
func (s *PaperSources) VenueNames(ctx context.Context, key string) ([]string, error) {
	if gleaner.ParseGoal(key).Venue == "" {
		return nil, nil // the papers of a person or a list are of many venues
	}
	v, err := s.venue(ctx, key)
	if err != nil || v.Name == "" && v.Title == "" {
		return homepage.VenueNames(key), err
	}
	return homepage.VenueNames(key, metadata.Variations(v.Venue)...), nil
}

// landingsOfListing is the number of landing pages in one directory from which the directory
// is worth a request, since it may list their documents.
const landingsOfListing = 5

// withListings adds the directories of landing pages, such as a volume of proceedings. If
// one lists the documents, the landing pages need not be fetched.
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

// listingPriority puts a list before the landing pages.
const listingPriority = seedPriority + 1

// directory returns the URL of the directory of a page, "" if that is the whole host or a
// script makes the page.
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

// askYears lists year by year. A year that the source does not know is not an error.
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

// refused reports whether a source would give the same answer again. The gap is noted then,
// instead of repeating the request without end.
func refused(err error) bool {
	var bad metadata.ErrBadAnswer
	var oai metadata.ErrOAI
	return errors.As(err, &bad) || errors.As(err, &oai)
}

// askWhole lists a venue of unknown years, and saves each year's list as askYears does.
func (s *PaperSources) askWhole(ctx context.Context, src metadata.Source, v gleaner.Venue, report func(string)) error {
	whole := gleaner.Years{}
	return enter(ctx, s, src.Name(), v.Key, whole.String(), func() ([]gleaner.Paper, error) {
		report(src.Name() + ": " + v.Key)
		papers, err := src.Papers(ctx, v, whole)
		for y, some := range each.By(papers, func(p gleaner.Paper) int { return p.Year }) {
			if err == nil {
				err = s.Enter(ctx, src.Name(), v.Key, fmt.Sprint(y), some)
			}
		}
		return nil, err
	})
}

// yearsOf returns the range of the known years of papers.
func yearsOf(records []metadata.Record) gleaner.Years {
	var all []int
	for _, r := range records {
		if r.Paper.Year > 0 {
			all = append(all, r.Paper.Year)
		}
	}
	return gleaner.YearsOf(all...)
}
