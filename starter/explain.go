package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/web/weburl"
)

func explainCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "explain URL", Short: "Say why a URL was taken when it was, and what came of it", Args: args(1, "a URL"),
		Long: `Say all that is known of a URL: where it was linked and with which words, why the
crawl took it when it did (or what it waits for), which list of which harvest leaves
it out, how the fetch ended, and what was decided of the document that came back.`,
		Example: "  starter explain http://www.example.edu/~ada/papers/engine.pdf",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			url, err := weburl.Canonical("", args[0])
			if err != nil {
				return fmt.Errorf("%w: %w", program.ErrUsage, err)
			}
			e, err := a.Explain(ctx, url)
			return printOne(c, e, err, writeExplanation)
		})}
}

func writeExplanation(w io.Writer, e *app.Explanation) error {
	var l lines
	row := l.fact
	row("url", e.URL)
	row("state", e.StateName)
	row("linked from", e.Parent)
	for _, l := range e.LinkedBy {
		if l.URL == e.Parent {
			continue
		}
		row("  also from", fmt.Sprintf("%s (%s to %s)", l.URL, l.First.Format(time.DateOnly), l.Last.Format(time.DateOnly)))
	}
	row("as", e.Source)
	row("anchor", e.Anchor)
	row("heading", e.Heading)
	row("context", e.Context)
	row("tag path", e.TagPath)
	row("depth", e.Depth)
	row("like a title wanted then", fmt.Sprintf("%.2f", e.Wanted))
	row("priority", fmt.Sprintf("queue %d, group %d, %.3f", e.Queue, e.Mark, e.Priority))
	switch {
	case e.FetchedAt != nil && e.Crawl == 0:
		row("imported", e.FetchedAt.Format(time.DateTime))
	case e.FetchedAt != nil:
		row("asked", fmt.Sprintf("as number %d of crawl %d, %s", e.Rank, e.Crawl, e.FetchedAt.Format(time.DateTime)))
	}
	if s := e.Site; s != nil {
		row("site", strings.TrimSuffix(string(s.State)+": "+s.Reason, ": ")+"; next request "+s.NextWords(time.DateTime))
		row("not asked", s.PauseWords(time.DateTime))
	}
	row("pace of the site", e.Pace.Words(time.DateTime))
	row("why", e.Reason)
	row("left out by", strings.Join(e.Lists, ", "))
	row("outcome", e.Outcome)
	if e.NextTry != nil {
		row("next try", store.Failure{Next: e.NextTry}.NextWords(time.DateTime))
	}
	for _, d := range e.Found {
		row("document", d.SHA256)
		if p := e.Is[d.SHA256]; p != nil {
			row("  is the paper", fmt.Sprintf("%s: %s (%d)", p.Key, p.Title, p.Year))
		}
		row("  decided", decision(d))
		for _, why := range d.Reasons {
			row("  because", why)
		}
	}
	for _, paper := range e.Denied {
		row("is no paper", paper+": a person said so")
	}
	return table(w, "", l)
}

// decision says what was decided of a document.
func decision(d store.Document) string {
	said := string(d.State)
	if d.State == gleaner.DocumentNew {
		said = "nothing, it is not read yet"
	}
	if d.Class != "" {
		said += fmt.Sprintf(" as %s (%.2f)", d.Class, d.Score)
	}
	if d.Reader != "" {
		said += ", read by " + d.Reader
	}
	return strings.TrimSuffix(said+": "+d.Outcome, ": ")
}
