package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"go.temporal.io/sdk/client"

	"gleaner/internal/devstack"
	"gleaner/internal/document"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
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

// completes makes a shell complete harvests and venues where a command takes one, and
// the choices of flags.
func (c *cli) completes(cmd *cobra.Command) {
	_, takes, _ := strings.Cut(cmd.Use, " ")
	takes = strings.TrimPrefix(takes, "[")
	if cmd.ValidArgsFunction == nil && (strings.HasPrefix(takes, "HARVEST") || strings.HasPrefix(takes, "VENUE")) {
		cmd.ValidArgsFunction = c.harvests
	}
	for flag, choices := range map[string][]string{"format": choicesOf(cmd), "scope": {"prefix", "host"}, "again": {"due", "all", "none"},
		"strategy": config.Choices("strategy"), "leads": config.Choices("leads")} {
		if cmd.Flags().Lookup(flag) != nil && len(choices) > 0 {
			_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for _, sub := range cmd.Commands() {
		c.completes(sub)
	}
}

// choicesOf are the formats that a command's --format names.
func choicesOf(cmd *cobra.Command) []string {
	f := cmd.Flags().Lookup("format")
	if f == nil {
		return nil
	}
	return strings.FieldsFunc(strings.ReplaceAll(f.Usage, " or ", ","), func(r rune) bool { return r == ',' || r == ' ' })
}

// completionTime is how long a shell waits for names.
const completionTime = 3 * time.Second

// several is how a command says that it takes more venues than one.
const several = "VENUE …"

// harvests are the names of harvests and of what they are of.
func (c *cli) harvests(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), completionTime)
	defer cancel()
	a, err := c.Record(ctx)
	if err != nil || len(args) > 0 && !strings.Contains(cmd.Use, several) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer a.Close()
	all, _ := a.DB.Harvests(ctx)
	var names []cobra.Completion
	for _, h := range all {
		for _, n := range []string{h.ID, h.Venue} {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func manCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "man FOLDER", Short: "Write the manual pages of all commands into a folder", Args: args(1, "a folder"),
		Example: "  starter man /usr/local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.Root().DisableAutoGenTag = true // pages of one release are the same every day
			keepsLines(cmd.Root())
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("%w: %w", program.ErrUsage, err)
			}
			head := &doc.GenManHeader{Title: "STARTER", Section: "1", Source: "Gleaner"}
			if err := doc.GenManTree(cmd.Root(), head, args[0]); err != nil {
				return err
			}
			return c.Say(map[string]string{"folder": args[0]}, "manual pages written to %s\n", args[0])
		}}
}

// aligned are lines of a help that are laid out by spaces.
var aligned = regexp.MustCompile(`(?m)(^.*\S?  +\S.*\n?)+`)

// keepsLines makes a manual keep the lines of a help that are laid out by spaces.
func keepsLines(cmd *cobra.Command) {
	cmd.Long = aligned.ReplaceAllStringFunc(cmd.Long, func(lines string) string {
		return "\n    " + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n    ") + "\n\n"
	})
	for _, sub := range cmd.Commands() {
		keepsLines(sub)
	}
}

func completionCommand() *cobra.Command {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	return &cobra.Command{Use: "completion SHELL", Short: "Print what makes a shell complete commands, harvests and options", ValidArgs: shells,
		Args:    args(1, "a shell, one of "+strings.Join(shells, ", ")),
		Example: "  starter completion bash > /etc/bash_completion.d/starter",
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			case "zsh":
				return root.GenZshCompletion(out)
			}
			return fmt.Errorf("%w: want a shell, one of %s", program.ErrUsage, strings.Join(shells, ", "))
		}}
}
