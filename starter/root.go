package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"gleaner/internal/devstack"
	"gleaner/internal/document"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/service/console"
	"gleaner/internal/service/telemetry"
	"gleaner/worker/pool"
)

// Exit codes, as the help says.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2 // the command line or a file given is wrong
	exitUnknown     = 3 // what was named is not known
	exitUnavailable = 4 // the database or Temporal cannot be reached
	exitInterrupted = 130
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

// errUsage marks errors of the command line.
var errUsage = errors.New("wrong usage")

// cli is what every command shares.
type cli struct {
	out, err *console.Writer
	json     bool
	file     string
	flags    *pflag.FlagSet
	own      map[string]string // settings of the demo, stronger than flags
	child    document.Child    // how the program starts itself as the built-in PDF reader
}

func newRootCommand(out, errw io.Writer, child document.Child) *cobra.Command {
	c := &cli{out: console.New(out), err: console.New(errw), own: map[string]string{}, child: child}
	root := &cobra.Command{Use: "starter", Short: "Complete the paper collection of a publication venue", Long: rootHelp,
		SilenceUsage: true, SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%w: no command is called %q; see `starter --help`", errUsage, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, openly(err)) })
	c.flags = root.PersistentFlags()
	c.flags.BoolVar(&c.json, "json", false, "print results as JSON")
	c.flags.StringVar(&c.file, "config", "", "settings file")
	for _, s := range config.Settings() {
		key, help := s.Key, s.Help
		if s.Secret { // an argument is there for everybody on the machine to read
			key, help = s.FileKey(), "file that holds "+s.Key+": "+help
		}
		c.flags.String(key, s.Default, help)
		if !shown[s.Key] {
			_ = c.flags.MarkHidden(key)
		}
	}
	root.AddCommand(c.devCommand(), c.demoCommand(), c.configCommand(), c.harvestCommand(), c.statusCommand(), c.watchCommand(), c.reportCommand(),
		c.pauseCommand(), c.resumeCommand(), c.cancelCommand(), c.retryCommand(), c.recrawlCommand(), c.statsCommand(), c.whitelistCommand(), c.scheduleCommand(), c.exportCommand(), c.holdingsCommand(), c.explainCommand(), c.benchCommand())
	root.AddCommand(c.doctorCommand(), c.pruneCommand(), c.reconcileCommand())
	root.AddCommand(c.documentsCommand(), c.reviewCommand(), c.verifyCommand())
	root.AddCommand(c.venuesCommand(), c.metadataCommand(), c.homepagesCommand(), c.trainCommand(), c.evaluateCommand())
	return root
}

// shown are the settings that every command's help lists; `starter config` lists
// all.
var shown = map[string]bool{"data-dir": true, "database-url": true, "temporal-address": true}

// openly says why a secret is no flag, and where what was one went.
func openly(err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := unknown.GetSpecifiedName()
	if s, ok := config.Find(name); ok && s.Secret {
		return fmt.Errorf("%s would be seen in the list of processes: set %s, or name the file that holds it by --%s", s.Key, s.Env, s.FileKey())
	}
	if went := config.Moved(name); went != "" {
		return fmt.Errorf("--%s: %s", name, went)
	}
	return err
}

// settings loads the configuration, and finds a running `starter dev`.
func (c *cli) settings() (*config.Config, error) {
	given := map[string]string{}
	// Visit would see those alone that stand before the command's name.
	c.flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "json" && f.Name != "config" {
			given[f.Name] = f.Value.String()
		}
	})
	maps.Copy(given, c.own)
	cfg, err := config.Load(given, c.file, os.Environ())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	devstack.Use(cfg)
	return cfg, nil
}

func (c *cli) log(cfg *config.Config) *slog.Logger {
	return telemetry.Logger(c.err, string(cfg.Process.LogLevel))
}

// options are what the command line opens an application with.
func (c *cli) options(cfg *config.Config) app.Options {
	return app.Options{Log: c.log(cfg), Child: c.child}
}

// record opens the database for a command that only looks.
func (c *cli) record(ctx context.Context) (*app.App, error) {
	cfg, err := c.settings()
	if err != nil {
		return nil, err
	}
	return app.OpenRecord(ctx, cfg, c.options(cfg))
}

// temporal connects to the server.
func (c *cli) temporal(ctx context.Context) (client.Client, error) {
	cfg, err := c.settings()
	if err != nil {
		return nil, err
	}
	t, err := pool.Dial(ctx, cfg, c.log(cfg))
	if err != nil {
		return nil, unreachable{err}
	}
	return t, nil
}

// unknown marks an error about something that does not exist.
type unknown struct{ error }

func (u unknown) Unwrap() error { return u.error }

// unreachable marks an error of a server that does not answer.
type unreachable struct{ error }

func (u unreachable) Unwrap() error { return u.error }

// print writes a result: as JSON, or by the function given.
func (c *cli) print(v any, text func(io.Writer) error) error {
	if !c.json {
		return text(c.out)
	}
	enc := json.NewEncoder(c.out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func exitCode(err error, interrupted bool) int {
	var syntax *biblio.SyntaxError
	var away unreachable
	var nothing unknown
	var none *serviceerror.NotFound
	switch {
	case err == nil:
		return exitOK
	case interrupted:
		return exitInterrupted
	case errors.Is(err, errUsage), errors.As(err, &syntax), refused(err):
		return exitUsage
	case errors.Is(err, store.ErrNoHarvest), errors.Is(err, store.ErrNoDocument), errors.Is(err, store.ErrNoMatch), errors.Is(err, store.ErrNoURL), errors.Is(err, store.ErrNoSource), errors.As(err, &none), errors.As(err, &nothing),
		userError(err), errors.Is(err, errAuthor):
		return exitUnknown
	case errors.Is(err, store.ErrUnreachable), errors.Is(err, app.ErrNoDatabase), errors.As(err, &away):
		return exitUnavailable
	}
	return exitFailed
}
