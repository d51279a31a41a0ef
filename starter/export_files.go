package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"

	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
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
func (c *cli) exportFiles(ctx context.Context, a *app.App, format, out string, what chosen) error {
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
	if err != nil || failed != nil && !errors.Is(failed, store.ErrPruned) {
		return errors.Join(err, failed)
	}
	if failed != nil {
		failed = fmt.Errorf("%d of %s were passed over:\n%w", len(what.shas)-n, text.Count(len(what.shas), "document"), failed)
	}
	return errors.Join(c.Say(map[string]any{"documents": n, "format": format, "out": out}, "%s in %s\n", text.Count(n, "document"), out), failed)
}

// exportWithFiles copies documents into a folder, by readable names, and beside them
// the list that names them.
func (c *cli) exportWithFiles(ctx context.Context, a *app.App, f exportFlags, found []store.Exported, what chosen) error {
	at := map[string]string{} // by SHA-256
	var failed error
	err := a.Repo.ExportTree(ctx, f.out, what.items(ctx, a, &failed), func(e repository.Exported) error {
		at[e.Item.SHA256] = e.Path
		return nil
	})
	if err = cmp.Or(failed, err); err != nil {
		return err
	}
	for i := range found {
		found[i].Path = at[found[i].SHA256]
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil { // nothing was found
		return err
	}
	list := filepath.Join(f.out, "papers"+listEndings[f.format])
	if err := program.WriteFile(list, func(w io.Writer) error { return exportAs(w, f.format, found) }); err != nil {
		return err
	}
	return c.Say(map[string]any{"documents": len(at), "papers": len(found), "format": f.format, "list": list}, "%s in %s, with %s beside it\n", text.Count(len(found), "paper"), list, text.Count(len(at), "document"))
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
				if paper, err = a.DB.PaperOf(ctx, sha); err != nil {
					*failed = err
					return
				}
			}
			it := itemOf(d, places, paper)
			if it.References, err = a.DB.ReferenceList(ctx, sha); err != nil {
				*failed = err
				return
			}
			if !yield(it) {
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
		err := program.WriteFile(filepath.Join(out, name), func(w io.Writer) error {
			rd, err := a.Repo.Get(ctx, it.SHA256)
			if err != nil {
				return err
			}
			defer rd.Close()
			_, err = io.Copy(w, rd)
			return err
		})
		if err == nil {
			err = done(repository.Exported{})
		}
		if err != nil {
			return err
		}
	}
	return program.WriteFile(filepath.Join(out, "documents.jsonl"), func(w io.Writer) error { _, err := list.WriteTo(w); return err })
}
