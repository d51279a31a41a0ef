package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

// chosen are documents to be written out.
type chosen struct {
	shas   []string
	papers map[string]gleaner.Paper // by SHA-256, where a document is one
}

// ofExport are the found papers of a venue.
func ofExport(found []store.Exported, venueKey string) chosen {
	out := chosen{papers: map[string]gleaner.Paper{}}
	for _, f := range found {
		if _, twice := out.papers[f.SHA256]; twice || f.SHA256 == "" {
			continue // one file that is two papers is one file
		}
		out.shas = append(out.shas, f.SHA256)
		out.papers[f.SHA256] = gleaner.Paper{Key: f.Paper, Venue: cmp.Or(f.Venue, venueKey), Title: f.Title, Year: f.Year, Authors: f.Authors, DOI: f.DOI}
	}
	return out
}

// exportFiles copies documents out in a format.
func exportFiles(ctx context.Context, c *cli, a *app.App, format, out string, what chosen) error {
	n := 0
	progress := c.Progress("documents written")
	defer progress.End()
	done := func(repository.Exported) error { n++; progress.Count(n, len(what.shas)); return nil }
	var failed error
	items := what.items(ctx, a, &failed)
	var err error
	switch format {
	case "tree":
		err = a.Repo.ExportTree(ctx, out, items, done)
	case "citeseerx":
		err = a.Repo.ExportCiteSeerX(ctx, out, items, done)
	case "warc":
		err = program.WriteFile(out, func(w io.Writer) error { return a.Repo.ExportWARC(ctx, w, filepath.Base(out), items, done) })
	case "files":
		err = exportPlain(ctx, a, out, items, done)
	default:
		return fmt.Errorf("%w: --format is files, tree, citeseerx or warc, not %q", program.ErrUsage, format)
	}
	passed, err := what.passedOver(n, failed, err)
	if err != nil {
		return err
	}
	return errors.Join(c.Say(map[string]any{"documents": n, "format": format, "out": out}, "%s in %s\n", text.Count(n, "document"), out), passed)
}

// passedOver is failed, where that is only of documents whose files were pruned, with how many of them all; else
// the export is broken.
func (ch chosen) passedOver(written int, failed, err error) (passed, broken error) {
	if err != nil || failed != nil && !errors.Is(failed, store.ErrPruned) {
		return nil, errors.Join(err, failed)
	}
	if failed != nil {
		failed = fmt.Errorf("%d of %s were passed over:\n%w", len(ch.shas)-written, text.Count(len(ch.shas), "document"), failed)
	}
	return failed, nil
}

// written has documents written by readable names, which found has then, and counts them.
func (ch chosen) written(ctx context.Context, a *app.App, found []store.Exported,
	write func(iter.Seq[repository.Item], func(repository.Exported) error) error,
) (n int, passed, broken error) {
	at := map[string]string{} // by SHA-256
	var failed error
	err := write(ch.items(ctx, a, &failed), func(e repository.Exported) error {
		at[e.Item.SHA256] = e.Path
		return nil
	})
	for i := range found {
		found[i].Path = at[found[i].SHA256]
	}
	passed, broken = ch.passedOver(len(at), failed, err)
	return len(at), passed, broken
}

// exportWithFiles copies documents into a folder, by readable names, and beside them
// the list that names them.
func exportWithFiles(ctx context.Context, c *cli, a *app.App, f exportFlags, found []store.Exported, what chosen) error {
	list := filepath.Join(f.out, "papers"+listEndings[f.format])
	n, passed, err := what.written(ctx, a, found, func(items iter.Seq[repository.Item], done func(repository.Exported) error) error {
		return a.Repo.ExportTree(ctx, f.out, items, done)
	})
	if err != nil {
		return err
	}
	var papers bytes.Buffer
	err = cmp.Or(os.MkdirAll(f.out, 0o755), exportAs(&papers, f.format, found)) // no folder is there of nothing
	if err != nil {
		return err
	}
	if err := keepsPapers(c.Err, list, f.format, papers.Bytes()); err != nil {
		return err
	}
	if err := program.WriteFile(list, func(w io.Writer) error { _, err := papers.WriteTo(w); return err }); err != nil {
		return err
	}
	said := map[string]any{"documents": n, "papers": len(found), "format": f.format, "list": list}
	return errors.Join(c.Say(said, "%s in %s, with %s beside it\n", text.Count(len(found), "paper"), list, text.Count(n, "document")), passed)
}

// keepsPapers sets a list aside that names others than the papers that are to be written in
// its place.
func keepsPapers(w io.Writer, list, format string, papers []byte) error {
	old, err := os.ReadFile(list)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	had, _, _ := biblio.Read(bytes.NewReader(old), biblio.Format(format))
	has, _, _ := biblio.Read(bytes.NewReader(papers), biblio.Format(format))
	named := each.Set(has, func(p gleaner.Paper) string { return p.Title })
	others := each.Where(had, func(p gleaner.Paper) bool { return !named[p.Title] })
	if len(others) == 0 {
		return nil
	}
	before := list + ".before"
	for n := 2; ; n++ { // lists that were set aside earlier stay
		if _, err := os.Lstat(before); err != nil {
			break
		}
		before = fmt.Sprintf("%s.before%d", list, n)
	}
	fmt.Fprintf(w, "hint: %s only in the list of before, now %s\n", text.CountIs(len(others), "paper"), before)
	return os.Rename(list, before)
}

// items reads what is known of each document as it is needed. An error ends the
// sequence and is left in failed, with the documents whose files were pruned.
func (ch chosen) items(ctx context.Context, a *app.App, failed *error) iter.Seq[repository.Item] {
	return func(yield func(repository.Item) bool) {
		for _, sha := range ch.shas {
			d, places, err := a.DB.Document(ctx, sha)
			if err != nil {
				*failed = err
				return
			}
			if d.Removed != nil {
				*failed = errors.Join(*failed, fmt.Errorf("%s: %w", sha, store.ErrPruned))
				continue
			}
			paper, ok := ch.papers[sha]
			if !ok {
				paper, err = a.DB.PaperOf(ctx, sha)
			}
			it := itemOf(d, places, paper)
			if err == nil {
				it.References, err = a.DB.ReferenceList(ctx, sha)
			}
			if err != nil {
				*failed = err
			}
			if err != nil || !yield(it) {
				return
			}
		}
	}
}

func itemOf(d store.Document, places []store.Location, paper gleaner.Paper) repository.Item {
	it := repository.Item{ID: d.ID, SHA256: d.SHA256, SHA1: d.SHA1, Paper: paper, Extension: repository.Extension(d.Kind),
		Discovered: d.Discovered}
	l := store.Location{}
	if len(places) > 0 {
		l = places[0]
		it.URL, it.ParentURL, it.FetchedAt = l.URL, l.Parent, l.Found
		it.Header = http.Header{}
		for k, v := range l.Header {
			it.Header.Set(k, v)
		}
	}
	it.Title = store.DocumentTitle(l.Anchor, d.FirstPages, d.MetaTitle)
	return it
}

// copyDocument writes a document's file to w.
func copyDocument(ctx context.Context, a *app.App, sha string, w io.Writer) error {
	rd, err := a.Repo.Get(ctx, sha)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, rd)
	return errors.Join(err, rd.Close())
}

// exportPlain writes documents by their names, with a list of them.
func exportPlain(ctx context.Context, a *app.App, out string, items iter.Seq[repository.Item], done func(repository.Exported) error) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var list bytes.Buffer
	enc := json.NewEncoder(&list)
	for it := range items {
		name := it.SHA256 + "." + it.Extension
		if err := enc.Encode(map[string]any{"file": name, "sha256": it.SHA256, "paper": it.Paper.Key, "title": it.Paper.Title, "url": it.URL,
			"parent_url": it.ParentURL, "discovered_at": it.Discovered, "header": it.Header}); err != nil {
			return err
		}
		err := program.WriteFile(filepath.Join(out, name), func(w io.Writer) error { return copyDocument(ctx, a, it.SHA256, w) })
		if err == nil {
			err = done(repository.Exported{})
		}
		if err != nil {
			return err
		}
	}
	return program.WriteFile(filepath.Join(out, "documents.jsonl"), func(w io.Writer) error { _, err := list.WriteTo(w); return err })
}
