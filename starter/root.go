package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/internal/devstack"
	"gleaner/internal/document"
	"gleaner/internal/lab/evaluate"
	"gleaner/internal/service/program"
	"gleaner/worker/pool"
)

const rootHelp = `Gleaner completes the paper collection of a publication venue: it looks up what
the venue published, subtracts what the library holds, finds the authors'
homepages, crawls them politely towards papers, and says of every missing paper
why it is missing.

Try it:            starter demo
On one machine:    starter dev            (in one terminal)
                   starter harvest conf/webdb --years 1998-2004 --wait
Settings:          starter config

Exit codes: 0 done, 1 failed, 2 wrong usage or input file, 3 not known,
4 database or Temporal not reachable, 130 interrupted.`

// cli is what every command shares.
type cli struct {
	*program.Program

	devFolder string // the data folder of the "starter dev" whose Temporal is asked; "" where another one is
}

func newRootCommand(out, errw io.Writer, child document.Child) *cli {
	root := &cobra.Command{Use: "starter", Short: "Complete the paper collection of a publication venue", Long: rootHelp}
	c := &cli{Program: program.New(root, out, errw, child, devstack.Use)}
	root.AddCommand(c.devCommand(), c.demoCommand(), c.configCommand(), c.harvestCommand(), c.statusCommand(), c.watchCommand(), c.reportCommand(),
		c.pauseCommand(), c.resumeCommand(), c.cancelCommand(), c.retryCommand(), c.recrawlCommand(), c.statsCommand(), c.whitelistCommand(), c.scheduleCommand(), c.exportCommand(), c.holdingsCommand(), c.explainCommand())
	root.AddCommand(c.doctorCommand(), c.pruneCommand(), c.reconcileCommand(), c.consoleCommand(), c.notifyCommand(), c.blacklistCommand(), c.sitesCommand(), c.manCommand())
	root.AddCommand(c.documentsCommand(), c.reviewCommand(), c.verifyCommand())
	root.AddCommand(c.collectCommand(), c.collectionsCommand())
	root.AddCommand(c.importCommand(), c.jobsCommand(), c.cleanCommand(), c.parentsCommand())
	root.AddCommand(c.venuesCommand(), c.metadataCommand(), c.homepagesCommand())
	root.AddCommand(c.evaluateCommand(), inTheLab("bench"), inTheLab("train"))
	c.completes(root)
	program.StrictArgs(root)
	c.Busy()
	return c
}

// evaluateCommand measures what needs nothing but this program; the rest is the
// laboratory's.
func (c *cli) evaluateCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "evaluate", Short: "Measure how well collections by topic are made", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(evaluate.TopicsCommand(c.Program), inTheLab("homepages", "evaluate"), inTheLab("crawl", "evaluate"))
	return cmd
}

// inTheLab passes on to the laboratory what is a command of its program, in a clone
// and with Go.
func inTheLab(name string, under ...string) *cobra.Command {
	return &cobra.Command{Use: name, Hidden: true, DisableFlagParsing: true, RunE: func(cmd *cobra.Command, args []string) error {
		lab := exec.CommandContext(cmd.Context(), "go", slices.Concat([]string{"run", "gleaner/internal/lab/cmd/lab"}, under, []string{name}, args)...)
		lab.Stdin, lab.Stdout, lab.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := lab.Run(); err != nil {
			return fmt.Errorf("%s is a command of lab (go build ./internal/lab/cmd/lab): %w", name, err)
		}
		return nil
	}}
}

// temporal connects to the server.
func (c *cli) temporal(ctx context.Context) (client.Client, error) {
	cfg, err := c.Settings()
	if err != nil {
		return nil, err
	}
	t, err := pool.Dial(ctx, cfg, c.Log(cfg))
	if err != nil {
		return nil, program.Unreachable{Reason: err}
	}
	if cfg.Origin("temporal-address") == "dev" {
		c.devFolder = cfg.Servers.DataDir
	}
	return t, nil
}

// exitCode says what the program ends with after an error.
func exitCode(err error) int {
	switch code := program.ExitCode(err); {
	case code != program.ExitFailed:
		return code
	case refused(err):
		return program.ExitUsage
	case notThere(err), userError(err), errors.Is(err, errAuthor):
		return program.ExitUnknown
	}
	return program.ExitFailed
}
