package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/topic"
)

func (c *cli) collectionsExport() *cobra.Command {
	var of string
	var f exportFlags
	cmd := &cobra.Command{Use: "export NAME", Short: "Write what is in collections: pages and papers, by topic, the best first", Args: args(1, aCollection),
		Long: `Write what is in collections. As jsonl {"topic", "correlation", "url", "title", "kind",
"sha256", "parent", "depth", "n", "at"}, one a line. In the other formats as 'starter
export' writes papers, where "matched_by" is the topic and "score" the correlation: a
document has what is known of the paper that it is, and a page its title and address.
With --files the documents, too.`,
		Example: `  starter collections export math > math.jsonl
  starter collections export math --topic 'mathematics/number theory' --format bibtex
  starter collections export math --format csv --files --out math`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := f.check(c.JSON); err != nil {
				return err
			}
			return c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
				return c.exportCollection(ctx, a, args[0], of, f)
			})(cmd, args)
		}}
	f.register(cmd)
	f.topics = true
	cmd.Flags().StringVar(&of, "topic", "", "only this topic's")
	return cmd
}

func (c *cli) exportCollection(ctx context.Context, a *app.App, name, of string, f exportFlags) error {
	record := collections.In(a.DB)
	got, err := record.Get(ctx, name)
	if err != nil {
		return err
	}
	_, topics, err := synthesis.Asked(got)
	if err != nil {
		return err
	}
	if of != "" && !slices.ContainsFunc(topics, func(t topic.Topic) bool { return t.ID == of }) {
		return program.Unknown{Reason: fmt.Errorf("%s has no topic %q", name, of)}
	}
	entries, err := record.Entries(ctx, got.ID, of)
	if err != nil {
		return err
	}
	if f.format == "jsonl" && !f.files {
		return c.toOut(f.out, func(w io.Writer) error { return jsonLines(w, entries) })
	}
	found, err := exportedEntries(ctx, a.DB.DocumentRecords, entries)
	if err != nil {
		return err
	}
	return c.exportFound(ctx, a, f, found, name)
}

// exportedEntries are the entries of collections as papers are exported.
func exportedEntries(ctx context.Context, db store.DocumentRecords, entries []collections.Entry) ([]store.Exported, error) {
	var shas []string
	for _, e := range entries {
		if e.SHA256 != "" {
			shas = append(shas, e.SHA256)
		}
	}
	known, err := db.ExportDocuments(ctx, shas)
	if err != nil {
		return nil, err
	}
	found := make([]store.Exported, len(entries))
	for i, e := range entries {
		x := known[e.SHA256] // nothing of a page, and of a document that was pruned
		if e.Kind == collections.Page {
			x.Kind = "html"
		}
		x.Title = cmp.Or(x.Title, e.Title)
		x.URL, x.ParentURL, x.MatchedBy, x.Score, x.FetchedAt = e.URL, e.Parent, e.Topic, e.Correlation, e.At
		x.Identity = cmp.Or(e.SHA256, e.URL)
		found[i] = x
	}
	return found, nil
}
