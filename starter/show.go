package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/metadata"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/web/weburl"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

// harvestStatus is one line of `starter status`.
type harvestStatus struct {
	store.Harvest
	Counts   store.Counts   `json:"counts"`
	Troubles []pool.Trouble `json:"troubles,omitempty"`
	Waits    bool           `json:"waits_for_worker,omitempty"` // it was begun, and no worker has written it to the record yet

	Sites []store.SitePace `json:"sites,omitempty"` // that are being crawled, where one harvest was asked for
}

// troubles adds what fails of the harvests that run. Without a Temporal server
// to ask, the record is all there is to tell.
func troubles(c *cli, ctx context.Context, all []harvestStatus) {
	runs := func(h harvestStatus) bool { return h.CompletedAt == nil && !h.Waits }
	if !slices.ContainsFunc(all, runs) {
		return
	}
	t, err := c.temporal(ctx)
	if err != nil {
		fmt.Fprintln(c.Err, "what fails now is not known:", err)
		return
	}
	defer t.Close()
	for i, h := range all {
		if !runs(h) {
			continue
		}
		if all[i].Troubles, err = pool.Troubles(ctx, t, h.ID); err != nil {
			fmt.Fprintln(c.Err, "what fails now is not known:", err)
		}
	}
}

// waiting adds the harvests that were begun and that no worker has written to the record yet, the latest first.
func waiting(c *cli, ctx context.Context, all []harvestStatus) []harvestStatus {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := c.onTemporal(ctx, func(t client.Client) error {
		list, err := t.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowType = 'HarvestVenue' AND ExecutionStatus = 'Running'"})
		var waits []harvestStatus
		for _, w := range list.GetExecutions() {
			id := strings.TrimPrefix(w.GetExecution().GetWorkflowId(), workflows.HarvestID(""))
			if !slices.ContainsFunc(all, func(h harvestStatus) bool { return h.ID == id }) {
				waits = append(waits, harvestStatus{Harvest: store.Harvest{ID: id}, Waits: true})
			}
		}
		all = append(waits, all...)
		return err
	})
	if err != nil {
		fmt.Fprintln(c.Err, "which harvests wait for a worker is not known:", err)
	}
	return all
}

func statusCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "status [HARVEST]", Short: "Say how far harvests are", Args: cobra.MaximumNArgs(1),
		Long:    "Say how far harvests are; of one that is named also which sites are being crawled,\nhow often each is asked, and who set that.",
		Example: "  starter status\n  starter status conf/webdb --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			all, err := statuses(ctx, a.DB, args)
			if id := unrecorded(c, ctx, strings.Join(args, ""), err); id != "" {
				all, err = []harvestStatus{{Harvest: store.Harvest{ID: id}, Waits: true}}, nil
			}
			if err == nil && len(args) == 0 {
				all = waiting(c, ctx, all)
			}
			if err != nil {
				return err
			}
			troubles(c, ctx, all)
			return c.Print(all, func(w io.Writer) error {
				if len(all) == 0 {
					_, err := fmt.Fprintln(w, "no harvest yet: starter harvest conf/webdb --years 1998-2004")
					return err
				}
				for _, h := range all {
					if h.Waits {
						fmt.Fprintln(w, waitsForWorker(h.ID))
						continue
					}
					fmt.Fprintln(w, progressText(h.Harvest, h.Counts))
					if h.Note != "" {
						fmt.Fprintln(w, "   ", h.Note)
					}
					for _, t := range h.Troubles {
						fmt.Fprintln(w, "   ", t)
					}
					for _, s := range h.Sites {
						fmt.Fprintln(w, "    being crawled:", s.Host, s.Words())
					}
				}
				return nil
			})
		})}
}

func statuses(ctx context.Context, db *store.DB, args []string) ([]harvestStatus, error) {
	var hs []store.Harvest
	var err error
	if len(args) == 1 {
		h, herr := findHarvest(ctx, db, args[0])
		hs, err = []store.Harvest{h}, herr
	} else {
		hs, err = db.Harvests(ctx)
	}
	if err != nil {
		return nil, err
	}
	all := make([]harvestStatus, len(hs))
	for i, h := range hs {
		all[i].Harvest = h
		if all[i].Counts, err = db.HarvestCounts(ctx, h.ID); err != nil {
			return nil, err
		}
		if len(args) == 1 {
			if all[i].Sites, err = db.SitePaces(ctx, h.ID); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func watchCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "watch HARVEST", Short: "Show a harvest's progress until it ends", Args: args(1, aHarvest),
		Example: "  starter watch conf/webdb",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			h, err := findHarvest(ctx, a.DB, args[0])
			if id := unrecorded(c, ctx, args[0], err); id != "" {
				return waitsForWorker(id)
			}
			if err != nil {
				return err
			}
			return c.onTemporal(ctx, func(t client.Client) error { return c.follow(ctx, t, h.ID) })
		})}
}

func readPapers(ctx context.Context, name string) ([]gleaner.Paper, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	defer f.Close()
	papers, wrong, err := metadata.ReadList(ctx, slog.Default(), name, f)
	switch {
	case errors.Is(err, biblio.ErrFormat):
		err = fmt.Errorf("%w: %w", program.ErrUsage, biblio.ErrFormat)
	case err == nil && len(wrong) > 0:
		err = wrong
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return papers, nil
}

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
			if err != nil {
				return err
			}
			return c.Print(e, func(w io.Writer) error { return writeExplanation(w, e) })
		})}
}

func writeExplanation(w io.Writer, e *app.Explanation) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, v any) {
		if s := fmt.Sprint(v); s != "" {
			fmt.Fprintf(t, "%s\t%s\n", name, s)
		}
	}
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
	row("pace of the site", e.Pace.Words())
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
		row("  decided", fmt.Sprintf("%s as %s (%.2f), read by %s: %s", d.State, d.Class, d.Score, d.Reader, d.Outcome))
		for _, why := range d.Reasons {
			row("  because", why)
		}
	}
	for _, paper := range e.Denied {
		row("is no paper", paper+": a person said so")
	}
	return t.Flush()
}

func reportCommand(c *cli) *cobra.Command {
	var html, since string
	cmd := &cobra.Command{Use: "report HARVEST", Short: "Print recall by year, and why each missing paper is missing", Args: args(1, aHarvest),
		Long: `Print what a harvest came to: recall by year, its sites, and of each missing paper why
it is missing. Recall is the part of the wanted papers that was found, "of all" the part
of all papers that was found (held ones among them), "covered" the part of all papers that
is held or was found.

With --since instead what became since then of what it wants: found
first, lost (at none of its places any more; its file stays) and changed (found before,
and with a new version at a known place). LAST is when the harvest was last begun.`,
		Example: "  starter report conf/webdb\n  starter report conf/webdb --html webdb.html\n  starter report conf/webdb --json\n  starter report conf/webdb --since LAST\n  starter report conf/webdb --since 2026-11-01",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			if since != "" && html != "" {
				return fmt.Errorf("%w: --html is of the whole report, without --since", program.ErrUsage)
			}
			h, err := findHarvest(ctx, a.DB, args[0])
			if err != nil {
				return err
			}
			if err := otherHarvests(c, ctx, a.DB, args[0], h); err != nil {
				return err
			}
			if since != "" {
				return reportSince(c, ctx, a.DB, h, since)
			}
			r, err := report.Build(ctx, a.DB, h.ID)
			if err != nil {
				return err
			}
			if html != "" {
				if err := program.WriteFile(html, r.WriteHTML); err != nil {
					return err
				}
				return c.Say(map[string]string{"harvest": h.ID, "written": html}, "written: %s\n", html)
			}
			return c.Print(r, func(w io.Writer) error {
				if err := r.WriteText(w); err != nil {
					return err
				}
				of := []harvestStatus{{Harvest: r.Harvest}}
				troubles(c, ctx, of)
				for _, t := range of[0].Troubles {
					fmt.Fprintln(w, t)
				}
				return nil
			})
		})}
	cmd.Flags().StringVar(&html, "html", "", "write it as one HTML page, with charts, to this file")
	cmd.Flags().StringVar(&since, "since", "", "what is new since a day (2026-11-01), a time (2026-11-01T12:00:00Z) or LAST")
	return cmd
}

// sinceWhen reads --since.
func sinceWhen(since string, h store.Harvest) (time.Time, error) {
	if strings.EqualFold(since, "LAST") {
		return h.StartedAt, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, since, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: --since is a day such as 2026-11-01, a time such as 2026-11-01T12:00:00Z, or LAST, not %q", program.ErrUsage, since)
}

// news is what `starter report --since` tells.
type news struct {
	Harvest string         `json:"harvest"`
	Since   time.Time      `json:"since"`
	Changes []store.Change `json:"changes"`
}

func reportSince(c *cli, ctx context.Context, db *store.DB, h store.Harvest, since string) error {
	from, err := sinceWhen(since, h)
	if err != nil {
		return err
	}
	changes, err := db.Changes(ctx, h, from)
	if err != nil {
		return err
	}
	return c.Print(news{h.ID, from, append([]store.Change{}, changes...)}, func(w io.Writer) error {
		n := map[string]int{}
		for _, ch := range changes {
			n[ch.What]++
		}
		fmt.Fprintf(w, "%s since %s: found %d, lost %d, changed %d\n", h.ID, from.Local().Format(time.DateTime), n["found"], n["lost"], n["changed"])
		for _, ch := range changes {
			fmt.Fprintf(w, "%s  %-7s  %s\n", ch.At.Local().Format(time.DateOnly), ch.What, strings.TrimSpace(ch.Title))
			if len(ch.Authors) > 0 {
				fmt.Fprintf(w, "                     %s, %d\n", strings.Join(ch.Authors, ", "), ch.Year)
			}
			fmt.Fprintf(w, "                     %s\n", ch.URL)
		}
		return nil
	})
}
