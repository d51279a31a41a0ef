package collection

import (
	"context"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

// Sheet describes a document: the JSON beside it in the repository, and the output of `starter
// documents show`. The record is authoritative; the sidecar is for readers of the files alone.
type Sheet struct {
	store.Document
	JudgedAt  time.Time        `json:"judged_at"`
	Locations []store.Location `json:"locations"`
	Matches   []store.Found    `json:"matches"`
	Copies    []string         `json:"copies,omitempty"`     // documents of the same text, the best first
	NumRefBy  int              `json:"num_ref_by,omitempty"` // pages that refer to it
	Path      string           `json:"path,omitempty"`       // of the file
}

func (c *Collection) writeSidecars(ctx context.Context, d store.Document, places []store.Location, text *document.Text, found []store.Found) error {
	if text != nil {
		if err := c.repo.PutText(ctx, d.SHA256, clean(text.String())); err != nil {
			return err
		}
	}
	return c.repo.PutMeta(ctx, map[string]any{d.SHA256: sheetOf(d, places, found)})
}

// sheetOf returns the sheet of a document that was just judged.
func sheetOf(d store.Document, places []store.Location, found []store.Found) Sheet {
	return Sheet{Document: d, JudgedAt: time.Now().UTC(), Locations: places, Matches: found}
}

// SheetOf returns the sheet of a document from the record.
func SheetOf(ctx context.Context, db *store.DB, repo *repository.Repository, sha string) (Sheet, error) {
	d, places, err := db.Document(ctx, sha)
	if err != nil {
		return Sheet{}, err
	}
	s := Sheet{Document: d, JudgedAt: d.Updated, Locations: places, Path: repo.Where(sha)}
	if s.ReferenceList, err = db.ReferenceList(ctx, sha); err != nil {
		return s, err
	}
	if s.Matches, err = db.Matches(ctx, sha); err != nil {
		return s, err
	}
	if s.NumRefBy, err = db.NumRefBy(ctx, sha); err != nil {
		return s, err
	}
	s.Copies, err = db.Duplicates(ctx, sha)
	if len(s.Copies) < 2 {
		s.Copies = nil
	}
	return s, err
}

// Refresh rewrites a document's JSON sidecar from the record.
func Refresh(ctx context.Context, db *store.DB, repo *repository.Repository, sha string) error {
	s, err := SheetOf(ctx, db, repo, sha)
	if err != nil {
		return err
	}
	s.Path = ""
	return repo.PutMeta(ctx, map[string]any{sha: s})
}

// Settle records a person's verdict on a match ("yes", "no", or "" to remove it), and rewrites
// the document's JSON sidecar.
func Settle(ctx context.Context, db *store.DB, repo *repository.Repository, paper, sha, word string) error {
	if err := db.Settle(ctx, paper, sha, word); err != nil {
		return err
	}
	return Refresh(ctx, db, repo, sha)
}
