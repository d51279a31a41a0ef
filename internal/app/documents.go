package app

import (
	"context"

	"gleaner/internal/collection"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
)

// Reading says with what a program reads documents.
type Reading struct {
	Child document.Child // how it starts itself as a reading child; without it the built-in PDF reader is unbounded in memory
	Cores int            // documents read at a time; 0 is the number of processors
}

type readingKey struct{}

// WithReading tells Open what only main can know.
func WithReading(ctx context.Context, r Reading) context.Context {
	return context.WithValue(ctx, readingKey{}, r)
}

// openCollection makes the collection of an open record.
func (a *App) openCollection(ctx context.Context) {
	r, _ := ctx.Value(readingKey{}).(Reading)
	temp, shut, err := document.OpenTemp("")
	if err != nil { // reading says the same of each file, where it is no passing trouble
		a.Log.WarnContext(ctx, "no folder for temporary files", "error", err)
	}
	a.shutTemp = shut
	a.Collection = collection.New(collection.Parts{DB: a.DB, Repo: a.Repo, Log: a.Log, Cores: r.Cores, Filter: a.filter, Whole: a.Config.Switch("whole-text"), Names: a.Config.Switch("name-filter"),
		Memory: fetch.NewMemory(memory() / 4), Reader: document.NewReader(document.Options{OCR: a.Config.Switch("ocr"), Child: r.Child, TempDir: temp})})
}

// Examiner returns what examines documents, for a command that opened the record
// alone: it asks nothing of the web.
func (a *App) Examiner(ctx context.Context) *collection.Collection {
	if a.Collection == nil {
		a.openCollection(ctx)
	}
	return a.Collection
}
