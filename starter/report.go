package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/each"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
)

func reportCommand(c *cli) *cobra.Command {
	var html, since string
	cmd := &cobra.Command{Use: "report HARVEST", Short: "Print recall by year, and why each missing paper is missing", Args: args(1, harvestArg),
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
			if err := otherHarvests(ctx, c, a.DB, args[0], h); err != nil {
				return err
			}
			if since != "" {
				return reportSince(ctx, c, a.DB, h, since)
			}
			r, err := report.Build(ctx, a.DB, h.ID)
			if err != nil {
				return err
			}
			if html != "" {
				err := program.WriteFile(html, r.WriteHTML)
				return done(c, err, map[string]string{"harvest": h.ID, "written": html}, "written: %s\n", html)
			}
			return c.Print(r, func(w io.Writer) error {
				if err := r.WriteText(w); err != nil {
					return err
				}
				of := fromTemporal(ctx, c, []harvestStatus{{Harvest: r.Harvest}}, false)
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

func reportSince(ctx context.Context, c *cli, db *store.DB, h store.Harvest, since string) error {
	from, err := sinceWhen(since, h)
	if err != nil {
		return err
	}
	changes, err := db.Changes(ctx, h, from)
	return printOne(c, news{h.ID, from, each.List(changes)}, err, func(w io.Writer, _ news) error {
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
