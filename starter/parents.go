package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/each"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/web/weburl"
)

// listedParents is a part of the list.
type listedParents struct {
	Parents []store.Parent `json:"parents"`
	Next    string         `json:"next,omitempty"` // of --after, for the part behind it
}

func parentsCommand(c *cli) *cobra.Command {
	var host, after string
	var limit int
	cmd := &cobra.Command{Use: "parents [URL]", Short: "See the pages that lead to documents", Args: cobra.MaximumNArgs(1),
		Long: `List the pages that lead to documents, of crawls and of imports alike, by host: when
each was crawled first and last, and to how many documents on record it leads. Of a page
that is named the documents are listed, too. What is of no use among the pages goes by
"starter clean parents".`,
		Example: "  starter parents\n  starter parents --host www.example.edu --limit 1000 --json\n  starter parents https://www.example.edu/~ada/papers.html",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			if len(args) == 1 {
				return showParent(ctx, c, a.DB, args[0])
			}
			at, err := store.ParseParentAt(after)
			if err != nil {
				return fmt.Errorf("%w: --after: %w", program.ErrUsage, err)
			}
			if err := hasSite(ctx, a.DB, host); err != nil {
				return err
			}
			var found listedParents
			found.Parents, found.Next, err = firstPage(limit, func(limit int) ([]store.Parent, error) { return a.DB.Parents(ctx, host, at, limit) },
				func(p store.Parent) string { return p.At().String() })
			return printOne(c, found, err, writeParents)
		})}
	cmd.Flags().StringVar(&host, "host", "", "those of one host")
	cmd.Flags().StringVar(&after, "after", "", "those behind a place, as the part before says it")
	cmd.Flags().IntVar(&limit, "limit", 100, "at most so many")
	return cmd
}

func writeParents(w io.Writer, f listedParents) error {
	err := table(w, "FIRST CRAWL\tLAST CRAWL\tDOCUMENTS\tPAGE\tOF NO USE", each.Of(f.Parents, func(p store.Parent) string {
		return fmt.Sprintf("%s\t%s\t%d\t%s\t%s", crawlDay(p.First, p.Read), crawlDay(p.Last, p.Read), p.Documents, p.URL, p.Why)
	}), "no page leads to documents yet")
	if err == nil && f.Next != "" {
		_, err = fmt.Fprintf(w, "more:  --after '%s'\n", f.Next)
	}
	return err
}

// crawlDay is a day on which a page was crawled, in brackets where only documents that
// were found there date it.
func crawlDay(at *time.Time, read bool) string {
	switch {
	case at == nil:
		return "never"
	case !read:
		return "(" + at.Format(time.DateOnly) + ")"
	}
	return at.Format(time.DateOnly)
}

// shownParent is a page with all documents that it leads to.
type shownParent struct {
	store.Parent
	LeadsTo []store.ParentDocument `json:"leads_to"`
}

// showParent shows a page with the documents that it leads to.
func showParent(ctx context.Context, c *cli, db *store.DB, given string) error {
	url, err := weburl.Canonical("", given)
	if err != nil {
		return fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	s := shownParent{LeadsTo: []store.ParentDocument{}}
	for after := (store.ParentDocument{}); ; after = s.LeadsTo[len(s.LeadsTo)-1] {
		p, documents, err := db.Parent(ctx, url, after, linesAtOnce)
		if err != nil {
			return err
		}
		if p.URL == "" {
			return program.Unknown{Reason: fmt.Errorf("no page on record leads to documents from %s", url)}
		}
		s.Parent, s.LeadsTo = p, append(s.LeadsTo, documents...)
		if len(documents) < linesAtOnce {
			break
		}
	}
	return c.Print(s, func(w io.Writer) error {
		if err := writeParents(w, listedParents{Parents: []store.Parent{s.Parent}}); err != nil {
			return err
		}
		return table(w, "STATE\tCLASS\tSHA-256\tDOCUMENT", each.Of(s.LeadsTo, func(d store.ParentDocument) string {
			return fmt.Sprintf("%s\t%s\t%s\t%s", d.State, d.Class, d.SHA256, d.URL)
		}), "it leads to no document on record")
	})
}
