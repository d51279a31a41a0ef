package main

import (
	"bufio"
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
	"github.com/spf13/pflag"

	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
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

func (c *cli) whitelistCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "whitelist", Short: "Pages worth crawling, and hosts to leave alone",
		Long: `The whitelist holds the pages that linked to accepted documents, those of the
best domains first; the blacklist (--black) hosts that are never asked. The
setting crawl-policy says what crawls make of them.`}
	cmd.AddCommand(c.whitelistGenerate(), c.whitelistShow(), c.whitelistExport(), c.whitelistImport(), c.whitelistSeed())
	return cmd
}

func (c *cli) whitelistGenerate() *cobra.Command {
	var file, source string
	var job bool
	lists := stats.Lists{}
	cmd := &cobra.Command{Use: "generate", Short: "Rank domains by documents and citations, and list their pages", Args: cobra.NoArgs,
		Long:    generateHelp,
		Example: "  starter whitelist generate\n  starter whitelist generate --citations citations.csv --domains 8000\n  starter whitelist generate --least 2 --uncited\n  starter whitelist generate --ingested\n  starter whitelist generate --job",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			a, err := c.citing(ctx, source)
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
				return c.newJob(ctx, store.JobWhitelist, tables.Options{Lists: &lists, Source: source}, true, "")
			}
			var asked stats.Citations
			if source != "" {
				asked = a.Citations
			}
			progress := c.Progress("whitelist, by the citations of papers")
			g, err := stats.Generate(ctx, a.DB, asked, lists, progress.Count)
			progress.End()
			if err != nil {
				return err
			}
			return c.Print(g, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%d domains with %d documents and %d citations; core of %d domains; %d domains with %d pages listed\n", g.Domains, g.Documents, g.Citations, g.Core, g.Listed, g.URLs)
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
func (c *cli) citing(ctx context.Context, source string) (*app.App, error) {
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

func (c *cli) whitelistShow() *cobra.Command {
	var black bool
	var top int
	cmd := &cobra.Command{Use: "show", Short: "Show the lists", Args: cobra.NoArgs,
		Example: "  starter whitelist show --top 20\n  starter whitelist show --black",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			if black {
				return c.showBlacklist(ctx, a.DB.ListRecords)
			}
			urls, err := a.DB.Whitelist(ctx, top)
			if err != nil {
				return err
			}
			return c.Print(urls, func(w io.Writer) error {
				return table(w, "#\tDOMAIN\tDOCUMENTS\tPARENT\tURL", func(line func(string, ...any)) {
					for _, u := range urls {
						word := ""
						if u.Good {
							word = "good"
						}
						line("%d\t%s\t%d\t%s\t%s", u.Position, u.Domain, u.Documents, word, u.URL)
					}
				})
			})
		})}
	cmd.Flags().BoolVar(&black, "black", false, "the blacklist")
	cmd.Flags().IntVar(&top, "top", 50, "only so many; 0 is all")
	return cmd
}

func (c *cli) whitelistExport() *cobra.Command {
	var black bool
	cmd := &cobra.Command{Use: "export", Short: "Print the whitelist, a URL a line in its order; or the blacklist, a host a line", Args: cobra.NoArgs,
		Example: "  starter whitelist export > urls.txt\n  starter whitelist export --black > hosts.txt",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			w := bufio.NewWriter(c.Out)
			if black {
				hosts, err := a.DB.Blacklist(ctx)
				if err != nil {
					return err
				}
				for _, h := range hosts {
					fmt.Fprintln(w, strings.TrimSpace(h.Host+" "+h.Reason))
				}
				return w.Flush()
			}
			urls, err := a.DB.Whitelist(ctx, 0)
			if err != nil {
				return err
			}
			for _, u := range urls {
				fmt.Fprintln(w, u.URL)
			}
			return w.Flush()
		})}
	cmd.Flags().BoolVar(&black, "black", false, "the blacklist")
	return cmd
}

func (c *cli) whitelistImport() *cobra.Command {
	var black, remove bool
	cmd := &cobra.Command{Use: "import FILE", Short: "Add URLs to the whitelist, or hosts to the blacklist", Args: args(1, "a file with one URL (or host and reason) a line"),
		Example: "  starter whitelist import urls.txt\n  starter whitelist import --black hosts.txt\n  starter whitelist import --black --remove hosts.txt",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			if remove && !black {
				return fmt.Errorf("%w: --remove goes with --black", program.ErrUsage)
			}
			lines, err := readLines(args[0])
			if err != nil {
				return err
			}
			switch {
			case remove:
				err = unblock(ctx, a.DB.ListRecords, lines)
			case black:
				err = block(ctx, a.DB.ListRecords, lines)
			default:
				err = enlist(ctx, a.DB.ListRecords, args[0], lines)
			}
			if err != nil {
				return err
			}
			return c.Print(map[string]int{"lines": len(lines)}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%d lines taken\n", len(lines))
				return err
			})
		})}
	cmd.Flags().BoolVar(&black, "black", false, "hosts for the blacklist, each with a reason after it")
	cmd.Flags().BoolVar(&remove, "remove", false, "take the hosts off the blacklist")
	return cmd
}

// readLines reads the lines of a file that are neither empty nor begin with #.
func readLines(file string) ([]string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	var out []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out, nil
}

func block(ctx context.Context, db store.ListRecords, lines []string) error {
	hosts := make([]store.Blocked, len(lines))
	for i, l := range lines {
		given, reason, _ := strings.Cut(l, " ")
		host, err := aHost(given)
		if err == nil && !strings.Contains(host, ".") { // any word of a file that holds no hosts
			err = fmt.Errorf("%w: %q is no host such as www.example.edu", program.ErrUsage, given)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		hosts[i] = store.Blocked{Host: host, Reason: strings.TrimSpace(reason)}
	}
	return db.Block(ctx, hosts)
}

func unblock(ctx context.Context, db store.ListRecords, lines []string) error {
	for _, l := range lines {
		host, _, _ := strings.Cut(l, " ")
		if _, err := db.Unblock(ctx, strings.ToLower(host)); err != nil {
			return err
		}
	}
	return nil
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

func (c *cli) whitelistSeed() *cobra.Command {
	var small int
	cmd := &cobra.Command{Use: "seed", Short: "Give the whitelist's pages to the frontier; the next recrawl of what is due asks them", Args: cobra.NoArgs,
		Long: `Give the whitelist's pages to the frontier and make their hosts due, so that the next
recrawl of what is due asks them, in the order of the list. A schedule does both
every so often: starter schedule create whitelist.`,
		Example: "  starter whitelist seed && starter recrawl --due --wait\n  starter whitelist seed --small 10",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			n, err := a.DB.SeedWhitelist(ctx, small)
			if err != nil {
				return err
			}
			return c.Print(map[string]int{"sites": n}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%d sites have something to ask\n", n)
				return err
			})
		})}
	smallVar(cmd.Flags(), &small)
	return cmd
}

// smallVar is the flag for domains that are asked less often than the list is.
func smallVar(fl *pflag.FlagSet, small *int) {
	fl.IntVar(small, "small", 0, "ask pages of domains with fewer accepted documents only when their own intervals are over; 0 asks all")
}
