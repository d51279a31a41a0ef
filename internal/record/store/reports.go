package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// KeptReport is the latest report of a harvest that was kept: in numbers, without its
// lists.
type KeptReport struct {
	Made   time.Time
	Took   time.Duration // to work it out
	Report json.RawMessage
}

// MissingReason says why a paper of a harvest was missing.
type MissingReason struct {
	Paper    string
	Reason   string
	Evidence []string
}

// KeepReport keeps a harvest's report, and why each of its papers is missing, in the
// place of the one before. One that was made earlier than what is kept is dropped.
func (db ReportRecords) KeepReport(ctx context.Context, harvest string, k KeptReport, missing []MissingReason) error {
	keys, reasons, evidence := make([]string, len(missing)), make([]string, len(missing)), make([]json.RawMessage, len(missing))
	for i, m := range missing {
		raw, err := json.Marshal(append([]string{}, m.Evidence...))
		if err != nil {
			return err
		}
		keys[i], reasons[i], evidence[i] = m.Paper, m.Reason, raw
	}
	return db.Tx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `INSERT INTO harvest_reports (harvest_id, made_at, took, report) VALUES ($1,$2,$3,$4)
			ON CONFLICT (harvest_id) DO UPDATE SET made_at=EXCLUDED.made_at, took=EXCLUDED.took, report=EXCLUDED.report
			WHERE harvest_reports.made_at <= EXCLUDED.made_at`, harvest, k.Made, k.Took, k.Report)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM missing_papers WHERE harvest_id=$1 AND NOT paper_key = ANY($2)`, harvest, keys); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `WITH now AS (SELECT * FROM unnest($2::text[], $3::text[], $4::jsonb[]) n (paper_key, reason, evidence)),
				of AS (SELECT h.paper_key FROM harvest_papers h JOIN now USING (paper_key) WHERE h.harvest_id=$1 ORDER BY h.paper_key FOR KEY SHARE OF h)
			INSERT INTO missing_papers (harvest_id, paper_key, reason, evidence) SELECT $1, paper_key, reason, evidence FROM now JOIN of USING (paper_key)
			ON CONFLICT (harvest_id, paper_key) DO UPDATE SET reason=EXCLUDED.reason, evidence=EXCLUDED.evidence
			WHERE (missing_papers.reason, missing_papers.evidence) IS DISTINCT FROM (EXCLUDED.reason, EXCLUDED.evidence)`, harvest, keys, reasons, evidence)
		return err
	})
}

// KeptReport returns the report of a harvest that was kept, nil where none was.
func (db ReportRecords) KeptReport(ctx context.Context, harvest string) (*KeptReport, error) {
	var k KeptReport
	err := db.Pool.QueryRow(ctx, `SELECT made_at, took, report FROM harvest_reports WHERE harvest_id=$1`, harvest).Scan(&k.Made, &k.Took, &k.Report)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &k, err
}

const missingForSQL = `
	SELECT p.key, p.title, p.year, ARRAY(SELECT a->>'name' FROM jsonb_array_elements(p.authors) a), 'missing', h.held_why, '', w.reason, w.evidence
	FROM missing_papers w JOIN harvest_papers h ON h.harvest_id=w.harvest_id AND h.paper_key=w.paper_key JOIN papers p ON p.key=w.paper_key
	WHERE w.harvest_id=$1 AND w.reason=$3 AND w.paper_key > $2 AND NOT h.held AND ` + missingSQL + ` AND ($4::int[] IS NULL OR p.year = ANY($4))
	ORDER BY w.paper_key LIMIT $5`

// MissingFor lists by key the papers of a harvest that are missing for one reason, as
// the report says that was kept last.
func (db ReportRecords) MissingFor(ctx context.Context, q PaperQuery, reason string) ([]HarvestPaper, error) {
	return List[HarvestPaper](ctx, db, missingForSQL, q.Harvest, q.After, reason, q.Years.All(), q.Limit)
}
