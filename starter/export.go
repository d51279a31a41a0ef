package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/web/weburl"
)

func (c *cli) exportCommand() *cobra.Command {
	var format, years, out string
	cmd := &cobra.Command{Use: "export VENUE", Short: "Write out the papers found", Args: args(1, "a venue, site, author or list: conf/webdb, site:URL, author:65/2885, papers:NAME"),
		Long: `Write out the papers found for a venue, a person (author:PID) or a list
(papers:NAME), or the academic documents of a site (site:URL). As a list, to the standard output or to
the file of --out:
  jsonl      {"paper", "title", "year", "sha256", "url", "parent_url", "matched_by",
             "score", "fetched_at", "path", "authors", "doi", "venue",
             "references", "reference_list"}, one a line
  csv        the same columns, of the references their number alone
  bibtex     an entry each, with its url
  ris        the same for other reference managers
With the documents themselves, to --out:
  warc       one WARC file, with the headers of the answers
  tree       a folder with readable names, by venue and year
  citeseerx  a folder by number, with .pdf.met and .txt beside each document`,
		Example: `  starter export conf/webdb --format jsonl
  starter export conf/webdb --years 2003 --format bibtex > webdb.bib
  starter export conf/webdb --format tree --out papers
  starter export author:65/2885 --format bibtex
  starter export site:https://www.example.edu/workshop/2003/ --format csv
  starter export conf/webdb --format warc --out webdb.warc.gz`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.export(cmd.Context(), args[0], format, years, out)
		}}
	cmd.Flags().StringVar(&format, "format", "jsonl", "jsonl, csv, bibtex, ris, warc, tree or citeseerx")
	cmd.Flags().StringVar(&years, "years", "", "years of publication (default: all)")
	cmd.Flags().StringVar(&out, "out", "", "file, or folder of a tree (default of a list: the standard output)")
	return cmd
}

func (c *cli) export(ctx context.Context, venueKey, format, years, out string) error {
	files := format == "warc" || format == "tree" || format == "citeseerx"
	if files && out == "" {
		return fmt.Errorf("%w: --format %s wants --out", program.ErrUsage, format)
	}
	var in gleaner.Years
	var err error
	if years != "" {
		if in, err = gleaner.ParseYears(years); err != nil {
			return fmt.Errorf("%w: --%w", program.ErrUsage, err)
		}
	}
	a, err := c.Record(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	venueKey = spelling(venueKey)
	found, err := exported(ctx, a.DB, venueKey, in)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		if err := heardOf(ctx, a.DB, venueKey); err != nil {
			return err
		}
		fmt.Fprintf(c.Err, "no paper of %s was found yet; `starter report %s` says why\n", venueKey, venueKey)
	}
	if files {
		return c.exportFiles(ctx, a, format, out, ofExport(found, venueKey))
	}
	for i := range found {
		found[i].Path = a.Repo.Where(found[i].SHA256)
	}
	if out == "" || out == "-" {
		return exportAs(lines{c.Out}, format, found)
	}
	return writeAtomically(out, func(w io.Writer) error { return exportAs(w, format, found) })
}

// lines ends lines as terminals and pipes do; a RIS file has the ends of another age.
type lines struct{ to io.Writer }

func (l lines) Write(p []byte) (int, error) {
	_, err := l.to.Write(bytes.ReplaceAll(p, []byte("\r"), nil))
	return len(p), err
}

// heardOf fails for a name of which the record has neither papers nor a harvest:
// nothing of it would be exported for ever, and nobody told.
func heardOf(ctx context.Context, db *store.DB, name string) error {
	papers, err := db.Papers(ctx, name, gleaner.Years{From: 1, To: 9999})
	if err != nil || len(papers) > 0 {
		return err
	}
	if _, err = db.FindHarvest(ctx, name); errors.Is(err, store.ErrNoHarvest) {
		return program.Unknown{Reason: fmt.Errorf("nothing is known of %s; `starter status` lists what was harvested", name)}
	}
	return err
}

// exported are the papers found for a venue, a person or a list, or the academic
// documents of a site.
func exported(ctx context.Context, db *store.DB, name string, years gleaner.Years) ([]store.Exported, error) {
	site := gleaner.ParseGoal(name).Site
	if site == "" {
		return db.Export(ctx, name, years)
	}
	h, err := findHarvest(ctx, db, name)
	if err != nil {
		return nil, err
	}
	of, err := activities.HarvestOf(h)
	if err != nil {
		return nil, err
	}
	all, err := db.ExportAcademic(ctx, name)
	if of.Options.Scope == activities.ScopeHost {
		return all, err
	}
	in := []string{weburl.DirectoryPrefix(site)}
	return slices.DeleteFunc(all, func(e store.Exported) bool { // what others crawl there
		return weburl.Host(e.URL) == weburl.Host(site) && !weburl.InScope(e.URL, in) && !weburl.InScope(e.ParentURL, in)
	}), err
}

// exportAs writes found papers in one of the formats.
func exportAs(w io.Writer, format string, found []store.Exported) error {
	switch format {
	case "jsonl":
		enc := json.NewEncoder(w)
		for _, f := range found {
			if err := enc.Encode(f); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return exportCSV(w, found)
	case "bibtex", "ris":
		papers := make([]gleaner.Paper, len(found))
		for i, f := range found {
			papers[i] = gleaner.Paper{Key: f.Paper, Venue: f.VenueName, Title: f.Title, Year: f.Year, Authors: f.Authors, DOI: f.DOI, Links: []string{f.URL}}
		}
		return biblio.Write(w, biblio.Format(format), papers)
	}
	return fmt.Errorf("%w: --format is jsonl, csv, bibtex, ris, warc, tree or citeseerx, not %q", program.ErrUsage, format)
}

func authorNames(authors []gleaner.Author) string {
	names := make([]string, len(authors))
	for i, a := range authors {
		names[i] = a.Name
	}
	return strings.Join(names, "; ")
}

func exportCSV(w io.Writer, found []store.Exported) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"paper", "title", "year", "sha256", "url", "parent_url", "matched_by", "score", "fetched_at", "path", "authors", "doi", "venue", "references"}}
	for _, f := range found {
		rows = append(rows, []string{biblio.Cell(f.Paper), biblio.Cell(f.Title), strconv.Itoa(f.Year), f.SHA256, biblio.Cell(f.URL), biblio.Cell(f.ParentURL), f.MatchedBy,
			strconv.FormatFloat(f.Score, 'f', 3, 64), f.FetchedAt.UTC().Format(time.RFC3339), f.Path,
			biblio.Cell(authorNames(f.Authors)), biblio.Cell(f.DOI), f.Venue, strconv.Itoa(f.References)})
	}
	return out.WriteAll(rows)
}
