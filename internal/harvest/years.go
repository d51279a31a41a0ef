package harvest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata"
)

// askYears lists year by year. A year of which the source knows nothing is no
// failure of the others.
func (s *Stages) askYears(ctx context.Context, src metadata.Source, v gleaner.Venue, years gleaner.Years, report func(string)) (missing []gap, err error) {
	if years == (gleaner.Years{}) {
		return nil, s.askWhole(ctx, src, v, report)
	}
	for _, y := range years.All() {
		year := gleaner.YearsOf(y)
		at, err := s.DB.ListedAt(ctx, src.Name(), v.Key, year.String())
		if err != nil {
			return missing, err
		}
		if time.Since(at) < listingAge {
			continue
		}
		report(fmt.Sprintf("%s: %s %d", src.Name(), v.Key, y))
		papers, err := src.Papers(ctx, v, year)
		var none metadata.ErrNoVolume
		if err != nil && !errors.As(err, &none) {
			return missing, err
		}
		if err := s.Enter(ctx, src.Name(), v.Key, year.String(), papers); err != nil {
			return missing, err
		}
	}
	return missing, nil
}

// askWhole lists a venue whose years nobody knows, and keeps them as if they had been
// asked one by one.
func (s *Stages) askWhole(ctx context.Context, src metadata.Source, v gleaner.Venue, report func(string)) error {
	whole := gleaner.Years{}.String()
	at, err := s.DB.ListedAt(ctx, src.Name(), v.Key, whole)
	if err != nil || time.Since(at) < listingAge {
		return err
	}
	report(src.Name() + ": " + v.Key)
	papers, err := src.Papers(ctx, v, gleaner.Years{})
	if err != nil {
		return err
	}
	byYear := map[int][]gleaner.Paper{}
	for _, p := range papers {
		byYear[p.Year] = append(byYear[p.Year], p)
	}
	for y, some := range byYear {
		if err := s.Enter(ctx, src.Name(), v.Key, fmt.Sprint(y), some); err != nil {
			return err
		}
	}
	return s.Enter(ctx, src.Name(), v.Key, whole, nil)
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
