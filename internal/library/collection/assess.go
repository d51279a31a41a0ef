package collection

import (
	"context"
	"path"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// Assess says what the filter makes of a file, or of each document in it, without
// keeping anything. What is wanted is not asked.
func (c *Collection) Assess(ctx context.Context, f File) ([]Judgement, error) {
	o, release, err := c.open(ctx, path.Base(f.URL), f.Header.Get("Content-Type"), f.Body)
	if err != nil {
		return nil, err
	}
	defer release()
	if c.filter == nil && len(o.parts) > 0 {
		return []Judgement{{State: gleaner.DocumentAccepted, Outcome: unread}}, nil
	}
	files := []opened{o}
	if len(o.parts) > 1 {
		files = nil
		for _, p := range o.parts {
			files = append(files, opened{name: p.Name, body: p.Body, parts: []document.Part{p}})
		}
	}
	var all []Judgement
	for _, o := range files {
		text, j, err := c.readAndFilter(ctx, &store.Document{}, store.Location{URL: f.URL, Anchor: f.Anchor}, o, func(*document.Text) bool { return false })
		if err != nil {
			return nil, err
		}
		verdict := Judgement{State: gleaner.DocumentRejected, Outcome: outcome(text, j), Class: string(j.Class)}
		if j.Academic {
			verdict.State = gleaner.DocumentAccepted
		}
		all = append(all, verdict)
	}
	return all, nil
}

// Read reads the document in a file, or the first of several in an archive, without
// keeping or judging anything: the whole text that the reader's limits allow, or what
// is wrong with it (document.Text.Outcome).
func (c *Collection) Read(ctx context.Context, f File) (*document.Text, error) {
	o, release, err := c.open(ctx, path.Base(f.URL), f.Header.Get("Content-Type"), f.Body)
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
