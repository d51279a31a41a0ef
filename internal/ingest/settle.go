package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// settle finds an outcome for items, several at a time: no two documents are of one URL,
// so none is a later version of another. It notes in a step what is to be written of them.
func (w *work) settle(ctx context.Context, items []*item, s *store.ImportStep) error {
	defer func() {
		for _, it := range items {
			it.kept.Release()
			it.kept = nil
		}
	}()
	var together, others []*item
	for _, it := range items {
		if it.file.Body == nil {
			continue
		}
		stays := !w.options.Unrecorded && (!it.isPage() || it.paper())
		if stays {
			var err error
			if it.file.SiteID, err = w.site(ctx, it.URL); err != nil {
				return err
			}
		}
		if stays && !it.isPage() && !it.kind.IsPacked() && !it.again {
			together = append(together, it)
		} else {
			others = append(others, it)
		}
	}
	var judged map[string]collection.Judgement
	err := guard.Run(func() (err error) { judged, err = w.keepAll(ctx, together); return err })
	if guard.Panicked(err) { // over one of them
		together, others, err = nil, append(others, together...), nil
	}
	if err != nil {
		return err
	}
	if err := w.each(ctx, together, func(ctx context.Context, it *item) error { return w.judge(ctx, it, judged) }); err != nil {
		return err
	}
	if err := w.each(ctx, others, w.keepAndJudge); err != nil {
		return err
	}
	for _, it := range items {
		it.setProvenance()
		if it.Outcome != Skipped && it.file.Body != nil && w.trial.foresee(&it.ImportRecord, it.file.Body) && it.of.Again {
			unpacksOf(w.log).Add(int64(len(it.file.Body))) // it is not read again
		}
		s.Records = append(s.Records, it.ImportRecord)
	}
	return w.parents(ctx, items, s)
}

// keepAll stores documents together and, without a filter, judges the new ones.
func (w *work) keepAll(ctx context.Context, items []*item) (judged map[string]collection.Judgement, err error) {
	if len(items) == 0 {
		return nil, nil
	}
	files := each.Of(items, func(it *item) collection.File { return it.file })
	kept, err := w.coll.KeepAll(ctx, files)
	if err != nil {
		return nil, err
	}
	var docs []collection.Document
	for i, it := range items {
		docs = append(docs, kept[i].Documents...)
		if err := it.keeps(ctx, w.Repo, kept[i]); err != nil {
			return nil, err
		}
	}
	return w.coll.JudgeUnread(ctx, docs)
}

// keepAndJudge stores a file and judges what is in it, which is unpacked until then.
func (w *work) keepAndJudge(ctx context.Context, it *item) error {
	if !w.options.Unrecorded && !it.isPage() {
		keep := w.coll.Keep
		if it.again {
			keep = func(ctx context.Context, f collection.File) (*collection.Kept, error) {
				return w.coll.KeepAgain(ctx, f, it.SHA256)
			}
		}
		left := unpacksOf(w.log)
		if !it.again && it.kind.IsPacked() && left.Load() < 0 {
			return it.lost(errTooMuch)
		}
		k, err := keep(ctx, it.file)
		if err != nil {
			return err
		}
		defer k.Release()
		left.Add(int64(len(it.file.Body)) - k.Bytes)
		if err := it.keeps(ctx, w.Repo, k); err != nil {
			return err
		}
	}
	return w.judge(ctx, it, nil)
}

// keeps notes what was stored of an item. A file that had been stored before is compared.
func (it *item) keeps(ctx context.Context, in *repository.Repository, k *collection.Kept) error {
	it.kept = k
	if len(k.Documents) > 0 {
		it.SHA256 = k.Documents[0].SHA256
	}
	for _, d := range k.Documents {
		if !it.Known || it.again { // it was stored just now, or is not in hand
			break
		}
		if err := d.Mend(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// pagesBytes is how much of pages is parsed at a time: their links may take a hundred
// times as much, and are let go.
const pagesBytes = 512 << 10

// readPages parses pages, some at a time, learns where they lead, and gives the other
// files the words of the pages that lead to them.
func (w *work) readPages(ctx context.Context, items []*item) error {
	for left := items; len(left) > 0; {
		n, size := 0, int64(0)
		for n < len(left) && (n < w.Cores || size < pagesBytes) {
			size += left[n].Bytes
			n++
		}
		some := left[:n]
		left = left[n:]
		if err := w.each(ctx, some, func(_ context.Context, it *item) error {
			if it.isPage() {
				it.readPage()
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
	for _, it := range items {
		w.found(it)
	}
	return nil
}

// each works on those items that have a body, several at a time.
func (w *work) each(ctx context.Context, items []*item, do func(context.Context, *item) error) error {
	return guard.Several(ctx, w.Cores, len(items), func(ctx context.Context, i int) error {
		if items[i].file.Body == nil {
			return nil
		}
		return w.guarded(ctx, items[i], do)
	})
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
	return remembered(w.sites, host, func() (int, error) { return store.EnsureSite(ctx, w.DB.Pool, host) })
}

// paper reports whether a page may be one: it is kept only once it is known to be.
func (it *item) paper() bool { return it.page != nil && len(it.page.Text) >= collection.PaperPageText }

// judge finds the outcome of an item, some of whose documents are judged.
func (w *work) judge(ctx context.Context, it *item, judged map[string]collection.Judgement) error {
	switch {
	case it.as != nil:
		it.same()
		return nil
	case it.isPage():
		return w.judgePage(ctx, it)
	}
	js, err := w.judgements(ctx, it, judged)
	if err != nil {
		return err
	}
	it.Outcome, it.Detail, it.Class = outcome(js, it.kind, it.Known)
	if it.Outcome == Unexamined {
		it.Difference = "it waits to be examined"
	}
	return w.copyOut(ctx, it)
}

func (w *work) judgements(ctx context.Context, it *item, judged map[string]collection.Judgement) (js []collection.Judgement, err error) {
	if w.options.Unrecorded {
		return w.coll.Assess(ctx, it.file)
	}
	for _, d := range it.kept.Documents {
		j, is := judged[d.SHA256]
		if !is {
			j, err = w.coll.Judge(ctx, d, collection.Once)
		}
		if collection.Later(err) && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "document is examined later", "sha256", d.SHA256, "url", it.URL, "error", err)
			j, err = collection.Judgement{State: gleaner.DocumentNew}, nil
		}
		if err != nil {
			return nil, err
		}
		if j.Academic() || j.State == gleaner.DocumentNew {
			it.SHA256 = d.SHA256
		}
		js = append(js, j)
	}
	return js, nil
}

// judgePage keeps a page that is itself a paper, as a crawl does.
func (w *work) judgePage(ctx context.Context, it *item) error {
	it.Outcome, it.Detail = FilteredMTF, it.Kind
	if !it.paper() || it.page.NoIndex || it.of.Cut != "" || !w.options.takes(it.kind) {
		return nil
	}
	if err := beginRecords(ctx, w, []*item{it}); err != nil {
		return err
	}
	it.file.Trial = w.options.Unrecorded
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
	if it.again {
		return w.copyStored(ctx, w.to, it.SHA256)
	}
	d, err := w.to.Put(ctx, it.file.Body)
	it.SHA256 = cmp.Or(it.SHA256, d.SHA256)
	return err
}

// settleTime is how long Settle takes at most: who calls it has other work.
const settleTime = 30 * time.Second

// Settle says what became of resources whose documents waited to be examined when their import
// ended, and were judged since. What cannot be said yet is at a later call, also where a place
// that documents are copied to hangs.
func (im *Importer) Settle(ctx context.Context) {
	if !im.settling.TryLock() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	select {
	case <-guard.Go(func() { defer im.settling.Unlock(); im.settle(ctx) }):
	case <-ctx.Done():
	}
}

func (im *Importer) settle(ctx context.Context) {
	var job, n int64
	for {
		some, err := im.DB.ExaminedLater(ctx, job, n, stepRecords)
		for _, w := range some {
			job, n = w.Job, w.N
			if err := im.settleLate(ctx, w); err != nil {
				im.Log.WarnContext(ctx, "what an import left to be examined is settled later", "job", job, "url", w.URL, "error", err)
			}
		}
		if err != nil {
			im.Log.WarnContext(ctx, "what imports left to be examined is settled later", "error", err)
		}
		if len(some) == 0 || ctx.Err() != nil {
			return
		}
	}
}

func (im *Importer) settleLate(ctx context.Context, w store.Waited) error {
	var o Options
	if err := json.Unmarshal(w.Options, &o); err != nil {
		return err
	}
	documents, err := im.DB.DocumentsOf(ctx, w)
	if err != nil {
		return err
	}
	var js []collection.Judgement
	for _, d := range documents {
		if d.State == gleaner.DocumentNew { // another member of the archive
			return nil
		}
		if err := im.copyLate(ctx, o.To, d); err != nil {
			return err
		}
		js = append(js, collection.Judgement{State: d.State, Outcome: d.Outcome, Class: d.Class})
	}
	w.Outcome, w.Detail, w.Class = outcome(js, document.Kind(w.Kind), w.Known)
	w.Difference = ""
	return im.DB.RecordExamined(ctx, w, func(counters json.RawMessage) (any, error) {
		var c Counters
		err := json.Unmarshal(counters, &c)
		c.All, c.Unexamined, c.Differences = c.All-1, c.Unexamined-1, c.Differences-1
		c.count(&w.ImportRecord)
		return c, err
	})
}

// copyLate copies a document where its import wanted it.
func (im *Importer) copyLate(ctx context.Context, where string, d store.Document) error {
	if where == "" || d.State != gleaner.DocumentAccepted {
		return nil
	}
	to, err := repository.Open(ctx, where)
	if err != nil {
		return err
	}
	defer to.Close()
	return im.copyStored(ctx, to, d.SHA256)
}

// copyStored copies a document of the repository, unless it is there or was pruned since.
func (im *Importer) copyStored(ctx context.Context, to *repository.Repository, sha256 string) error {
	if is, err := to.Exists(ctx, sha256); is || err != nil {
		return err
	}
	body, err := im.Repo.Read(ctx, sha256)
	if errors.Is(err, repository.ErrNotFound) {
		return nil
	}
	if err == nil {
		_, err = to.Put(ctx, body)
	}
	return err
}
