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

// mostVerdicts bounds the verdicts that a trial keeps in mind, three for a file at most.
const mostVerdicts = 500_000

// trial has the verdicts of a trial, as an import would find them on record: by URL, and by
// SHA-1 or SHA-256. It is nil where files are kept.
type trial map[frontier.Hash]verdict

// foresee takes the verdict on a file; its SHA-1 is known where its bytes are here. It reports
// whether there was room.
func (t trial) foresee(r *store.ImportRecord, body []byte) bool {
	v := verdict{r.Kind, r.Outcome, r.Detail, r.Class}
	if t == nil || len(t) >= mostVerdicts {
		return false
	}
	if r.SHA256 != "" {
		t[frontier.HashOf(r.SHA256)] = v
	}
	if v.outcome == FilteredMTF && len(body) == 0 || isPage(document.Kind(v.kind)) && !v.saved() {
		return true
	}
	if hash := hashOf(r.URL); !t[hash].saved() {
		t[hash] = v
	}
	if sum := sha1.Sum(body); len(body) > 0 {
		t[frontier.Hash(sum[:16])] = v
	}
	return true
}

// foreseen is the verdict on what a resource is the same as.
func (t trial) foreseen(sum []byte, url frontier.Hash) (v verdict, is bool) {
	if len(sum) >= len(url) {
		v, is = t[frontier.Hash(sum[:16])]
	}
	if !is {
		v, is = t[url]
	}
	return v, is
}

// newTrial has the verdicts of a job so far, which is a trial: enough of them, or all.
func newTrial(ctx context.Context, db store.JobRecords, job int64, enough int) (trial, error) {
	t := trial{}
	for after := int64(0); ; {
		some, err := db.ImportRecords(ctx, job, after, false, 1000)
		for i := range some {
			if after = some[i].N; some[i].Outcome != Skipped {
				t.foresee(&some[i], nil)
			}
		}
		if err != nil || len(some) < 1000 || len(t) >= enough {
			return t, err
		}
	}
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
func beginRecords(ctx context.Context, w *work, items []*item) error {
	records := make([]*store.ImportRecord, len(items))
	for i, it := range items {
		records[i] = &it.ImportRecord
	}
	if len(items) == 0 {
		return nil
	}
	err := w.DB.BeginRecords(ctx, w.run.Job, w.run.Run, records)
	for _, it := range items {
		it.Known = it.Known || w.trial[it.hash].saved()
	}
	return err
}
