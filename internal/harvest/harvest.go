package harvest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gleaner/internal/homepage"
	"gleaner/internal/match"
	"gleaner/internal/metadata"
	"gleaner/internal/store"
	"gleaner/internal/venue"
)

// Stages runs the stages of harvests.
type Stages struct {
	DB     *store.DB
	DBLP   *metadata.DBLP
	Copies []metadata.CopySource
	Finder *homepage.Finder
	Log    *slog.Logger
}

// volumeAge is for how long a listed volume is not asked for again.
const volumeAge = 7 * 24 * time.Hour

// Listing is what ListPapers comes to.
type Listing struct {
	Published, Held, Wanted int
	// Missing says of volumes that could not be listed why; the harvest goes on
	// without them.
	Missing []string
}

// ListPapers lists what the venue published in the years and subtracts what the
// library holds. report is told of each volume. ErrUnknownVenue and ErrNoVolume
// (of package metadata) are the user's to mend.
func (s *Stages) ListPapers(ctx context.Context, id, venueKey string, years venue.Years, report func(string)) (Listing, error) {
	var l Listing
	volumes, err := s.DBLP.Volumes(ctx, venueKey, years)
	if err != nil {
		return l, err
	}
	for i, v := range volumes {
		report(fmt.Sprintf("volume %d of %d: %s", i+1, len(volumes), v.TOC))
		if err := s.listVolume(ctx, v, years); err != nil {
			var none metadata.ErrNoVolume
			var bad metadata.ErrBadAnswer
			if !errors.As(err, &none) && !errors.As(err, &bad) {
				return l, err
			}
			l.Missing = append(l.Missing, err.Error())
		}
	}
	papers, err := s.DB.Papers(ctx, venueKey, years)
	if err != nil {
		return l, err
	}
	holdings, err := s.DB.Holdings(ctx)
	if err != nil {
		return l, err
	}
	held := map[string]string{}
	for key, why := range match.Held(papers, holdings) {
		held[key] = string(why.Verdict) + ": " + why.Held.Title
	}
	l.Published, l.Held, l.Wanted = len(papers), len(held), len(papers)-len(held)
	return l, s.DB.SetHarvestPapers(ctx, id, papers, held)
}

func (s *Stages) listVolume(ctx context.Context, v metadata.Volume, years venue.Years) error {
	at, err := s.DB.VolumeListed(ctx, v.TOC)
	if err != nil || time.Since(at) < volumeAge {
		return err
	}
	papers, err := s.DBLP.Papers(ctx, v)
	if err != nil {
		return err
	}
	if err := s.DB.SavePapers(ctx, papers, map[string]string{"source": s.DBLP.Name(), "toc": v.TOC}); err != nil {
		return err
	}
	return s.DB.SaveVolume(ctx, v.TOC, v.Venue, years.From, len(papers))
}

// VenueNames are the names under which a venue is searched for.
func (s *Stages) VenueNames(ctx context.Context, key string) []string {
	v, err := s.DBLP.ResolveVenue(ctx, key)
	if err != nil {
		s.Log.Info("the venue's names are not known; its key must do", "venue", key, "error", err)
		return homepage.VenueNames(key)
	}
	return homepage.VenueNames(key, v.Variations()...)
}
