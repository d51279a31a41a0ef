package collection

import (
	"context"
	"path"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/record/store"
)

// Assess returns the judgements that Judge would make of a file or of each document in it,
// without storing anything.
func (c *Collection) Assess(ctx context.Context, f File) ([]Judgement, error) {
	o, release, err := c.open(ctx, f.URL, path.Base(f.URL), f.Header.Get("Content-Type"), f.Body)
	if err != nil {
		return nil, err
	}
	defer release()
	if c.filter == nil && len(o.parts) > 0 {
		return []Judgement{{State: gleaner.DocumentAccepted, Outcome: unread}}, nil
	}
	index, _, err := c.wanted.get(ctx)
	if err != nil {
		return nil, err
	}
	at := store.Location{URL: f.URL, Parent: f.Parent, Anchor: f.Anchor}
	if len(o.parts) < 2 {
		j, err := assess(ctx, c, index, at, o)
		return []Judgement{j}, err
	}
	var all []Judgement
	for _, p := range o.parts {
		at.Member = p.Name
		j, err := assess(ctx, c, index, at, opened{name: p.Name, body: p.Body, parts: []document.Part{p}})
		if err != nil {
			return nil, err
		}
		all = append(all, j)
	}
	return all, nil
}

func assess(ctx context.Context, c *Collection, index *match.Index, at store.Location, o opened) (Judgement, error) {
	d, places := store.Document{Bytes: int64(len(o.body))}, []store.Location{at}
	if len(o.parts) > 0 {
		d.Kind = string(o.parts[0].Kind)
	}
	if _, is := unwelcome(d, places); is && c.names {
		return Judgement{State: gleaner.DocumentRejected, Outcome: string(document.Unwelcome)}, nil
	}
	wanted := func(t *document.Text) bool { return len(matches(index, titled(d, t), places)) > 0 }
	text, j, err := c.readAndFilter(ctx, &d, at, o, wanted)
	if err != nil {
		return Judgement{}, err
	}
	verdict := Judgement{State: gleaner.DocumentRejected, Outcome: outcome(text, j), Class: string(j.Class)}
	if text.HasText() {
		verdict.Matched = matches(index, titled(d, text), places)
	}
	if j.Academic || verdict.Found() {
		verdict.State = gleaner.DocumentAccepted
	}
	return verdict, nil
}

// Read returns the text of a file's document, or of the first one in an archive, up to the
// reader's limits, or the failure (document.Text.Outcome). It stores nothing.
func (c *Collection) Read(ctx context.Context, f File) (*document.Text, error) {
	o, release, err := c.open(ctx, f.URL, path.Base(f.URL), f.Header.Get("Content-Type"), f.Body)
	if err != nil {
		return nil, err
	}
	defer release()
	free, err := c.takeCore(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	t, _, err := c.read(ctx, o, nil)
	return t, err
}
