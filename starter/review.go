package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

func reviewCommand(c *cli) *cobra.Command {
	var listOnly, settled bool
	cmd := &cobra.Command{Use: "review [VENUE | PAPER SHA256|URL yes|no|undo]",
		Short: "Settle whether a document is a paper, where the matcher was not sure",
		Long: `Settle ambiguous matches. On a terminal, without arguments, each is shown and
asked about. A word given lasts: nothing overwrites it but another word. A document that
was not compared with a paper can be named, too, by its SHA-256 or its address.`,
		Example: "  starter review\n  starter review conf/webdb\n  starter review --list --json\n  starter review conf/webdb/Doe03 1f3a9c yes\n  starter review conf/webdb/Doe03 http://www.example.edu/~doe/p.pdf yes",
		Args: func(_ *cobra.Command, got []string) error {
			if len(got) < 2 || len(got) == 3 && slices.Contains([]string{"yes", "no", "undo"}, got[2]) {
				return nil
			}
			return fmt.Errorf("%w: want nothing, a venue, or a paper, a document and yes, no or undo", program.ErrUsage)
		},
		RunE: c.onRecord(func(ctx context.Context, a *app.App, got []string) error {
			if len(got) == 3 {
				return settle(ctx, c, a, got[0], got[1], got[2])
			}
			q := store.ReviewQuery{Settled: settled}
			var err error
			if q.Venue, q.Years, err = papersOf(ctx, a.DB, strings.Join(got, ""), gleaner.Years{}); err != nil {
				return err
			}
			all, err := a.DB.Reviews(ctx, q)
			if err != nil {
				return err
			}
			if listOnly || settled || c.JSON || !term.IsTerminal(int(os.Stdin.Fd())) {
				return c.Print(each.List(all), func(w io.Writer) error { return writeReviews(w, all) })
			}
			return reviewLoop(ctx, c, a, os.Stdin, all)
		})}
	cmd.Flags().BoolVar(&listOnly, "list", false, "list them and ask nothing")
	cmd.Flags().BoolVar(&settled, "settled", false, "list what was settled")
	return cmd
}

func settle(ctx context.Context, c *cli, a *app.App, paper, document, word string) error {
	sha, err := program.FindDocument(ctx, a.DB, document)
	if err != nil {
		return err
	}
	kept := map[string]string{"yes": "yes", "no": "no"}[word] // undo keeps none
	err = collection.Settle(ctx, a.DB, a.Repo, paper, sha, kept)
	return done(c, err, map[string]string{"paper": paper, "sha256": sha, "settled": kept}, "%s and %.12s: %s\n", paper, sha, word)
}

func writeReviews(w io.Writer, all []store.Review) error {
	for _, r := range all {
		writeReview(w, r)
	}
	how := ""
	if len(all) > 0 {
		how = fmt.Sprintf("\nsettle one:  starter review %s %.12s yes   (or no, or undo)", all[0].Paper, all[0].SHA256)
	}
	_, err := fmt.Fprintln(w, text.Count(len(all), "match")+how)
	return err
}

func writeReview(w io.Writer, r store.Review) {
	fmt.Fprintf(w, "%s  %q (%d)\n  by %s\n  may be %.12s, a %s of %s (%s), %s\n  linked as %q\n  %s (%.2f): %s\n",
		r.Paper, r.Title, r.Year, strings.Join(r.Authors, ", "), r.SHA256, r.Kind, text.Count(r.Pages, "page"), cmp.Or(r.Class, "-"), r.URL, r.Anchor, r.Verdict, r.Score, strings.Join(r.Reasons, "; "))
	if r.Settled != "" {
		fmt.Fprintf(w, "  settled: %s\n", r.Settled)
	}
	fmt.Fprintln(w)
}

// reviewLoop asks about each match.
func reviewLoop(ctx context.Context, c *cli, a *app.App, in io.Reader, all []store.Review) error {
	c.Settle()
	lines := bufio.NewScanner(in)
	said := 0
	for i, r := range all {
		fmt.Fprintf(c.Out, "%d of %d\n", i+1, len(all))
		writeReview(c.Out, r)
		fmt.Fprintf(c.Out, "It begins:\n    %s\n\nIs it this paper? yes, no, skip or quit: ", strings.ReplaceAll(strings.TrimSpace(r.Begins), "\n", "\n    "))
		word, end := askWord(lines, c.Out)
		if end {
			break
		}
		if word == "skip" {
			continue
		}
		if err := collection.Settle(ctx, a.DB, a.Repo, r.Paper, r.SHA256, word); err != nil {
			return err
		}
		said++
	}
	_, err := fmt.Fprintf(c.Out, "%d of %d settled\n", said, len(all))
	return errors.Join(err, lines.Err())
}

func askWord(lines *bufio.Scanner, out io.Writer) (word string, end bool) {
	for lines.Scan() {
		switch strings.ToLower(strings.TrimSpace(lines.Text())) {
		case "y", "yes":
			return "yes", false
		case "n", "no":
			return "no", false
		case "s", "skip", "":
			return "skip", false
		case "q", "quit":
			return "", true
		}
		fmt.Fprint(out, "yes, no, skip or quit: ")
	}
	return "", true
}
