package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
)

// ErrNoPaper is returned for a paper that the record does not know.
var ErrNoPaper = errors.New("no such paper")

// How a paper stands in a harvest.
const (
	PaperHeld    = "held"    // the library had it
	PaperFound   = "found"   // a document is it
	PaperMissing = "missing" // neither
)

// HarvestPaper is a paper as it stands in a harvest.
type HarvestPaper struct {
	Paper   string   `json:"paper"`
	Title   string   `json:"title"`
	Year    int      `json:"year"`
	Authors []string `json:"authors"`
	State   string   `json:"state"`
	HeldWhy string   `json:"held_why,omitempty"`
	SHA256  string   `json:"sha256,omitempty"` // of the best document that is it

	// Why it is missing, as the report says that was kept last.
	Reason   string   `json:"reason,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
}

// PaperQuery are conditions on the papers of a harvest; zero fields are none.
type PaperQuery struct {
	Harvest string
	State   string
	Years   gleaner.Years
	After   string // the paper before the first
	Limit   int
}

const harvestPapersSQL = `
	SELECT p.key, p.title, p.year, ARRAY(SELECT a->>'name' FROM jsonb_array_elements(p.authors) a), s.state, h.held_why, coalesce(f.sha256, ''), coalesce(w.reason, ''), coalesce(w.evidence, '[]')
	FROM harvest_papers h JOIN papers p ON p.key=h.paper_key
		LEFT JOIN LATERAL (SELECT m.sha256 FROM matches m JOIN documents d ON d.sha256=m.sha256 LEFT JOIN locations l ON l.sha256=m.sha256
			WHERE m.paper_key=h.paper_key AND ` + FoundSQL + ` ORDER BY ` + bestFirst + ` LIMIT 1) f ON true
		CROSS JOIN LATERAL (SELECT CASE WHEN h.held THEN 'held' WHEN f.sha256 IS NOT NULL THEN 'found' ELSE 'missing' END AS state) s
		LEFT JOIN missing_papers w ON w.harvest_id=h.harvest_id AND w.paper_key=h.paper_key AND s.state='missing'
	WHERE h.harvest_id=$1 AND h.paper_key > $2 AND p.key > $2 AND ($3='' OR s.state=$3) AND ($4::int[] IS NULL OR p.year = ANY($4))
	ORDER BY h.paper_key LIMIT $5`

func (q PaperQuery) args() []any {
	return []any{q.Harvest, q.After, q.State, q.Years.All(), q.Limit}
}

// HarvestPapers lists papers of a harvest, by key.
func (db PaperRecords) HarvestPapers(ctx context.Context, q PaperQuery) ([]HarvestPaper, error) {
	return List[HarvestPaper](ctx, db, harvestPapersSQL, q.args()...)
}

// Paper returns a paper. The error is ErrNoPaper for one that is not known.
func (db PaperRecords) Paper(ctx context.Context, key string) (gleaner.Paper, error) {
	return One(ctx, db, pgx.RowToStructByPos[gleaner.Paper], fmt.Errorf("%s: %w", key, ErrNoPaper), `SELECT `+paperColumns+` FROM papers p WHERE p.key=$1`, key)
}

// PaperHarvest is a harvest that is after a paper.
type PaperHarvest struct {
	Harvest string `json:"harvest"`
	Held    bool   `json:"held"`
	HeldWhy string `json:"held_why,omitempty"`
}

// PaperHarvests lists the harvests that are after a paper.
func (db PaperRecords) PaperHarvests(ctx context.Context, key string) ([]PaperHarvest, error) {
	return List[PaperHarvest](ctx, db, `SELECT harvest_id, held, held_why FROM harvest_papers WHERE paper_key=$1 ORDER BY harvest_id`, key)
}

// Candidate is a document that was compared with a paper.
type Candidate struct {
	SHA256  string   `json:"sha256"`
	URL     string   `json:"url"`
	Class   string   `json:"class"`
	Verdict string   `json:"verdict"`
	Score   float64  `json:"score"`
	Form    string   `json:"form"`
	Reasons []string `json:"reasons"`
	Settled string   `json:"settled,omitempty"`
	Found   bool     `json:"found"` // it is the paper
	Also    []string `json:"also"`  // titles of other papers that it is
}

// Candidates lists the documents that were compared with a paper and are like it,
// those that are it first.
func (db PaperRecords) Candidates(ctx context.Context, key string) ([]Candidate, error) {
	return List[Candidate](ctx, db, `SELECT m.sha256, coalesce((SELECT url FROM locations l WHERE l.sha256=m.sha256 ORDER BY current DESC, url LIMIT 1), ''),
			d.class, m.verdict, m.score, m.form, m.reasons, m.settled, `+FoundSQL+`, `+alsoSQL+`
		FROM matches m JOIN papers p ON p.key=m.paper_key JOIN documents d ON d.sha256=m.sha256 WHERE m.paper_key=$1 ORDER BY 9 DESC, m.score DESC, m.sha256 LIMIT 100`, key)
}
