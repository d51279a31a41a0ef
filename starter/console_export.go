package main

import (
	"archive/zip"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"mime"
	"strings"
	"time"

	"gleaner/internal/console"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
)

func (d *desk) Export(ctx context.Context, harvest, format string, years gleaner.Years, files bool) (console.Export, error) {
	h, err := d.db.FindHarvest(ctx, harvest)
	if err != nil {
		return console.Export{}, err
	}
	if years == (gleaner.Years{}) {
		years = h.Years
	}
	found, err := exported(ctx, d.db, h.Venue, years)
	if err != nil {
		return console.Export{}, err
	}
	if len(found) == 0 {
		return console.Export{}, noneFound(h.Venue, years)
	}
	return d.save(ctx, harvest, exportFlags{format: format, files: files, out: "zip"}, found, h.Venue)
}

// ExportCollection implements console.Harvests.
func (d *desk) ExportCollection(ctx context.Context, name, format string, files bool) (console.Export, error) {
	entries, err := collectionEntries(ctx, d.db, name, "")
	if err != nil {
		return console.Export{}, err
	}
	found, err := exportedEntries(ctx, d.db.DocumentRecords, entries)
	if err != nil {
		return console.Export{}, err
	}
	return d.save(ctx, name, exportFlags{format: format, files: files, out: "zip"}, found, name)
}

// save is a file of what was found for a goal, called after a name.
func (d *desk) save(ctx context.Context, name string, f exportFlags, found []store.Exported, goal string) (
	e console.Export, err error,
) {
	if _, err := f.check(false); err != nil {
		return e, err
	}
	name = strings.NewReplacer("/", "-", ":", "-").Replace(strings.TrimRight(name, "/"))
	if f.files {
		return console.Export{Name: name + ".zip", MediaType: "application/zip", Write: func(w io.Writer) error {
			return zipFound(ctx, d.app, w, f.format, found, ofExport(found, goal))
		}}, nil
	}
	end := listEndings[f.format]
	return console.Export{Name: name + end, MediaType: cmp.Or(mime.TypeByExtension(end), "text/plain; charset=utf-8"), Write: func(w io.Writer) error {
		return saveAs(w, f.format, found)
	}}, nil
}

// saveAs writes found papers for who saves them from a page. Spreadsheets know UTF-8 by its
// mark, and break a table at a cell as long as a list of references: its length stays.
func saveAs(w io.Writer, format string, found []store.Exported) error {
	if format == "csv" {
		if _, err := io.WriteString(w, "\ufeff"); err != nil {
			return err
		}
		for i := range found {
			found[i].ReferenceList = nil
		}
	}
	return exportAs(w, format, found)
}

// zipFound writes documents by readable names into an archive, the list that names them,
// and a file that says which were passed over, if any.
func zipFound(ctx context.Context, a *app.App, w io.Writer, format string, found []store.Exported, what chosen) error {
	z := zip.NewWriter(w)
	_, passed, err := what.written(ctx, a, found, func(items iter.Seq[repository.Item], done func(repository.Exported) error) error {
		return a.Repo.ExportZip(ctx, z, items, done)
	})
	if err == nil && passed != nil {
		err = zipText(z, "passed-over.txt", func(w io.Writer) error { _, err := fmt.Fprintln(w, passed); return err })
	}
	if err == nil {
		err = zipText(z, "papers"+listEndings[format], func(w io.Writer) error { return saveAs(w, format, found) })
	}
	if err != nil {
		return err
	}
	return z.Close()
}

func zipText(z *zip.Writer, name string, write func(io.Writer) error) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Now()})
	if err != nil {
		return err
	}
	return write(w)
}
