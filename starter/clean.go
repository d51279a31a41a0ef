package main

import (
	"context"
	"crypto/md5"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"gleaner/internal/harvest/tables"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
)

func cleanCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "clean", Short: "Take off the record what is of no use: documents, parent pages", Args: cobra.NoArgs,
		Long: `Take off the record what is of no use. It is a dry run, a list of what would go with
the reason of each, unless --confirm says otherwise. What goes is told at once; what has
come to be of no use since a dry run goes with it.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(cleanDocumentsCommand(c), cleanParentsCommand(c))
	return cmd
}

func cleanDocumentsCommand(c *cli) *cobra.Command {
	o := tables.Options{}
	var file string
	var either bool
	cmd := &cobra.Command{Use: "documents", Short: "Documents on blacklisted hosts that were not ingested", Args: cobra.NoArgs,
		Long: `Remove documents, with their files, that meet both conditions: their host is on the
blacklist, and the library's own system could not take them (starter documents mark
failed). With --any one of the two is enough. A document that is on another host, too,
loses its place on the blacklisted host alone. One that the library took, that may be a
paper somebody looks for, or that waits to be examined stays, and is listed as kept. Where
a web master wants all of a host's documents gone, name those, too: their papers are
missing again.`,
		Example: "  starter clean documents\n  starter clean documents --any --csv would-go.csv\n  starter clean documents --confirm\n  starter clean documents --only blacklisted --with-ingested --with-matched --confirm",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if either {
				o.Only = tables.Any
			}
			return clean(cmd.Context(), c, store.JobCleanDocuments, o, file)
		}}
	cmd.Flags().BoolVar(&either, "any", false, "what meets either condition, not both")
	cmd.Flags().StringVar(&o.Only, "only", "", "what meets this condition, whatever of the other: blacklisted or failed")
	cmd.MarkFlagsMutuallyExclusive("any", "only")
	cmd.Flags().BoolVar(&o.Ingested, "with-ingested", false, "documents that the library took as well")
	cmd.Flags().BoolVar(&o.Matched, "with-matched", false, "of blacklisted hosts also documents that match a paper, or that a person decided on")
	cleanFlags(cmd, &o, &file)
	return cmd
}

func cleanParentsCommand(c *cli) *cobra.Command {
	o := tables.Options{}
	var file, revised string
	cmd := &cobra.Command{Use: "parents", Short: "Pages that lead to files, and are of no use", Args: cobra.NoArgs,
		Long: `Remove parent pages of no use, which are those on blacklisted hosts, those that are
gone, and those that lead to no document on record ("starter parents" lists them):
the pages, their links to files, and their lines of the whitelist. Pages of a site that
is being crawled may have documents soon. A page that only an import brought was never
asked for here: with --ask it is, politely, and goes where the server says that it is gone.
Of blacklisted hosts all text of pages goes, too: bodies, what is indexed, and the texts of
links. --only blacklisted removes nothing else.`,
		Example: "  starter clean parents --csv parents.csv\n  starter clean parents --only blacklisted --confirm\n  starter clean parents --ask --confirm --revised parenturl.revised.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := clean(cmd.Context(), c, store.JobCleanParents, o, file)
			if err != nil || revised == "" {
				return err
			}
			return c.withRecord(cmd.Context(), func(a *app.App) error { return writeRevised(cmd.Context(), a.DB, revised) })
		}}
	cmd.Flags().StringVar(&o.Only, "only", "", "blacklisted: pages of blacklisted hosts, whatever of others")
	cmd.Flags().BoolVar(&o.Ask, "ask", false, "ask for pages that no crawl asked for, whether they are still there")
	cmd.Flags().StringVar(&revised, "revised", "", "write the pages that stay as CSV to this file")
	cleanFlags(cmd, &o, &file)
	return cmd
}

// clean runs a cleaning, whose --only is one of the words that its kind has.
func clean(ctx context.Context, c *cli, kind string, o tables.Options, file string) error {
	if err := o.Set(kind, "only", o.Only); err != nil {
		return fmt.Errorf("%w: --%w", program.ErrUsage, err)
	}
	return newJob(ctx, c, kind, o, file)
}

func cleanFlags(cmd *cobra.Command, o *tables.Options, file *string) {
	cmd.Flags().BoolVar(&o.InPlace, "confirm", false, "remove it; without, it is only told what would go")
	cmd.Flags().StringVar(file, "csv", "", "write the list as CSV to this file, too")
}

// writeRevised writes the parents that are of use as CSV (C §4.2, parenturl.revised.csv).
func writeRevised(ctx context.Context, db *store.DB, file string) error {
	var at store.ParentAt
	next := func() (rows [][]string, err error) {
		for parents := make([]store.Parent, 1); len(rows) == 0 && len(parents) > 0 && err == nil; {
			parents, err = db.Parents(ctx, "", at, linesAtOnce)
			for _, p := range parents {
				if at = p.At(); p.Why == "" {
					sum := fmt.Sprintf("%x", md5.Sum([]byte(p.URL)))
					rows = append(rows, []string{p.URL, sum, crawlDay(p.First, p.Read), crawlDay(p.Last, p.Read), strconv.Itoa(p.Documents)})
				}
			}
		}
		return rows, err
	}
	return program.WriteFile(file, func(w io.Writer) error {
		return program.WriteCSV(w, []string{"url", "md5", "first_crawl", "last_crawl", "documents"}, next)
	})
}
