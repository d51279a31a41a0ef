package collection

import (
	"context"
	"errors"
	"slices"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// Unfiltered returns the collection without its filter: it stores every document unread (Wu et
// al., WIDM 2012).
func (c *Collection) Unfiltered() *Collection {
	all := *c
	all.filter = nil
	return &all
}

// JudgeUnread judges the new ones of some documents together, as Judge does where the filter
// is off. The documents come from Keep. It returns the judgements by SHA-256; the other
// documents are left to Judge, and all of them where the filter is on.
func (c *Collection) JudgeUnread(ctx context.Context, docs []Document) (map[string]Judgement, error) {
	if c.filter != nil || len(docs) == 0 {
		return nil, nil
	}
	started, content, shas := time.Now(), map[string]*opened{}, []string{}
	for _, d := range docs {
		content[d.SHA256], shas = d.content, append(shas, d.SHA256)
	}
	fresh, err := c.db.New(ctx, shas)
	if err != nil || len(fresh) == 0 {
		return nil, err
	}
	judged, sheets := map[string]Judgement{}, map[string]any{}
	for i := range fresh {
		r := &fresh[i]
		at := append(r.Places, store.Location{})[0]
		r.Document = withoutReading(r.Document, at, *content[r.SHA256])
		j := Judgement{State: r.State, Outcome: r.Outcome, Class: r.Class, Matched: r.Matches}
		if j.Found() {
			j.State, r.State = gleaner.DocumentAccepted, gleaner.DocumentAccepted
		}
		judged[r.SHA256], sheets[r.SHA256] = j, sheetOf(r.Document, r.Places, r.Matches)
	}
	if err = c.repo.PutMeta(ctx, sheets); err != nil {
		return nil, err
	}
	if err = c.db.SaveUnread(ctx, fresh); errors.Is(err, store.ErrPruned) {
		return nil, nil
	}
	for _, j := range judged {
		c.judged(j, time.Since(started)/time.Duration(len(judged)))
	}
	return judged, err
}

// withoutReading accepts a document unread, unless its kind excludes a paper: a file without a
// document in it, or a text beside the papers of an archive.
func withoutReading(d store.Document, at store.Location, o opened) store.Document {
	d.State, d.Outcome, d.Reasons = gleaner.DocumentAccepted, unread, nil
	may := func(p document.Part) bool { return p.Kind.IsPaper() || p.Kind.IsDocument() && at.Member == "" }
	if slices.ContainsFunc(o.parts, may) {
		return d
	}
	d.State, d.Outcome = gleaner.DocumentRejected, string(document.NotADocument)
	if o.bad != nil {
		d.Outcome = string(o.bad.Outcome)
	}
	d.Class, d.Reasons = "", []string{d.Outcome}
	return d
}
