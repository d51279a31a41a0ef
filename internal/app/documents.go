package app

import (
	"context"

	"gleaner/internal/collection"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
)

type coresKey struct{}

// WithCores tells Open how many documents are read at a time; otherwise as many as
// there are processors.
func WithCores(ctx context.Context, cores int) context.Context {
	return context.WithValue(ctx, coresKey{}, cores)
}

// openCollection makes the collection of an open record.
func (a *App) openCollection(ctx context.Context) {
	cores, _ := ctx.Value(coresKey{}).(int)
	temp, shut, err := document.OpenTemp("")
	if err != nil { // reading says the same of each file, where it is no passing trouble
		a.Log.WarnContext(ctx, "no folder for temporary files", "error", err)
	}
	a.shutTemp = shut
	a.Collection = collection.New(collection.Parts{DB: a.DB, Repo: a.Repo, Log: a.Log, Cores: cores, Filter: a.filter, Whole: a.Config.Switch("whole-text"), Names: a.Config.Switch("name-filter"),
		Memory: fetch.NewMemory(memory() / 4), Reader: document.NewReader(document.Options{OCR: a.Config.Switch("ocr"), TempDir: temp})})
}

// Examiner returns what examines documents, for a command that opened the record
// alone: it asks nothing of the web.
func (a *App) Examiner(ctx context.Context) *collection.Collection {
	if a.Collection == nil {
		a.openCollection(ctx)
	}
	return a.Collection
}
