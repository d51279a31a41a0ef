package ingest

import (
	"context"
	"crypto/sha1"
	"strings"

	"gleaner/internal/document"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// verdict is what a trial, which keeps nothing, made of a file: another resource may be of
// its URL, or the same.
type verdict struct{ kind, outcome, detail, class string }

func (v verdict) saved() bool { return strings.HasPrefix(v.outcome, "saved") }

// mostVerdicts bounds the verdicts that a trial keeps in mind, two for a file.
const mostVerdicts = 500_000

// foresee keeps the verdict on a file of a trial in mind, as an import would find it on record:
// by its URL, and where its bytes are here by their SHA-1.
func (w *work) foresee(r *store.ImportRecord, body []byte) {
	v := verdict{r.Kind, r.Outcome, r.Detail, r.Class}
	none := v.outcome == FilteredMTF && len(body) == 0 || isPage(document.Kind(v.kind)) && !v.saved()
	if !w.options.Unrecorded || none || len(w.verdicts) >= mostVerdicts {
		return
	}
	if hash := hashOf(r.URL); !w.verdicts[hash].saved() {
		w.verdicts[hash] = v
	}
	if sum := sha1.Sum(body); len(body) > 0 {
		w.verdicts[frontier.Hash(sum[:16])] = v
	}
}

// foreseen is the verdict on what a resource of a trial is the same as.
func (w *work) foreseen(sum []byte, url frontier.Hash) (v verdict, is bool) {
	if len(sum) >= len(url) {
		v, is = w.verdicts[frontier.Hash(sum[:16])]
	}
	if !is {
		v, is = w.verdicts[url]
	}
	return v, is
}

// remember gathers the verdicts of a trial that goes on.
func (w *work) remember(ctx context.Context) error {
	for after := int64(0); w.options.Unrecorded && w.done.Done > 0; {
		some, err := w.DB.ImportRecords(ctx, w.run.Job, after, false, 1000)
		for i := range some {
			if after = some[i].N; some[i].Outcome != Skipped {
				w.foresee(&some[i], nil)
			}
		}
		if err != nil || len(some) < 1000 {
			return err
		}
	}
	return nil
}

// same gives a resource of a trial the verdict on what it is the same as.
func (it *item) same() {
	it.Outcome, it.Detail, it.Class = it.as.outcome, it.as.detail, it.as.class
	if it.as.saved() {
		it.Outcome = SavedNew
		if it.Known {
			it.Outcome = SavedDuplicate
		}
	}
}

// beginRecords notes items before any of them is kept, and sets Known.
func (w *work) beginRecords(ctx context.Context, items ...*item) error {
	records := make([]*store.ImportRecord, len(items))
	for i, it := range items {
		records[i] = &it.ImportRecord
	}
	if len(items) == 0 {
		return nil
	}
	err := w.DB.BeginRecords(ctx, w.run.Job, w.run.Run, records)
	for _, it := range items {
		it.Known = it.Known || w.verdicts[it.hash].saved()
	}
	return err
}
