package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"mime"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gleaner/activities"
	"gleaner/internal/console"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
)

func (d *desk) Again(ctx context.Context, id string) (string, error) {
	h, err := d.db.FindHarvest(ctx, id)
	if err != nil {
		return "", err
	}
	of, err := activities.HarvestOf(h)
	if err != nil {
		return "", err
	}
	of.Options.Again = "" // as a new harvest decides
	_, did, err := d.begin(ctx, h.Venue, h.Years, &harvestFlags{options: of.Options})
	return did, err
}

func (d *desk) Estimate(ctx context.Context, w console.Wish) (p console.Estimated, err error) {
	f, years, err := wished(w)
	if err != nil {
		return p, err
	}
	if gleaner.ParseGoal(w.Goal).Site != "" {
		p.Lines = []string{"What a site has is not known before it is asked. A harvest of it can be cancelled when it is enough: what was found is kept."}
		return p, nil
	}
	all, err := d.c.estimates(ctx, []string{w.Goal}, years, f)
	if err != nil {
		return p, told(err)
	}
	var text bytes.Buffer
	for _, e := range all {
		if err := e.summary(&text); err != nil {
			return p, err
		}
		for _, l := range e.Listed {
			p.Papers = append(p.Papers, store.HarvestPaper{Paper: l.Paper, Title: cmp.Or(l.Title, l.DOI), Year: l.Year, Authors: l.Authors,
				State: l.state(), HeldWhy: l.Held})
		}
	}
	p.Lines = strings.Split(strings.TrimSpace(text.String()), "\n")
	return p, nil
}

// EnterList implements console.Harvests. It enters the list as a file's is.
func (d *desk) EnterList(ctx context.Context, name, text string) (string, error) {
	goal := gleaner.Goal{List: listName(name)}
	if goal.List == "" {
		return "", fmt.Errorf("%w: %q is no name for a list", program.ErrUsage, name)
	}
	folder, err := os.MkdirTemp("", "list-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "list"+filepath.Ext(filepath.Base(name)))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	a, err := d.c.Application(ctx)
	if err != nil {
		return "", err
	}
	defer a.Close()
	err = told(enterList(ctx, a, io.Discard, goal, gleaner.Years{}, file, "console/"+goal.List))
	if program.ExitCode(err) == program.ExitUsage {
		err = fmt.Errorf("%w: %s", program.ErrUsage, strings.ReplaceAll(err.Error(), file, name))
	}
	return goal.String(), err
}

// Progress implements console.Harvests. Rates are measured between the looks of all
// who watch the harvest.
func (d *desk) Progress(ctx context.Context, id string) (console.Progress, error) {
	cfg, err := d.c.Settings()
	if err != nil {
		return console.Progress{}, err
	}
	d.mu.Lock()
	l := d.looks[id]
	if l == nil {
		l = &looking{db: d.db, id: id, pace: cfg.Web.Delay, begun: time.Now()}
		if len(d.looks) >= sitesShown { // of harvests that ended since
			d.looks = nil
		}
		if d.looks == nil {
			d.looks = map[string]*looking{}
		}
		d.looks[id] = l
	}
	d.mu.Unlock()
	if err := l.look(ctx); err != nil {
		return console.Progress{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := console.Progress{Left: l.left(), Failing: []string{}}
	p.Rate, _ = rates(l.past)
	for _, s := range l.now.At {
		if s.Fails() {
			p.Failing = append(p.Failing, s.Host+" "+whyFails(s))
		}
	}
	return p, nil
}

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
	record := collections.In(d.db)
	got, err := record.Get(ctx, name)
	if err != nil {
		return console.Export{}, err
	}
	entries, err := record.Entries(ctx, got.ID, "")
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
