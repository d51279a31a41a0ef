package store

import (
	"context"

	"gleaner/internal/gleaner"
)

// Known is what the record says of a document's file.
type Known struct {
	SHA256  string
	Bytes   int64
	State   gleaner.DocumentState
	HasText bool // its text was read and kept
	SameAs  string
	Places  int
	Removed bool // its file was pruned, and the row stays
}

// EachKnown calls do with every document in the order of its SHA-256.
func (db DocumentRecords) EachKnown(ctx context.Context, do func(Known) error) error {
	last := ""
	for {
		batch, err := List[Known](ctx, db, `SELECT d.sha256, d.bytes, d.state, d.first_pages<>'', d.same_as, (SELECT count(*) FROM locations l WHERE l.sha256=d.sha256)::int, d.blob_removed_at IS NOT NULL
			FROM documents d WHERE d.sha256 COLLATE "C" > $1 ORDER BY d.sha256 COLLATE "C" LIMIT 1000`, last)
		if err != nil || len(batch) == 0 {
			return err
		}
		for _, k := range batch {
			if err := do(k); err != nil {
				return err
			}
		}
		last = batch[len(batch)-1].SHA256
	}
}

// LostPrimaries lists documents that are said to be the same as one that is not
// there, or that is itself another one's copy.
func (db DocumentRecords) LostPrimaries(ctx context.Context) ([]string, error) {
	return Column[string](ctx, db, `SELECT d.sha256 FROM documents d LEFT JOIN documents p ON p.sha256=d.same_as
		WHERE d.same_as<>'' AND (p.sha256 IS NULL OR p.same_as<>'') ORDER BY 1`)
}

// Rival is a document that is not alone current where it was found.
type Rival struct{ SHA256, URL string }

// Rivals lists the documents of URLs at which several are current, by URL.
func (db DocumentRecords) Rivals(ctx context.Context) ([]Rival, error) {
	return List[Rival](ctx, db, `SELECT sha256, url FROM locations WHERE current
		AND hash IN (SELECT hash FROM locations WHERE current GROUP BY hash HAVING count(*) > 1) ORDER BY url, sha256`)
}
