package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// settle finds an outcome for everything in hand, several at a time: no two documents are
// of one URL, so none is a later version of another.
func (w *work) settle(ctx context.Context) error {
	defer func() {
		for _, it := range w.items {
			it.kept.Release()
			it.kept = nil
		}
	}()
	if err := w.readPages(ctx); err != nil {
		return err
	}
	for _, it := range w.items {
		if it.file.Body == nil {
			continue
		}
		w.found(it)
		if w.options.Unrecorded || isPage(it.kind) && !it.paper() {
			continue
		}
		var err error
		if it.file.SiteID, err = w.site(ctx, it.URL); err != nil {
			return err
		}
	}
	if err := w.each(ctx, w.items, w.keep); err != nil {
		return err
	}
	return w.each(ctx, w.items, w.judge)
}

// readPages parses the pages in hand, a few at a time, and learns where they lead: the
// links of a page may take a hundred times as much as its bytes, and are let go.
func (w *work) readPages(ctx context.Context) error {
	for some := range slices.Chunk(w.items, w.Cores) {
		if err := w.each(ctx, some, func(_ context.Context, it *item) error {
			if isPage(it.kind) {
				w.readPage(it)
			}
			return nil
		}); err != nil {
			return err
		}
		for _, it := range some {
			if it.page != nil {
				w.learn(it)
				it.page.Links = nil
			}
		}
	}
	return nil
}

// each works on those items that have a body, several at a time.
func (w *work) each(ctx context.Context, items []*item, do func(context.Context, *item) error) error {
	g, ctx := guard.WithContext(ctx)
	g.SetLimit(w.Cores)
	for _, it := range items {
		if it.file.Body != nil {
			g.Go(func() error { return w.guarded(ctx, it, do) })
		}
	}
	return g.Wait()
}

// guarded does some work on an item. A panic over it is that item's failure, and
// neither another's nor the end of the process.
func (w *work) guarded(ctx context.Context, it *item, do func(context.Context, *item) error) error {
	err := guard.Logged(ctx, w.Log, it.URL, func() error { return do(ctx, it) })
	if guard.Panicked(err) {
		it.Outcome, it.Detail, it.Difference, it.file.Body = FailedTextExtract, "panic", err.Error(), nil
		return nil
	}
	return err
}

// site finds the row of a URL's host.
func (w *work) site(ctx context.Context, url string) (int, error) {
	host := weburl.Host(url)
	id, known := w.sites[host]
	if !known {
		var err error
		if id, err = store.EnsureSite(ctx, w.DB.Pool, host); err != nil {
			return 0, err
		}
		if len(w.sites) >= keptHosts {
			clear(w.sites)
		}
		w.sites[host] = id
	}
	return id, nil
}

// paper reports whether a page may be one: it is kept only once it is known to be.
func (it *item) paper() bool { return it.page != nil && len(it.page.Text) >= collection.PaperPageText }

// keep stores a document, to be judged.
func (w *work) keep(ctx context.Context, it *item) error {
	if w.options.Unrecorded || isPage(it.kind) {
		return nil
	}
	k, err := w.coll.Keep(ctx, it.file)
	if err != nil {
		return err
	}
	it.kept = k
	if len(k.Documents) > 0 {
		it.SHA256 = k.Documents[0].SHA256
	}
	for _, d := range k.Documents {
		if !it.Known { // it was stored just now
			break
		}
		if err := d.Mend(ctx, w.Repo); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) judge(ctx context.Context, it *item) error {
	if isPage(it.kind) {
		return w.judgePage(ctx, it)
	}
	js, err := w.judgements(ctx, it)
	if err != nil {
		return err
	}
	it.Outcome, it.Detail, it.Class = outcome(js, it.kind, it.Known)
	if it.Outcome == Unexamined {
		it.Difference = "it waits to be examined"
	}
	return w.copyOut(ctx, it)
}

func (w *work) judgements(ctx context.Context, it *item) (js []collection.Judgement, err error) {
	if w.options.Unrecorded {
		return w.coll.Assess(ctx, it.file)
	}
	for _, d := range it.kept.Documents {
		j, err := w.coll.Judge(ctx, d, collection.Once)
		if collection.Later(err) && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "document is examined later", "sha256", d.SHA256, "url", it.URL, "error", err)
			j, err = collection.Judgement{State: gleaner.DocumentNew}, nil
		}
		if err != nil {
			return nil, err
		}
		if j.Academic() {
			it.SHA256 = d.SHA256
		}
		js = append(js, j)
	}
	return js, nil
}

// judgePage keeps a page that is itself a paper, as a crawl does.
func (w *work) judgePage(ctx context.Context, it *item) error {
	it.Outcome, it.Detail = FilteredMTF, it.Kind
	if it.page == nil || it.page.NoIndex || it.of.Cut != "" || w.options.Unrecorded || !w.options.takes(it.kind) {
		return nil
	}
	if !it.paper() {
		return nil
	}
	var err error
	if err = w.DB.BeginRecords(ctx, w.run.Job, w.run.Run, []*store.ImportRecord{&it.ImportRecord}); err != nil {
		return err
	}
	j, is, err := w.coll.AddPage(ctx, it.file, it.page.Titles(), it.page.Text)
	if err != nil || !is {
		return err
	}
	sum := sha256.Sum256(it.file.Body)
	it.SHA256 = hex.EncodeToString(sum[:])
	it.Outcome, it.Detail, it.Class = outcome([]collection.Judgement{j}, it.kind, it.Known)
	return w.copyOut(ctx, it)
}

// copyOut puts a document that was saved where the import wants it, too.
func (w *work) copyOut(ctx context.Context, it *item) error {
	if w.to == nil || it.Outcome != SavedNew && it.Outcome != SavedDuplicate {
		return nil
	}
	d, err := w.to.Put(ctx, it.file.Body)
	if it.SHA256 == "" {
		it.SHA256 = d.SHA256
	}
	return err
}
