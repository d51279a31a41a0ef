package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/worker/pool"
)

// harvestStatus is one line of `starter status`.
type harvestStatus struct {
	store.Harvest
	Counts   store.Counts   `json:"counts"`
	Troubles []pool.Trouble `json:"troubles,omitempty"`

	Sites []store.SitePace `json:"sites,omitempty"` // that are being crawled, where one harvest was asked for
}

// troubles adds what fails of the harvests that run. Without a Temporal server
// to ask, the record is all there is to tell.
func (c *cli) troubles(ctx context.Context, all []harvestStatus) {
	if !slices.ContainsFunc(all, func(h harvestStatus) bool { return h.CompletedAt == nil }) {
		return
	}
	t, err := c.temporal(ctx)
	if err != nil {
		fmt.Fprintln(c.Err, "what fails now is not known:", err)
		return
	}
	defer t.Close()
	for i, h := range all {
		if h.CompletedAt != nil {
			continue
		}
		if all[i].Troubles, err = pool.Troubles(ctx, t, h.ID); err != nil {
			fmt.Fprintln(c.Err, "what fails now is not known:", err)
		}
	}
}

func (c *cli) statusCommand() *cobra.Command {
	return &cobra.Command{Use: "status [HARVEST]", Short: "Say how far harvests are", Args: cobra.MaximumNArgs(1),
		Long:    "Say how far harvests are; of one that is named also which sites are being crawled,\nhow often each is asked, and who set that.",
		Example: "  starter status\n  starter status conf/webdb --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			all, err := statuses(ctx, a.DB, args)
			if err != nil {
				return err
			}
			c.troubles(ctx, all)
			return c.Print(all, func(w io.Writer) error {
				if len(all) == 0 {
					_, err := fmt.Fprintln(w, "no harvest yet: starter harvest conf/webdb --years 1998-2004")
					return err
				}
				for _, h := range all {
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

func (c *cli) watchCommand() *cobra.Command {
	return &cobra.Command{Use: "watch HARVEST", Short: "Show a harvest's progress until it ends", Args: args(1, aHarvest),
		Example: "  starter watch conf/webdb",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			h, err := findHarvest(ctx, a.DB, args[0])
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
