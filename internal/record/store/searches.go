package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner/evidence"
)

// Searches keeps the answers of search engines; it implements homepage.Cache.
type Searches struct{ db base }

// Searches returns the answers kept in the record.
func (db PageRecords) Searches() *Searches { return &Searches{db.base} }

func (s *Searches) LoadSearch(ctx context.Context, provider, query string, n int) (evidence.Answer, bool, error) {
	var a evidence.Answer
	err := s.db.Pool.QueryRow(ctx, `SELECT results, asked_at FROM searches WHERE provider=$1 AND md5(query)=md5($2) AND wanted=$3`, provider, query, n).Scan(&a.Results, &a.At)
	if errors.Is(err, pgx.ErrNoRows) {
		return a, false, nil
	}
	return a, err == nil, err
}

func (s *Searches) SaveSearch(ctx context.Context, provider, query string, n int, a evidence.Answer) error {
	return s.db.Exec(ctx, `INSERT INTO searches (provider, query, wanted, results, asked_at) VALUES ($1,$2,$3,$4,$5)
		ON CONFLICT (provider, md5(query), wanted) DO UPDATE SET results=EXCLUDED.results, asked_at=EXCLUDED.asked_at`, provider, query, n, orEmpty(a.Results), a.At)
}

func (s *Searches) Spend(ctx context.Context, provider string, start time.Time, limit int) (bool, error) {
	tag, err := s.db.Pool.Exec(ctx, `INSERT INTO search_spending (provider, period, requests) SELECT $1, $2, 1 WHERE $3 > 0
		ON CONFLICT (provider, period) DO UPDATE SET requests = search_spending.requests + 1 WHERE search_spending.requests < $3`, provider, start, limit)
	return err == nil && tag.RowsAffected() == 1, err
}

func (s *Searches) Spent(ctx context.Context, provider string, start time.Time) (int, error) {
	return Get[int](ctx, s.db, `SELECT coalesce((SELECT requests FROM search_spending WHERE provider=$1 AND period=$2), 0)`, provider, start)
}

// Spending is what was asked of a search provider.
type Spending struct {
	Provider string    `json:"provider"`
	Since    time.Time `json:"since"` // begin of the period
	Requests int       `json:"requests"`
	Kept     int       `json:"kept"` // answers in the record, which cost nothing when they are wanted again
}

// Spending lists what was asked of each provider in its present or last period.
func (s *Searches) Spending(ctx context.Context) ([]Spending, error) {
	return List[Spending](ctx, s.db, `SELECT provider, coalesce(p.period, '0001-01-01'::timestamptz), coalesce(p.requests, 0), coalesce(k.kept, 0)
		FROM (SELECT DISTINCT ON (provider) provider, period, requests FROM search_spending ORDER BY provider, period DESC) p
		FULL JOIN (SELECT provider, count(*) AS kept FROM searches GROUP BY 1) k USING (provider) ORDER BY provider`)
}

// IndexedPages counts the pages of the local index.
func (db PageRecords) IndexedPages(ctx context.Context) (int, error) {
	return Get[int](ctx, db, `SELECT count(*) FROM page_index`)
}
