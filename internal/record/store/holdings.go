package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// ErrNoSource is returned where nothing was imported from a source.
var ErrNoSource = errors.New("nothing was imported from there")

// errDryRun rolls back what was only tried.
var errDryRun = errors.New("dry run")

// Imported says what an import of holdings came to.
type Imported struct {
	Papers int `json:"papers"` // that the list names, each once
	New    int `json:"new"`    // that no other list named before
	Known  int `json:"known"`
	Gone   int `json:"gone"` // that an earlier list of the name had, and that no list names any more
}

// HeldSource is a list of holdings that was imported.
type HeldSource struct {
	Source   string    `json:"source"`
	Papers   int       `json:"papers"`
	Alone    int       `json:"alone"` // of them, that no other list names
	Imported time.Time `json:"imported"`
}

// heldID is what makes two records of a library the same paper: title and first
// author, however written, and the year. One without a title is told by its identifiers.
func heldID(p gleaner.Paper) []byte {
	if p.Title == "" {
		id := sha256.Sum256(fmt.Appendf(nil, "doi %s\narxiv %s", p.DOI, p.ArXiv))
		return id[:16]
	}
	first := ""
	if names := p.Surnames(); len(names) > 0 {
		first = text.Normalise(names[0])
	}
	id := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", text.Normalise(p.Title), p.Year, first))
	return id[:16]
}

// heldAtOnce is how many papers are written by one statement after another before it
// is told how many there are.
const heldAtOnce = 1000

// SaveHoldings adds what a list says that a library holds, in place of an earlier list of
// its name. A dry run only says what that would come to; told, where it is given, hears how
// many were written.
func (db PaperRecords) SaveHoldings(ctx context.Context, papers []gleaner.Paper, source string, dry bool, told func(done, of int)) (done Imported, err error) {
	byID := map[string]gleaner.Paper{}
	for _, p := range papers {
		byID[string(heldID(p))] = p
	}
	ids := make([][]byte, 0, len(byID))
	for id := range byID {
		ids = append(ids, []byte(id))
	}
	err = db.Tx(ctx, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT count(DISTINCT hash) FROM holdings WHERE hash = ANY($1)`, ids).Scan(&done.Known); err != nil {
			return err
		}
		done.Papers, done.New = len(ids), len(ids)-done.Known
		err := tx.QueryRow(ctx, `WITH del AS (DELETE FROM holdings h WHERE source=$2 AND NOT EXISTS (SELECT FROM unnest($1::bytea[]) hash WHERE hash=h.hash) RETURNING hash)
			SELECT count(*) FROM del WHERE NOT EXISTS (SELECT 1 FROM holdings o WHERE o.hash=del.hash AND o.source <> $2)`, ids, source).Scan(&done.Gone)
		if err != nil {
			return err
		}
		if dry {
			return errDryRun
		}
		written := 0
		for some := range slices.Chunk(slices.Sorted(maps.Keys(byID)), heldAtOnce) {
			b := &pgx.Batch{}
			for _, id := range some {
				p := byID[id]
				b.Queue(`INSERT INTO holdings (hash, title, year, authors, doi, source) VALUES ($1,$2,$3,$4,$5,$6) ON CONFLICT (hash, source) DO UPDATE
				SET title=EXCLUDED.title, authors=EXCLUDED.authors, doi=EXCLUDED.doi, imported_at=now()`,
					[]byte(id), p.Title, p.Year, orEmpty(p.Authors), p.DOI, source)
			}
			if err := tx.SendBatch(ctx, b).Close(); err != nil {
				return err
			}
			if written += len(some); told != nil {
				told(written, len(byID))
			}
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return done, err
}

// HeldSources lists the lists of holdings, the last imported first.
func (db PaperRecords) HeldSources(ctx context.Context) ([]HeldSource, error) {
	return List[HeldSource](ctx, db, `SELECT h.source, count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM holdings o WHERE o.hash = h.hash AND o.source <> h.source)), max(h.imported_at)
		FROM holdings h GROUP BY h.source ORDER BY 4 DESC, 1`)
}

// ForgetHoldings removes what one list named, and returns how many papers are no
// longer held. Harvests that began before keep what they were told.
func (db PaperRecords) ForgetHoldings(ctx context.Context, source string, dry bool) (gone int, err error) {
	err = db.Tx(ctx, func(tx pgx.Tx) error {
		var had int
		err := tx.QueryRow(ctx, `WITH del AS (DELETE FROM holdings WHERE source=$1 RETURNING hash)
			SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM holdings o WHERE o.hash = del.hash AND o.source <> $1)) FROM del`, source).Scan(&had, &gone)
		switch {
		case err != nil:
			return err
		case had == 0:
			return fmt.Errorf("%q: %w", source, ErrNoSource)
		case dry:
			return errDryRun
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return gone, err
}

// Holdings lists what the library holds, each paper once.
func (db PaperRecords) Holdings(ctx context.Context) ([]gleaner.Paper, error) {
	return Collect(ctx, db, func(row pgx.CollectableRow) (gleaner.Paper, error) {
		var p gleaner.Paper
		err := row.Scan(&p.Title, &p.Year, &p.Authors, &p.DOI)
		return p, err
	}, `SELECT DISTINCT ON (hash) title, year, authors, doi FROM holdings ORDER BY hash, doi DESC, jsonb_array_length(authors) DESC, source`)
}
