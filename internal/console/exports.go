package console

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// ExportFormats are those of the list of what a harvest found.
func ExportFormats() []string { return []string{"bibtex", "ris", "csv", "csljson", "jsonl"} }

// exportParams say what is exported.
func exportParams() []param {
	return []param{{name: "format", what: "of the list", one: ExportFormats(), required: true}, {name: "files", what: "with the documents, in an archive", one: []string{"yes"}},
		{name: "year", what: "of publication, such as 1998-2004 (default: all)"}}
}

func exported(ctx context.Context, c *Console, a *asked) (Export, error) {
	h, err := c.exactly(ctx, a.get("id"))
	if err != nil {
		return Export{}, err
	}
	var years gleaner.Years
	if given := a.get("year"); given != "" {
		if years, err = gleaner.ParseYears(given); err != nil {
			return Export{}, fmt.Errorf("%w: year: %w", errInput, err)
		}
	}
	return c.Harvests.Export(ctx, h.ID, a.get("format"), years, a.get("files") != "")
}

// saved serves a file that is made for whoever asks.
func (c *Console) saved(params []param, of func(context.Context, *Console, *asked) (Export, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &asked{Request: r, params: params}
		err := a.check()
		var out Export
		if err == nil {
			out, err = of(r.Context(), c, a)
		}
		over := func() {}
		if err == nil {
			over, err = c.exports.turn(r.Context())
		}
		if err != nil {
			c.refuse(w, a, err)
			return
		}
		defer over()
		download(c.log, w, r, out)
	})
}

// csvRows is how many lines of a list are read at a time.
const csvRows = 1000

// csvExport is a list as a file for spreadsheets, which know UTF-8 by its mark. next
// returns the next csvRows lines, fewer at the end.
func csvExport(name string, heads []string, next func() ([][]string, error)) Export {
	return Export{strings.NewReplacer("/", "-", ":", "-").Replace(name) + ".csv", "text/csv; charset=utf-8", func(w io.Writer) error {
		if _, err := io.WriteString(w, "\ufeff"); err != nil {
			return err
		}
		return program.WriteCSV(w, heads, next)
	}}
}

// jobLines are all lines of a job.
func jobLines(ctx context.Context, c *Console, a *asked) (Export, error) {
	j, err := c.jobOf(a.Request)
	return csvExport("job-"+a.PathValue("id"), store.RecordHeads(), c.App.DB.RecordRows(ctx, j.ID)), err
}

// paperLines are the papers of a harvest that the page of papers lists, with why they are
// missing and the first clue to where they are.
func paperLines(ctx context.Context, c *Console, a *asked) (Export, error) {
	h, err := c.exactly(ctx, a.get("harvest"))
	if err != nil {
		return Export{}, err
	}
	why, err := c.reports.latest(ctx, h)
	if err == nil && why == nil { // nobody has worked out the reasons yet
		_, err = c.reports.whole(ctx, h.ID)
	}
	q := a.papers(h.ID, csvRows)
	heads := []string{"title", "authors", "year", "state", "why", "best_clue", "document_sha256", "paper"}
	return csvExport(cmp.Or(q.State, "all")+"-papers-"+h.ID, heads, func() ([][]string, error) {
		rows, err := papersFor(ctx, c, q, a.get("reason"))
		return each.Of(rows, func(p store.HarvestPaper) []string {
			q.After = p.Paper
			clue := append(slices.Clone(p.Evidence), "")[0]
			return []string{biblio.Cell(p.Title), biblio.Cell(strings.Join(p.Authors, "; ")), biblio.Year(p.Year), p.State,
				biblio.Cell(p.Reason + p.HeldWhy), biblio.Cell(clue), p.SHA256, biblio.Cell(p.Paper)}
		}), err
	}), err
}

// failedLines are the URLs of a harvest that failed.
func failedLines(ctx context.Context, c *Console, a *asked) (Export, error) {
	h, err := c.exactly(ctx, a.get("harvest"))
	var after store.ParentAt
	moment := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	return csvExport("failed-"+h.ID, []string{"url", "host", "reason", "failed_at", "next_try"}, func() ([][]string, error) {
		f := store.RetryFilter{Harvest: h.ID, Reason: a.get("reason")}
		rows, err := c.App.DB.FailedList(ctx, f, after, csvRows)
		return each.Of(rows, func(u store.FailedURL) []string {
			after = u.Place()
			return []string{biblio.Cell(u.URL), biblio.Cell(u.Host), biblio.Cell(u.Reason), moment(u.At), moment(u.Next)}
		}), err
	}), err
}
