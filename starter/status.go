package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
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

func statusCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "status [HARVEST]", Short: "Say how far harvests are", Args: cobra.MaximumNArgs(1),
		Long:    "Say how far harvests are; of one that is named also which sites are being crawled,\nhow often each is asked, and who set that.",
		Example: "  starter status\n  starter status conf/webdb --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			all, err := statuses(ctx, a.DB, args)
			if id := unrecorded(ctx, c, strings.Join(args, ""), err); id != "" {
				all, err = []harvestStatus{{Harvest: store.Harvest{ID: id}, Waits: true}}, nil
			}
			if err != nil {
				return err
			}
			all = fromTemporal(ctx, c, all, len(args) == 0)
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
						fmt.Fprintln(w, "    being crawled:", s.Host, s.Words(time.DateTime))
					}
				}
				return nil
			})
		})}
}

func statuses(ctx context.Context, db *store.DB, args []string) ([]harvestStatus, error) {
	hs := make([]store.Harvest, 1)
	var err error
	if len(args) == 1 {
		hs[0], err = findHarvest(ctx, db, args[0])
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

// fromTemporal adds what fails of the harvests that run and, where all are asked for, those that
// wait for a worker. Without a Temporal server to ask, the record is all there is to tell.
func fromTemporal(ctx context.Context, c *cli, all []harvestStatus, waiting bool) []harvestStatus {
	runs := func(h harvestStatus) bool { return h.CompletedAt == nil && !h.Waits }
	if !waiting && !slices.ContainsFunc(all, runs) {
		return all
	}
	unknown := func(err error) {
		if err != nil {
			fmt.Fprintln(c.Err, "what fails now, or waits for a worker, is not known:", err)
		}
	}
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	unknown(c.onTemporal(patient, func(t client.Client) (err error) {
		for i, h := range all {
			if runs(h) {
				found, failed := pool.Troubles(ctx, t, h.ID)
				all[i].Troubles = found
				unknown(failed)
			}
		}
		if waiting {
			all, err = withWaiting(ctx, t, all)
		}
		return err
	}))
	return all
}

// withWaiting adds the harvests that no worker has written to the record yet, the latest first.
func withWaiting(ctx context.Context, t client.Client, all []harvestStatus) ([]harvestStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := t.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowType = 'HarvestVenue' AND ExecutionStatus = 'Running'"})
	waits := []harvestStatus{} // not nil, which JSON has as null
	for _, w := range list.GetExecutions() {
		id := strings.TrimPrefix(w.GetExecution().GetWorkflowId(), workflows.HarvestID(""))
		if !slices.ContainsFunc(all, func(h harvestStatus) bool { return h.ID == id }) {
			waits = append(waits, harvestStatus{Harvest: store.Harvest{ID: id}, Waits: true})
		}
	}
	return append(waits, all...), err
}

// unrecorded is the id of a harvest that was begun and is not on record yet, where err says
// that there is none: a worker writes it there. Else it is "".
func unrecorded(ctx context.Context, c *cli, name string, err error) (id string) {
	if program.ExitCode(err) != program.ExitUnknown {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	goal, years := gleaner.SplitHarvest(spelling(strings.TrimPrefix(name, "harvest/")))
	_ = c.onTemporal(ctx, func(t client.Client) error {
		asked := gleaner.ParseGoal(goal).Harvest(years)
		runs, err := harvestRuns(ctx, t, asked)
		if runs {
			id = asked
		}
		return err
	})
	return id
}

func waitsForWorker(id string) error {
	return program.Unknown{Reason: fmt.Errorf("%s waits for a worker to begin it; `starter cancel %[1]s` ends it", id)}
}
