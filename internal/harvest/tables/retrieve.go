package tables

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

// retrieveAt is the position of a retrieval.
type retrieveAt struct {
	After int64 `json:"after,omitempty"` // number of the last document
	End   bool  `json:"end,omitempty"`
}

// Retrieved returns the conditions of a retrieval, which default to accepted documents.
func Retrieved(q store.DocumentQuery) store.DocumentQuery {
	if len(q.States) == 0 {
		q.States = []string{string(gleaner.DocumentAccepted)}
	}
	return q
}

// retrieve lists the documents that meet conditions and copies them. It ignores documents found
// meanwhile, so that a later attempt draws the same sample.
func (w *work) retrieve(ctx context.Context) error {
	var at retrieveAt
	if err := w.position(&at); err != nil || at.End {
		return err
	}
	var to *repository.Repository
	if w.options.To != "" {
		var err error
		if to, err = repository.Open(ctx, w.options.To); err != nil {
			return fmt.Errorf("%w: the folder: %w", ErrInput, err)
		}
		defer to.Close()
	}
	q := Retrieved(w.options.Documents)
	if started := *w.job.Started; q.To.IsZero() || q.To.After(started) {
		q.To = started
	}
	if q.Sample > 0 {
		return w.retrieveSample(ctx, q, to)
	}
	for limit := q.Limit; !at.End; {
		q.After, q.Limit = at.After, w.Batch
		if limit > 0 {
			q.Limit = min(q.Limit, limit-int(w.done.Done))
		}
		var found []store.Listed
		if q.Limit > 0 {
			var err error
			if found, err = w.DB.FindDocuments(ctx, q); err != nil {
				return err
			}
		}
		if at.End = len(found) < w.Batch; len(found) > 0 {
			at.After = found[len(found)-1].ID
		}
		if err := w.take(ctx, found, to, at); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) retrieveSample(ctx context.Context, q store.DocumentQuery, to *repository.Repository) error {
	found, err := w.DB.FindDocuments(ctx, q)
	if err != nil {
		return err
	}
	for n := min(int(w.done.Done), len(found)); ; {
		batch := found[n:min(n+w.Batch, len(found))]
		n += len(batch)
		if err := w.take(ctx, batch, to, retrieveAt{End: n == len(found)}); err != nil || n == len(found) {
			return err
		}
	}
}

// take copies documents and records each.
func (w *work) take(ctx context.Context, found []store.Listed, to *repository.Repository, next retrieveAt) error {
	var records []store.ImportRecord
	for _, d := range found {
		r := store.ImportRecord{URL: d.URL, Source: d.Paper, Kind: d.Kind, Class: d.Class, SHA256: d.SHA256, Bytes: d.Bytes, Outcome: retrieved, Detail: string(d.State)}
		if d.Removed != nil {
			r.Outcome, r.Detail = failed, "its file was removed to make room"
		} else if to != nil {
			err := w.copyOut(ctx, d.SHA256, to)
			if errors.Is(err, repository.ErrNotFound) { // a retry would not find it either
				r.Outcome, r.Detail, err = failed, "its file is not in the repository", nil
			}
			if err != nil {
				return err
			}
		}
		records = append(records, r)
	}
	return w.step(ctx, func(pgx.Tx) (int, []store.ImportRecord, any, error) { return len(found), records, next, nil })
}

func (w *work) copyOut(ctx context.Context, sha string, to *repository.Repository) error {
	body, err := w.Repo.Read(ctx, sha)
	if err == nil {
		_, err = to.Put(ctx, body)
	}
	return err
}
