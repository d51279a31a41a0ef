package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/internal/devstack"
	"gleaner/internal/document"
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
	root.AddCommand(
		c.devCommand(), c.demoCommand(), c.configCommand(), c.harvestCommand(),
		c.statusCommand(), c.watchCommand(), c.reportCommand(), c.pauseCommand(),
		c.resumeCommand(), c.cancelCommand(), c.retryCommand(), c.recrawlCommand(),
		c.statsCommand(), c.whitelistCommand(), c.scheduleCommand(), c.exportCommand(),
		c.holdingsCommand(), c.explainCommand(), c.doctorCommand(), c.pruneCommand(),
		c.reconcileCommand(), c.consoleCommand(), c.notifyCommand(), c.blacklistCommand(),
		c.sitesCommand(), c.manCommand(), c.documentsCommand(), c.reviewCommand(),
		c.verifyCommand(), c.collectCommand(), c.collectionsCommand(), c.importCommand(),
		c.jobsCommand(), c.cleanCommand(), c.parentsCommand(), c.venuesCommand(),
		c.metadataCommand(), c.homepagesCommand(), migrateCommand(c),
	)
	c.completes(root)
	program.StrictArgs(root)
	c.Busy()
	return c
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

// exitCode is the exit code of the program after an error.
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
