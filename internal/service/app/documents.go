package app

import (
	"context"

	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/library/collection"
)

// openCollection makes the collection of an open record.
func (a *App) openCollection(ctx context.Context) {
	temp, shut, err := document.OpenTemp("")
	if err != nil { // reading says the same of each file, where it is no passing trouble
		a.Log.WarnContext(ctx, "no folder for temporary files", "error", err)
	}
	a.shutTemp = shut
	own := document.NewReader(document.Options{OCR: a.Config.Documents.OCR, Child: a.options.Child, TempDir: temp})
	reader := a.options.Reader
	if reader == nil {
		reader = own
	}
	if !own.Poppler() {
		a.Log.WarnContext(ctx, "poppler's pdftotext is not installed: PDFs are read by the built-in reader, which reads fewer and less of them")
	}
	a.Collection = collection.New(collection.Parts{DB: a.DB, Repo: a.Repo, Log: a.Log, Cores: a.options.Cores, Filter: a.filter, Disciplines: a.disciplines, Whole: a.Config.Documents.WholeText, Names: a.Config.Policy.Documents.NameFilter,
		Memory: fetch.NewMemory(memory() / 4), Reader: reader})
}

// Examiner returns what examines documents, for a command that opened the record
// alone: it asks nothing of the web.
func (a *App) Examiner(ctx context.Context) *collection.Collection {
	if a.Collection == nil {
		a.openCollection(ctx)
	}
	return a.Collection
}
