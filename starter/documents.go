package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

func documentsCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "documents", Short: "List, show, copy and judge again the documents found"}
	cmd.AddCommand(documentsListCommand(c), documentsShowCommand(c), documentsRetrieveCommand(c),
		documentsRejudgeCommand(c), documentsMarkCommand(c))
	return cmd
}

func documentsListCommand(c *cli) *cobra.Command {
	q := &conditions{}
	cmd := &cobra.Command{Use: "list", Short: "List documents that meet conditions", Args: cobra.NoArgs,
		Example: "  starter documents list --state rejected --host www.example.org\n  starter documents list --kind pdf --from 2026-01-01 --to 2026-01-31 --sample 1000 --seed 7 --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return onDocuments(cmd.Context(), c, q, func(_ *app.App, found []store.Listed) error {
				if len(found) == 0 {
					fmt.Fprintln(c.Err, "hint: no document meets all conditions; `starter stats counters` says how many there are of which")
				}
				return c.Print(found, func(w io.Writer) error { return writeList(w, found) })
			})
		}}
	q.register(cmd)
	return cmd
}

// onDocuments runs a command on the documents that meet the conditions.
func onDocuments(ctx context.Context, c *cli, q *conditions, do func(*app.App, []store.Listed) error) error {
	query, err := q.query()
	if err != nil {
		return err
	}
	return c.withRecord(ctx, func(a *app.App) error {
		if query.Venue != "" {
			if query.Venue, query.Years, err = papersOf(ctx, a.DB, query.Venue, query.Years); err != nil {
				return err
			}
		}
		if err := hasSite(ctx, a.DB, query.Host); err != nil {
			return err
		}
		found, err := a.DB.FindDocuments(ctx, query)
		if err != nil {
			return err
		}
		return do(a, each.List(found)) // a list in JSON, too, where it is empty
	})
}

func writeList(w io.Writer, found []store.Listed) error {
	err := table(w, "SHA256\tSTATE\tKIND\tCLASS\tPAGES\tPAPER\tURL", each.Of(found, func(d store.Listed) string {
		class := d.Class
		if what := d.What(); what != class {
			class = "(" + what + ")"
		}
		return fmt.Sprintf("%.12s\t%s\t%s\t%s\t%d\t%s\t%s", d.SHA256, d.State, d.Kind, class, d.Pages, d.Paper, d.URL)
	}), "no document meets all conditions")
	if err == nil {
		_, err = fmt.Fprintln(w, text.Count(len(found), "document"))
	}
	return err
}

func documentsShowCommand(c *cli) *cobra.Command {
	var out string
	var asText bool
	cmd := &cobra.Command{Use: "show SHA256|URL", Short: "Show all that is known of a document and why it was judged so, or write its file or text", Args: args(1, "a SHA-256, its first digits, or an address"),
		Long: `Show all that is known of a document, and why it was judged so. With --out the document
itself is written to a file ("-" is the standard output), with --as-text the text that
was read from it.`,
		Example: "  starter documents show 1f3a9c\n  starter documents show 1f3a9c --out paper.pdf\n  starter documents show 1f3a9c --as-text",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			sha, err := program.FindDocument(ctx, a.DB, args[0])
			if err != nil {
				return err
			}
			if out != "" || asText {
				err := writeDocument(ctx, c, a, sha, out, asText)
				d, _, derr := a.DB.Document(ctx, sha)
				switch {
				case derr != nil || !errors.Is(err, repository.ErrNotFound):
				case asText:
					err = program.Unknown{Reason: fmt.Errorf("no text was read from it: %s", d.Outcome)}
				case d.Removed != nil:
					err = program.Unknown{Reason: fmt.Errorf("%s: %w", sha, store.ErrPruned)}
				}
				return err
			}
			s, err := collection.SheetOf(ctx, a.DB, a.Repo, sha)
			return printOne(c, s, err, writeSheet)
		})}
	cmd.Flags().StringVar(&out, "out", "", "write the document to this file; - is the standard output")
	cmd.Flags().BoolVar(&asText, "as-text", false, "write the text that was read, not the file")
	return cmd
}

// writeDocument writes a document or its text to a file or the standard output.
func writeDocument(ctx context.Context, c *cli, a *app.App, sha, out string, asText bool) error {
	write := func(w io.Writer) error {
		if asText {
			s, err := a.Repo.GetText(ctx, sha)
			if err == nil {
				_, err = io.WriteString(w, s)
			}
			return err
		}
		return copyDocument(ctx, a, sha, w)
	}
	switch {
	case out != "" && out != "-":
		return program.WriteFile(out, write)
	case asText:
		return write(c.Out)
	case c.Out.Terminal():
		return fmt.Errorf("%w: a terminal would obey what is in a file; name one by --out, or give --as-text", program.ErrUsage)
	}
	return write(c.Out.Raw())
}

func writeSheet(w io.Writer, s collection.Sheet) error {
	fmt.Fprintf(w, "%s  %s, %d bytes\n%s as %s (%.2f): %s\n", s.SHA256, s.Kind, s.Bytes, s.State, cmp.Or(s.What(), "-"), s.Score, cmp.Or(strings.Join(s.Reasons, "; "), "-"))
	fmt.Fprintf(w, "read: %s by %s, %s, %s, %s  %s\n", s.Outcome, cmp.Or(s.Reader, "-"),
		text.Count(s.Pages, "page"), text.Count(s.Words, "word"), text.Count(s.References, "reference"), s.Detail)
	fmt.Fprintf(w, "ingestion: %s   discovered %s, updated %s\nfile: %s\n", s.Ingestion, s.Discovered.Format(time.DateTime), s.Updated.Format(time.DateTime), s.Path)
	fmt.Fprintf(w, "pages that refer to it: %d\n", s.NumRefBy)
	for _, l := range s.Locations {
		was := ""
		if !l.Current {
			was = "  (no longer there)"
		}
		fmt.Fprintf(w, "\nat %s %s%s\n  linked on %s", l.URL, l.Member, was, l.Parent)
		if l.Anchor != "" {
			fmt.Fprintf(w, " as %q", l.Anchor)
		}
		fmt.Fprintln(w)
	}
	for _, m := range s.Matches {
		fmt.Fprintf(w, "\n%s %s (%.2f, %s) %s\n  %s\n", m.Verdict, m.Paper, m.Score, m.Form, m.Settled, strings.Join(m.Reasons, "; "))
	}
	if len(s.Copies) > 1 {
		fmt.Fprintf(w, "\ncopies of one text, the best first:\n  %s\n", strings.Join(s.Copies, "\n  "))
	}
	return nil
}

func documentsRetrieveCommand(c *cli) *cobra.Command {
	q := &conditions{accepted: true}
	var out, format string
	var job bool
	cmd := &cobra.Command{Use: "retrieve --out DIR", Short: "Copy documents that meet conditions to a folder or a WARC file", Args: cobra.NoArgs,
		Long: `Copy documents that meet conditions, accepted ones where no --state is named:
  files      by their SHA-256, with a table of contents (documents.jsonl)
  tree       with readable names, by venue and year
  citeseerx  by number, with .pdf.met and .txt beside each, as CiteSeerX keeps them
  warc       one WARC file, with the headers of the answers

With --job a worker does it, as a job that goes on after a crash and can be run again
("starter jobs"): a list that "starter jobs show JOB --csv FILE" writes, and with --out
a copy of each file by its SHA-256, in a folder as the worker sees it or in s3://BUCKET.`,
		Example: "  starter documents retrieve --kind pdf --from 2026-01-01 --to 2026-03-31 --sample 1000 --out sample\n  starter documents retrieve --kind pdf --sample 1000 --seed 7 --job\n  starter documents retrieve --venue conf/webdb --format warc --out webdb.warc.gz",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if job {
				return retrieveJob(ctx, c, q, out)
			}
			if out == "" {
				return fmt.Errorf("%w: want --out", program.ErrUsage)
			}
			return onDocuments(ctx, c, q, func(a *app.App, found []store.Listed) error {
				shas := each.Of(found, func(d store.Listed) string { return d.SHA256 })
				return exportFiles(ctx, c, a, format, out, chosen{shas: shas})
			})
		}}
	q.register(cmd)
	cmd.Flags().StringVar(&out, "out", "", "folder, or file of a WARC (required)")
	cmd.Flags().StringVar(&format, "format", "files", "files, tree, citeseerx or warc")
	cmd.Flags().BoolVar(&job, "job", false, "have a worker do it, as a job")
	return cmd
}

// retrieveJob has a worker list documents and copy them to a folder.
func retrieveJob(ctx context.Context, c *cli, q *conditions, out string) error {
	query, err := q.query()
	if err != nil {
		return err
	}
	if out, err = absolute(out); err != nil {
		return err
	}
	query.Venue, query.Years = splitYears(spelling(query.Venue), query.Years)
	return newJob(ctx, c, store.JobRetrieve, tables.Options{Documents: query, To: out}, "")
}

func documentsMarkCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "mark new|ingested|failed SHA256…", Short: "Note what became of documents in the library's own system",
		Long: `Note what became of documents in the library's own system. A new version of a
document is "new" again.`,
		Example: "  starter documents mark ingested 1f3a9c 77b0aa\n  starter documents list --ingestion new --state accepted --json",
		Args: func(_ *cobra.Command, got []string) error {
			if len(got) < 2 || got[0] != "new" && got[0] != "ingested" && got[0] != "failed" {
				return fmt.Errorf("%w: want new, ingested or failed, and documents", program.ErrUsage)
			}
			return nil
		},
		RunE: c.onRecord(func(ctx context.Context, a *app.App, got []string) error {
			shas := make([]string, len(got)-1)
			for i, p := range got[1:] {
				sha, err := program.FindDocument(ctx, a.DB, p)
				if err != nil {
					return err
				}
				shas[i] = sha
			}
			return done(c, a.DB.SetIngestion(ctx, got[0], shas...), map[string]any{"ingestion": got[0], "documents": shas},
				"%s %s\n", text.CountIs(len(shas), "document"), got[0])
		})}
}

// conditions are the flags that choose documents, the options of a job that lists them.
type conditions struct {
	flags    *pflag.FlagSet
	accepted bool // those, where no state is named
}

func (q *conditions) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	q.flags = fl
	fl.StringSlice("state", nil, "new, accepted, rejected or failed")
	fl.StringSlice("class", nil, strings.Join(document.Classes(), ", "))
	fl.StringSlice("kind", nil, strings.Join(document.Kinds(), ", "))
	fl.StringSlice("outcome", nil, "of reading: "+strings.Join(document.Outcomes(), ", "))
	fl.String("ingestion", "", "new, ingested or failed")
	fl.String("host", "", "found on this host")
	fl.String("venue", "", "a paper of this venue, person or list: conf/webdb, author:65/2885, papers:NAME")
	fl.String("years", "", "a paper of these "+yearsHelp)
	fl.String("from", "", "discovered on this day or later, such as 2026-01-31")
	fl.String("to", "", "discovered on this day or earlier")
	fl.String("text", "", "its first pages say so")
	fl.Bool("primary", false, "leave out copies of another one's text")
	fl.Int("sample", 0, "so many at random")
	fl.String("seed", "1", "of the sample: the same seed gives the same one")
	fl.Int("limit", 0, "at most so many")
}

func (q *conditions) query() (store.DocumentQuery, error) {
	o := tables.Defaults(store.JobRetrieve)
	for _, name := range tables.Fields(store.JobRetrieve) {
		flag := cmp.Or(q.flags.Lookup(name), q.flags.Lookup(name+"s"))
		if !flag.Changed {
			continue
		}
		if err := o.Set(store.JobRetrieve, name, optionOf(flag)); err != nil {
			why := strings.TrimPrefix(err.Error(), tables.ErrInput.Error()+": "+name+": ")
			return o.Documents, fmt.Errorf("%w: --%s: %s", program.ErrUsage, flag.Name, why)
		}
	}
	if site := gleaner.ParseGoal(o.Documents.Venue).Site; site != "" {
		return o.Documents, fmt.Errorf("%w: --venue is of papers; the documents of %s are \"starter export site:%[2]s\", those of a host are --host %s", program.ErrUsage, site, weburl.Host(site))
	}
	if err := o.Check(); err != nil {
		why := strings.TrimPrefix(err.Error(), tables.ErrInput.Error()+": ")
		return o.Documents, fmt.Errorf("%w: --%s", program.ErrUsage, why)
	}
	if q.accepted {
		return tables.Retrieved(o.Documents), nil
	}
	return o.Documents, nil
}
