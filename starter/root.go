package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/internal/devstack"
	"gleaner/internal/document"
	"gleaner/internal/service/app"
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
	root.CompletionOptions.DisableDefaultCmd = true
	for _, g := range c.groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommand(program.HelpCommand(root))
	root.SetHelpCommandGroupID("Operate")
	c.completes(root)
	program.StrictArgs(root)
	c.Busy()
	return c
}

// group is a part of the commands, as the help lists them.
type group struct {
	title    string
	commands []*cobra.Command
}

func (c *cli) groups() []group {
	return []group{
		{"Start", []*cobra.Command{c.demoCommand(), c.devCommand(), c.harvestCommand(), c.collectCommand(), c.importCommand(),
			c.recrawlCommand(), c.scheduleCommand(), c.retryCommand()}},
		{"Look", []*cobra.Command{c.statusCommand(), c.watchCommand(), c.reportCommand(), c.explainCommand(), c.exportCommand(),
			c.documentsCommand(), c.sitesCommand(), c.collectionsCommand(), c.parentsCommand(), c.statsCommand(), c.venuesCommand(), c.metadataCommand()}},
		{"Correct", append(c.steerCommands(), c.reviewCommand(), c.holdingsCommand(), c.homepagesCommand(), c.blacklistCommand(),
			c.whitelistCommand(), c.cleanCommand(), c.jobsCommand())},
		{"Operate", []*cobra.Command{c.configCommand(), c.doctorCommand(), c.consoleCommand(), c.notifyCommand(), c.verifyCommand(),
			c.reconcileCommand(), c.pruneCommand(), migrateCommand(c), c.manCommand(), completionCommand()}},
	}
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

// onTemporal does something with a connection to the server.
func (c *cli) onTemporal(ctx context.Context, do func(client.Client) error) error {
	t, err := c.temporal(ctx)
	if err != nil {
		return err
	}
	defer t.Close()
	return do(t)
}

// open opens the record, and connects to the server; done closes both.
func (c *cli) open(ctx context.Context) (a *app.App, t client.Client, done func(), err error) {
	if a, err = c.Record(ctx); err != nil {
		return nil, nil, nil, err
	}
	if t, err = c.temporal(ctx); err != nil {
		a.Close()
		return nil, nil, nil, err
	}
	return a, t, func() { t.Close(); a.Close() }, nil
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
