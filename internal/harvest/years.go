package harvest

import (
	"context"
	"errors"
	"fmt"

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
func (s *Stages) askWhole(ctx context.Context, src metadata.Source, v gleaner.Venue, report func(string)) error {
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
