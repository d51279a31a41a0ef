package report

import (
	"context"
	"encoding/json"

	"gleaner/internal/each"
	"gleaner/internal/record/store"
)

// Keep keeps a report that was built, for pages that show a part of it: its numbers,
// and of each missing paper why it is missing.
func Keep(ctx context.Context, db store.ReportRecords, r *Report) error {
	numbers := *r
	numbers.Found, numbers.Missing, numbers.Sites = nil, nil, nil
	raw, err := json.Marshal(numbers)
	if err != nil {
		return err
	}
	missing := each.Of(r.Missing, func(m MissingPaper) store.MissingReason {
		return store.MissingReason{Paper: m.Paper, Reason: string(m.Reason), Evidence: m.Evidence}
	})
	return db.KeepReport(ctx, r.Harvest.ID, store.KeptReport{Made: r.Made, Took: r.Took, Report: raw}, missing)
}

// Latest returns the report of a harvest that was kept last, in numbers alone; nil
// where none was.
func Latest(ctx context.Context, db store.ReportRecords, harvest string) (*Report, error) {
	k, err := db.KeptReport(ctx, harvest)
	if err != nil || k == nil {
		return nil, err
	}
	r := &Report{}
	err = json.Unmarshal(k.Report, r)
	r.Made, r.Took = k.Made, k.Took
	return r, err
}
