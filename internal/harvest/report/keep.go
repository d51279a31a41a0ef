package report

import (
	"context"
	"encoding/json"

	"gleaner/internal/each"
	"gleaner/internal/record/store"
)

// Keep stores the numbers of a report, and the reason of each missing paper, for pages that show
// a part of it.
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

// Latest returns the numbers of the last stored report of a harvest, or nil.
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
