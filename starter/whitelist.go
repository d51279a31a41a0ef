package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

// generateHelp says what a whitelist is made of.
const generateHelp = `Rank domains by F1 of their shares of documents and of citations (Wu et al.,
WebSci 2012, equation 1), take the --domains best by citations (list C), and list
the pages there that link to accepted documents. Domains that are among the
--domains best by documents alone (list D) are dropped as not academic, unless
--uncited keeps them; without any citations list D is taken. --least 2 lists good
parents alone, pages that link to more than one accepted document. --ingested counts
of the accepted documents those alone that your own system took in, where you tell it
(starter documents mark ingested).

--citations names a CSV file of a domain or a DOI and a count on each line;
--source semanticscholar asks for the counts of the papers found. With --job a worker
does it, as a job that can be run again ("starter jobs run").`

// generatedList says what a whitelist was made of. What several domains lead to counts
// for each of them.
const generatedList = "%d domains with %d documents and %d citations, as each counts them; " +
	"core of %d domains; %d domains with %d pages listed\n"

func whitelistCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "whitelist", Short: "Pages worth crawling",
		Long: `The whitelist holds the pages that linked to accepted documents, those of the
best domains first. The setting crawl-policy says what crawls make of them.`}
	cmd.AddCommand(whitelistGenerate(c), whitelistShow(c), whitelistImport(c), whitelistSeed(c))
	return cmd
}

func whitelistGenerate(c *cli) *cobra.Command {
	var file, source string
	var job bool
	lists := stats.Lists{}
	cmd := &cobra.Command{Use: "generate", Short: "Rank domains by documents and citations, and list their pages", Args: cobra.NoArgs,
		Long:    generateHelp,
		Example: "  starter whitelist generate\n  starter whitelist generate --citations citations.csv --domains 8000\n  starter whitelist generate --least 2 --uncited\n  starter whitelist generate --ingested\n  starter whitelist generate --job",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			a, err := citing(ctx, c, source)
			if err != nil {
				return err
			}
			defer a.Close()
			if file != "" {
				cited, err := readCitations(file)
				if err != nil {
					return err
				}
				if err := a.DB.SaveCitations(ctx, "file", cited); err != nil {
					return err
				}
			}
			if job {
				return newJob(ctx, c, store.JobWhitelist, tables.Options{Lists: &lists, Source: source}, "")
			}
			var asked stats.Citations
			if source != "" {
				asked = a.Citations
			}
			progress := c.Progress("whitelist, by the citations of papers")
			g, err := stats.Generate(ctx, a.DB, asked, lists, progress.Count)
			progress.End()
			return printOne(c, g, err, func(w io.Writer, g stats.Generated) error {
				_, err := fmt.Fprintf(w, generatedList, g.Domains, g.Documents, g.Citations, g.Core, g.Listed, g.URLs)
				if err == nil && g.Citations == 0 {
					_, err = fmt.Fprintln(w, "no citations are known: the domains with the most documents come first, whatever a document costs there;\nthe order that the paper measured needs citations (--citations FILE, --source semanticscholar)")
				}
				return err
			})
		}}
	cmd.Flags().StringVar(&file, "citations", "", "CSV file: domain or DOI, count")
	cmd.Flags().StringVar(&source, "source", "", "ask for citation counts: semanticscholar")
	cmd.Flags().BoolVar(&job, "job", false, "have a worker do it, as a job")
	cmd.Flags().IntVar(&lists.Domains, "domains", 8000, "size of lists D and C")
	cmd.Flags().BoolVar(&lists.Ingested, "ingested", false, "count documents alone that are marked as ingested (starter documents mark ingested)")
	cmd.Flags().BoolVar(&lists.Uncited, "uncited", false, "list domains, too, that are on list D alone")
	cmd.Flags().IntVar(&lists.Least, "least", 1, "list pages that link to so many accepted documents")
	return cmd
}

// citing opens the record, and the catalogue of citations where it is asked.
func citing(ctx context.Context, c *cli, source string) (*app.App, error) {
	switch source {
	case "":
		return c.Record(ctx)
	case tables.SemanticScholar:
		return c.Application(ctx)
	}
	return nil, fmt.Errorf("%w: --source is %s, not %q", program.ErrUsage, tables.SemanticScholar, source)
}

// readCitations reads lines of a domain or DOI and a count; a first line whose
// count is no number is a heading.
func readCitations(file string) (map[string]int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord, r.TrimLeadingSpace = 2, true
	out := map[string]int64{}
	for n := 1; ; n++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", program.ErrUsage, file, err)
		}
		count, err := strconv.ParseInt(strings.TrimSpace(row[1]), 10, 64)
		switch {
		case err != nil && n == 1:
			continue
		case err != nil || count < 0:
			return nil, fmt.Errorf("%w: %s, line %d: %q is no count", program.ErrUsage, file, n, row[1])
		}
		key := strings.ToLower(strings.TrimSpace(row[0]))
		out[cmp.Or(gleaner.ParseDOI(key), key)] += count
	}
}

func whitelistShow(c *cli) *cobra.Command {
	var plain bool
	var top int
	cmd := &cobra.Command{Use: "show", Short: "Show the whitelist, or print its addresses alone", Args: cobra.NoArgs,
		Example: "  starter whitelist show --top 20\n  starter whitelist show --plain > urls.txt",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			if plain {
				urls, err := a.DB.Whitelist(ctx, -1, "", 0)
				return printRows(c, urls, err, "", func(u store.ListedURL) string { return u.URL })
			}
			urls, err := a.DB.Whitelist(ctx, -1, "", top)
			return printRows(c, urls, err, "#\tDOMAIN\tDOCUMENTS\tPARENT\tURL", func(u store.ListedURL) string {
				word := map[bool]string{true: "good"}[u.Good]
				return fmt.Sprintf("%d\t%s\t%d\t%s\t%s", u.Position, u.Domain, u.Documents, word, u.URL)
			}, "the whitelist is empty: starter whitelist generate")
		})}
	cmd.Flags().BoolVar(&plain, "plain", false, "all addresses, one a line in their order, as whitelist import takes them")
	cmd.Flags().IntVar(&top, "top", 50, "only so many; 0 is all")
	return cmd
}

func whitelistImport(c *cli) *cobra.Command {
	return &cobra.Command{Use: "import FILE", Short: "Add URLs to the whitelist", Args: args(1, "a file with one URL a line"),
		Example: "  starter whitelist import urls.txt",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			lines, err := readLines(args[0])
			if err == nil && len(lines) == 0 {
				err = fmt.Errorf("%w: %s holds no address", program.ErrUsage, args[0])
			}
			if err == nil {
				err = enlist(ctx, a.DB.ListRecords, args[0], lines)
			}
			return done(c, err, map[string]int{"lines": len(lines)}, "%s taken\n", text.Count(len(lines), "line"))
		})}
}

func enlist(ctx context.Context, db store.ListRecords, file string, lines []string) error {
	urls := make([]store.ListedURL, len(lines))
	for i, l := range lines {
		u, err := weburl.Canonical("", l)
		if err != nil {
			return fmt.Errorf("%w: %s, line %d: %w", program.ErrUsage, file, i+1, err)
		}
		urls[i] = store.ListedURL{URL: u, Domain: weburl.Domain(weburl.Host(u)), Position: i + 1}
	}
	return db.ImportWhitelist(ctx, urls)
}

func whitelistSeed(c *cli) *cobra.Command {
	var small int
	cmd := &cobra.Command{Use: "seed", Short: "Give the whitelist's pages to the frontier; the next recrawl of what is due asks them", Args: cobra.NoArgs,
		Long: `Give the whitelist's pages to the frontier and make their hosts due, so that the next
recrawl of what is due asks them, in the order of the list. A schedule does both
every so often: starter schedule create whitelist.`,
		Example: "  starter whitelist seed && starter recrawl --due --wait\n  starter whitelist seed --small 10",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			n, err := a.DB.SeedWhitelist(ctx, small)
			return done(c, err, map[string]int{"sites": n}, "something is asked on %s\n", text.Count(n, "site"))
		})}
	smallVar(cmd.Flags(), &small)
	return cmd
}
