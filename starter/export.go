package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/library/repository"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

// exportFlags say how what was found is written out.
type exportFlags struct {
	format, years, out string
	base               string // of a static repository
	files              bool
	topics             bool // what is exported is a collection
}

func exportCommand(c *cli) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{Use: "export VENUE", Short: "Write out the papers found", Args: args(1, "a venue, site, author or list: conf/webdb, site:URL, author:65/2885, papers:NAME"),
		Long: `Write out the papers found for a venue, a person (author:PID) or a list
(papers:NAME), or the academic documents of a site (site:URL). As a list, to the standard output or to
the file of --out:
  jsonl      {"paper", "title", "year", "sha256", "url", "parent_url", "matched_by",
             "score", "fetched_at", "path", "authors", "doi", "venue", "venue_name",
             "references", "reference_list", "kind", "also"}, one a line
  csv        the same columns; authors are parted by semicolons, references by " | "
  bibtex     an entry each, with venue, DOI, url and file
  ris        the same for other reference managers
  csljson    the same for citation processors; it has no place for a file
  oai        a static repository of OAI-PMH 2.0 (Dublin Core): a file that a gateway
             at --base-url serves to harvesters
A paper is one entry, in however many files it comes: the PDF that still stands, else
the next best. "also" names its PostScript, its DVI, its drafts.
With --files the list and its documents, into the folder of --out: papers.bib (.ris,
.csv, .jsonl) names the files beside it, and Zotero and JabRef import it with them.
With the documents themselves, to --out:
  warc       one WARC file, with the headers of the answers
  tree       a folder with readable names, by venue and year
  citeseerx  a folder by number, with .pdf.met and .txt beside each document`,
		Example: `  starter export conf/webdb --format jsonl
  starter export conf/webdb --years 2003 --format bibtex > webdb.bib
  starter export conf/webdb --format bibtex --files --out webdb
  starter export conf/webdb --format tree --out papers
  starter export conf/webdb --format oai --base-url https://gateway.example/oai/library.example/webdb.xml --out webdb.xml
  starter export author:65/2885 --format bibtex
  starter export site:https://www.example.edu/workshop/2003/ --format csv
  starter export conf/webdb --format warc --out webdb.warc.gz`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.export(cmd.Context(), args[0], f)
		}}
	f.register(cmd)
	cmd.Flags().Var((*yearsGiven)(&f.years), "years", yearsHelp)
	return cmd
}

func (f *exportFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.format, "format", "jsonl", exportFormats)
	cmd.Flags().StringVar(&f.out, "out", "", "file, or folder of documents (default of a list: the standard output)")
	cmd.Flags().StringVar(&f.base, "base-url", "", "of format oai: the address at which a gateway gives the file out")
	cmd.Flags().BoolVar(&f.files, "files", false, "write the documents, too, and name them in the list")
}

const exportFormats = "jsonl, csv, bibtex, ris, csljson, oai, warc, tree or citeseerx"

// listEndings are the formats of lists, with the endings of their files.
var listEndings = map[string]string{"jsonl": ".jsonl", "csv": ".csv", "bibtex": ".bib", "ris": ".ris", "csljson": ".json", "oai": ".xml"}

// check says what of the flags cannot be.
func (f exportFlags) check(json bool) (years gleaner.Years, err error) {
	_, isList := listEndings[f.format]
	switch {
	case !isList && f.format != "warc" && f.format != "tree" && f.format != "citeseerx":
		return years, fmt.Errorf("%w: --format is %s, not %q", program.ErrUsage, exportFormats, f.format)
	case f.files && (!isList || f.format == "csljson" || f.format == "oai"):
		return years, fmt.Errorf("%w: %s has no place for documents (--files); jsonl, csv, bibtex and ris have", program.ErrUsage, f.format)
	case json && !f.files && isList && f.format != "jsonl" && f.format != "csljson":
		return years, fmt.Errorf("%w: --json is of --format jsonl and csljson, and of exports of documents, not of %s", program.ErrUsage, f.format)
	case (f.files || !isList) && f.out == "":
		return years, fmt.Errorf("%w: documents want a place: --out", program.ErrUsage)
	}
	return yearsFlag(f.years)
}

func (c *cli) export(ctx context.Context, venueKey string, f exportFlags) error {
	in, err := f.check(c.JSON)
	if err != nil {
		return err
	}
	return c.withRecord(ctx, func(a *app.App) error {
		venueKey, in, err = papersOf(ctx, a.DB, venueKey, in)
		if err != nil {
			return err
		}
		found, err := exported(ctx, a.DB, venueKey, in)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("%w, so nothing was written; `starter report %s` says why", noneFound(venueKey, in), venueKey)
		}
		if err := exportFound(ctx, c, a, f, found, venueKey); err != nil || c.JSON {
			return err
		}
		return notExported(ctx, a.DB, c.Err, gleaner.ParseGoal(venueKey).Harvest(in), len(found))
	})
}

// notExported says of how many papers of a harvest there is no document to export.
func notExported(ctx context.Context, db *store.DB, w io.Writer, harvest string, exported int) error {
	h, err := db.FindHarvest(ctx, harvest)
	if errors.Is(err, store.ErrNoHarvest) || h.ID != harvest {
		return nil
	}
	n, err := db.HarvestCounts(ctx, h.ID)
	if without := n.Published - exported; err == nil && without > 0 {
		fmt.Fprintf(w, "hint: no document of %d of %s %s; what the library holds (%d) is not looked for; `starter report %s` says why\n",
			without, text.Count(n.Published, "paper"), report.Whole(h.Venue), n.Held, h.ID)
	}
	return err
}

// exportFound writes what was found for a name as the flags say. What has no file, as a
// page of a collection, is in lists alone.
func exportFound(ctx context.Context, c *cli, a *app.App, f exportFlags, found []store.Exported, name string) error {
	switch _, isList := listEndings[f.format]; {
	case !isList:
		return exportFiles(ctx, c, a, f.format, f.out, ofExport(found, name))
	case f.files:
		return exportWithFiles(ctx, c, a, f, found, ofExport(found, name))
	case f.format == "oai":
		oai, err := oaiOf(name, f.base, a.Config.Web.Contact)
		if err != nil {
			return err
		}
		return c.toOut(f.out, func(w io.Writer) error { return oai.write(w, found, f.topics) })
	}
	for i := range found {
		if found[i].SHA256 != "" {
			found[i].Path = a.Repo.Where(found[i].SHA256)
		}
		for k := range found[i].Also {
			found[i].Also[k].Path = a.Repo.Where(found[i].Also[k].SHA256)
		}
	}
	return c.toOut(f.out, func(w io.Writer) error { return exportAs(w, f.format, found) })
}

// noneFound says that there is nothing to export.
func noneFound(name string, years gleaner.Years) error {
	within := ""
	if years != (gleaner.Years{}) {
		within = " in " + years.String()
	}
	return program.Unknown{Reason: fmt.Errorf("no paper of %s was found yet%s", name, within)}
}

// exported are the papers found for a venue, a person or a list, or the academic
// documents of a site.
func exported(ctx context.Context, db *store.DB, name string, years gleaner.Years) ([]store.Exported, error) {
	if gleaner.ParseGoal(name).Site == "" {
		return db.Export(ctx, name, years)
	}
	return db.ExportAcademic(ctx, name)
}

// exportAs writes found papers in one of the formats of lists.
func exportAs(w io.Writer, format string, found []store.Exported) error {
	switch format {
	case "jsonl":
		return jsonLines(w, found)
	case "csv":
		return exportCSV(w, found)
	}
	entries := make([]biblio.Entry, len(found))
	for i, f := range found {
		key, venue := cmp.Or(f.Paper, f.SHA256), f.VenueName
		if gleaner.ParseGoal(f.Venue).List != "" { // which is where a person has the paper from, and by a key of theirs
			key, venue = strings.TrimPrefix(key, f.Venue+"/"), ""
		}
		entries[i] = biblio.Entry{Kind: repository.Extension(f.Kind),
			Paper: gleaner.Paper{Key: key, Type: f.Type, Venue: venue, Title: f.Title, Year: f.Year, Authors: f.Authors, DOI: f.DOI, Links: append([]string{f.URL}, twinURLs(f)...)}}
		if !strings.Contains(f.Path, "://") { // a program here can open it
			entries[i].File = f.Path
		}
	}
	return biblio.Write(w, biblio.Format(format), entries)
}

func twinURLs(f store.Exported) []string {
	return each.Of(f.Also, func(t store.Twin) string { return t.URL })
}

func exportCSV(w io.Writer, found []store.Exported) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"paper", "title", "year", "sha256", "url", "parent_url", "matched_by", "score", "fetched_at", "path", "authors", "doi",
		"venue", "venue_name", "references", "reference_list", "kind", "also"}}
	for _, f := range found {
		rows = append(rows, []string{biblio.Cell(f.Paper), biblio.Cell(f.Title), biblio.Year(f.Year), f.SHA256, biblio.Cell(f.URL), biblio.Cell(f.ParentURL), f.MatchedBy,
			strconv.FormatFloat(f.Score, 'f', 3, 64), f.FetchedAt.UTC().Format(time.RFC3339), biblio.Cell(f.Path), biblio.Cell(strings.Join(gleaner.Names(f.Authors), "; ")), biblio.Cell(f.DOI),
			biblio.Cell(f.Venue), biblio.Cell(f.VenueName), strconv.Itoa(f.References), biblio.Cell(strings.Join(f.ReferenceList, " | ")), f.Kind, biblio.Cell(strings.Join(twinURLs(f), " "))})
	}
	return out.WriteAll(rows)
}
