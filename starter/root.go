package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"gleaner/internal/devstack"
	"gleaner/internal/document"
	"gleaner/internal/metadata"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
)

const rootHelp = `Gleaner completes the paper collection of a publication venue: it looks up what
the venue published, subtracts what the library holds, finds the authors'
homepages, crawls them politely towards papers, and says of every missing paper
why it is missing.

Try it:            starter demo
On one machine:    starter dev            (in one terminal)
                   starter harvest conf/webdb --years 1998-2004 --wait
Settings:          starter config

Exit codes: 0 done, 1 failed, 2 wrong usage, setting or input file, 3 not known,
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
		{"Start", []*cobra.Command{demoCommand(c), c.devCommand(), harvestCommand(c), collectCommand(c), importCommand(c),
			recrawlCommand(c), c.scheduleCommand(), retryCommand(c)}},
		{"Look", []*cobra.Command{statusCommand(c), watchCommand(c), reportCommand(c), explainCommand(c), exportCommand(c),
			documentsCommand(c), sitesCommand(c), collectionsCommand(c), parentsCommand(c), statsCommand(c), venuesCommand(c), metadataCommand(c)}},
		{"Correct", append(steerCommands(c), reviewCommand(c), holdingsCommand(c), homepagesCommand(c), blacklistCommand(c),
			whitelistCommand(c), cleanCommand(c), jobsCommand(c))},
		{"Operate", []*cobra.Command{configCommand(c), doctorCommand(c), consoleCommand(c), notifyCommand(c), verifyCommand(c),
			reconcileCommand(c), pruneCommand(c), migrateCommand(c), manCommand(c), completionCommand()}},
	}
}

// exitCode is the exit code of the program after an error.
func exitCode(err error) int {
	switch code := program.ExitCode(err); {
	case code != program.ExitFailed:
		return code
	case errors.As(err, new(metadata.ErrRefused)): // by a service or a file
		return program.ExitUsage
	case isNotFound(err), metadata.UserError(err), errors.Is(err, errAuthor):
		return program.ExitUnknown
	}
	return program.ExitFailed
}

// onRecord runs a command that looks at the record.
func (c *cli) onRecord(do func(ctx context.Context, a *app.App, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return c.withRecord(cmd.Context(), func(a *app.App) error { return do(cmd.Context(), a, args) })
	}
}
