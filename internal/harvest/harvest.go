package harvest

import (
	"context"
	"log/slog"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/homepage"
	"gleaner/internal/metadata"
	"gleaner/internal/record/store"
)

// Stages runs the stages of harvests.
type Stages struct {
	DB     *store.DB
	DBLP   *metadata.DBLP
	Copies []metadata.CopySource
	Finder *homepage.Finder
	Pages  *Getter // of the Finder
	// Every returns a gate for single pages that keeps a least time between two requests to
	// a host; nil leaves that to the client.
	Every func(time.Duration) fetch.Gate
	Log   *slog.Logger

	// Sources are further sources of papers by name, Completers sources of copies
	// that are asked for identifiers, and SourceNames which of them, and of "dblp"
	// and "file", are asked where a person said nothing of the venue; nil is dblp
	// alone.
	Sources     map[string]metadata.Source
	Completers  map[string]metadata.CopySource
	SourceNames []string
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

// namesAge is for how long a venue's names are not asked for again.
const namesAge = 90 * 24 * time.Hour

// venue is a venue with all its names, or what else a harvest is after.
func (s *Stages) venue(ctx context.Context, key string) (store.Venue, error) {
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
func (s *Stages) VenueNames(ctx context.Context, key string) ([]string, error) {
	if gleaner.ParseGoal(key).Venue == "" {
		return nil, nil // of a person or a list, whose papers are of many
	}
	v, err := s.venue(ctx, key)
	if err != nil || v.Name == "" && v.Title == "" {
		return homepage.VenueNames(key), err
	}
	return homepage.VenueNames(key, metadata.Variations(v.Venue)...), nil
}
