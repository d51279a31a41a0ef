package ingest

import (
	"cmp"
	"context"
	"encoding/hex"
	"strings"
	"time"

	"gleaner/internal/library/collection"
	"gleaner/internal/record/store"
)

// promise is what a log says of the earlier answer that a resource is the same as; it
// stands in the detail of one that is not on record.
func (r *Resource) promise() string {
	sum, url, on := "-", "-", "-"
	if r.SHA1 != nil {
		sum = hex.EncodeToString(r.SHA1)
	}
	url = cmp.Or(canonical(r.SameAs), url)
	if !r.SameOn.IsZero() {
		on = r.SameOn.UTC().Format(time.RFC3339)
	}
	return strings.Join([]string{sum, url, on}, " ")
}

// promised is the resource of a record whose detail is a promise; nil where it is none.
func promised(of store.ImportRecord) *Resource {
	f := strings.Fields(strings.TrimPrefix(of.Detail, NoEarlier+": "))
	if len(f) != 3 {
		return nil
	}
	r := &Resource{Source: of.Source, URL: of.URL, Parent: of.Parent, Depth: -1, Seed: of.Seed, Again: true}
	if of.Depth != nil {
		r.Depth = *of.Depth
	}
	if of.Crawled != nil {
		r.Crawled = *of.Crawled
	}
	r.SHA1, _ = hex.DecodeString(strings.TrimPrefix(f[0], "-"))
	if len(r.SHA1) == 0 {
		r.SHA1 = nil
	}
	r.SameAs = strings.TrimPrefix(f[1], "-")
	r.SameOn, _ = time.Parse(time.RFC3339, f[2])
	return r
}

// takeMissed takes once more what was as before when nothing earlier was on record: that
// may have come behind it in the log. It goes on behind a resource, up to which an attempt
// before has come.
func (w *work) takeMissed(ctx context.Context, after int64) error {
	for {
		missed, err := w.DB.SkippedRecords(ctx, w.run.Job, after, NoEarlier, stepDocuments)
		if err != nil || len(missed) == 0 {
			return err
		}
		for _, m := range missed {
			after = m.N
			if r := promised(m); r != nil {
				if err := w.takeMissedOne(ctx, m, r); err != nil {
					return err
				}
			}
			w.moved()
		}
	}
}

func (w *work) takeMissedOne(ctx context.Context, m store.ImportRecord, r *Resource) error {
	it := &item{ImportRecord: m, of: r, hash: hashOf(m.URL)}
	it.Outcome, it.Detail = "", ""
	it.file = collection.File{URL: m.URL, At: r.Crawled}
	if r.Crawled.IsZero() {
		it.file.At = undated
	}
	err := w.takeAgain(ctx, it)
	if err != nil || it.skip != "" {
		return err
	}
	it.Known = r.SameAs == "" || r.SameAs == m.URL
	c := w.done.Counters
	c.unskip(NoEarlier)
	if err = w.readPages(ctx, []*item{it}); err != nil {
		return err
	}
	s := store.ImportStep{Position: place{Missed: m.N}}
	if err = w.settle(ctx, []*item{it}, &s); err == nil {
		w.done, err = w.save(ctx, w.done, s, c, false)
	}
	return err
}
