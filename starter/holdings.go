package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/metadata"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

// laterHoldings is said wherever holdings or retries are.
const laterHoldings = `Holdings that are entered later count when a harvest is started or tried again, and
those that are taken back when it is started again.`

func holdingsCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "holdings", Short: "Tell Gleaner what the library holds"}
	cmd.AddCommand(holdingsImportCommand(c), holdingsListCommand(c), holdingsForgetCommand(c), holdingsExplainCommand(c))
	return cmd
}

func holdingsImportCommand(c *cli) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{Use: "import FILE", Short: "Import a list of papers (csv, jsonl, bibtex, ris, doi)", Args: args(1, "a file"),
		Long: `Import a list of papers that the library holds. The format is told from the
name and the content; a CSV file needs a header with at least a title column.
A malformed file is refused with its line and column, and nothing is imported.
A paper that several lists name counts once. A list is remembered by the name of
its file: importing it again replaces it, "starter holdings forget" takes it back.

` + laterHoldings,
		Example: "  starter holdings import library.csv --dry-run\n  starter holdings import library.bib",
		RunE: func(cmd *cobra.Command, args []string) error {
			got, err := importHoldings(cmd.Context(), c, args[0], dry)
			return done(c, err, struct {
				File string `json:"file"`
				store.Imported
			}{args[0], got}, "%s of %s %sheld: %d new, %d known; %d of before not any more\n", text.Count(got.Papers, "paper"), args[0], would[dry], got.New, got.Known, got.Gone)
		}}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be new")
	return cmd
}

func importHoldings(ctx context.Context, c *cli, name string, dry bool) (store.Imported, error) {
	papers, err := c.readPapers(ctx, name)
	if err != nil {
		return store.Imported{}, err
	}
	a, err := c.Record(ctx)
	if err != nil {
		return store.Imported{}, err
	}
	defer a.Close()
	progress := c.Progress("papers of " + name)
	defer progress.End()
	progress.Count(0, len(papers))
	return a.DB.SaveHoldings(ctx, papers, name, dry, progress.Count)
}

func holdingsListCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List what was imported, by source", Args: cobra.NoArgs,
		Example: "  starter holdings list",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			all, err := a.DB.HeldSources(ctx)
			return printRows(c, all, err, "SOURCE\tPAPERS\tIN NO OTHER\tIMPORTED", func(s store.HeldSource) string {
				return fmt.Sprintf("%s\t%d\t%d\t%s", s.Source, s.Papers, s.Alone, s.Imported.Local().Format(time.DateTime))
			}, "nothing was imported: starter holdings import FILE")
		})}
}

func holdingsForgetCommand(c *cli) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{Use: "forget FILE", Short: "Take an import back", Args: args(1, "a source, as `starter holdings list` names it"),
		Long: `Take an import back. What another list names, too, stays held.

` + laterHoldings,
		Example: "  starter holdings forget library.csv --dry-run",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			source := args[0]
			gone, err := a.DB.ForgetHoldings(ctx, source, dry)
			if err != nil {
				return fmt.Errorf("%w; `starter holdings list` lists the sources", err)
			}
			state := map[bool]string{true: "would no longer be held", false: "no longer held"}[dry]
			return c.Say(map[string]any{"source": source, "papers": gone}, "%s %s\n", text.Count(gone, "paper"), state)
		})}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say how many that are")
	return cmd
}

// heldPaper is a paper that the library has, and why it is thought so.
type heldPaper struct {
	Paper   string        `json:"paper"`
	Title   string        `json:"title"`
	Year    int           `json:"year"`
	Verdict string        `json:"verdict"`
	Score   float64       `json:"score"`
	Why     []string      `json:"why"`
	Held    gleaner.Paper `json:"held"` // the library's own record
}

func holdingsExplainCommand(c *cli) *cobra.Command {
	var years string
	cmd := &cobra.Command{Use: "explain VENUE [--years YEARS]", Short: "Say why each paper of a venue counts as held", Args: args(1, "a venue, such as conf/webdb"),
		Long: `Say why each paper of a venue counts as held: by which record of the library, how
sure that is, and what agrees. It compares what is known of the venue with the
holdings of now.

` + laterHoldings,
		Example: "  starter holdings explain conf/webdb --years 1998-2004\n  starter holdings explain conf/webdb --years 2003 --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			in, err := yearsFlag(years)
			if err != nil {
				return err
			}
			venue, in, err := papersOf(ctx, a.DB, args[0], in)
			if err != nil {
				return err
			}
			papers, err := a.DB.Papers(ctx, venue, in)
			if err != nil {
				return err
			}
			holdings, err := a.DB.Holdings(ctx)
			held := explainHeld(papers, holdings)
			said := map[string]any{"venue": venue, "papers": len(papers), "held": held}
			return printOne(c, said, err, func(w io.Writer, _ map[string]any) error {
				return writeHeld(w, venue, len(papers), held)
			})
		})}
	cmd.Flags().Var((*yearsGiven)(&years), "years", yearsHelp)
	return cmd
}

func explainHeld(papers, holdings []gleaner.Paper) []heldPaper {
	reasons := match.Held(papers, holdings)
	out := []heldPaper{}
	for _, p := range papers {
		if r, ok := reasons[p.Key]; ok {
			out = append(out, heldPaper{Paper: p.Key, Title: p.Title, Year: p.Year, Verdict: string(r.Verdict), Score: r.Score, Why: r.Why, Held: r.Held})
		}
	}
	return out
}

func writeHeld(w io.Writer, venueKey string, published int, held []heldPaper) error {
	for _, h := range held {
		fmt.Fprintf(w, "%s  %q (%d)\n  held as %q (%d) by %s\n  %s (%.2f): %s\n", h.Paper, h.Title, h.Year, h.Held.Title, h.Held.Year,
			cmp.Or(strings.Join(h.Held.Surnames(), ", "), "-"), h.Verdict, h.Score, strings.Join(h.Why, "; "))
	}
	_, err := fmt.Fprintf(w, "%s: %s known, %d of them held\n", venueKey, text.Count(published, "paper"), len(held))
	return err
}

func (c *cli) readPapers(ctx context.Context, name string) ([]gleaner.Paper, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	defer f.Close()
	papers, wrong, err := metadata.ReadList(ctx, slog.Default(), name, f)
	switch {
	case errors.Is(err, biblio.ErrFormat):
		err = fmt.Errorf("%w: %w", program.ErrUsage, biblio.ErrFormat)
	case err == nil:
		err = wrong.Refusal(len(papers))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	hintLeftOut(c.Err, name, wrong)
	_, err = f.Seek(0, io.SeekStart)
	if unread := biblio.Unread(name, biblio.Text(f)); err == nil && len(unread) > 0 {
		fmt.Fprintf(c.Err, "hint: columns of %s that are not read: %s\n", name, strings.Join(unread, ", "))
	}
	return papers, nil
}
