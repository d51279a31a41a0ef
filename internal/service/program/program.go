package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gleaner/internal/document"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/service/telemetry"
	"gleaner/internal/service/terminal"
)

// Program is a command line: what every command of it shares.
type Program struct {
	Root     *cobra.Command
	Out, Err *terminal.Writer
	JSON     bool              // results are wanted as JSON
	Own      map[string]string // settings of a command's own, stronger than flags
	Child    document.Child    // how the program starts itself as the built-in PDF reader

	file  string
	flags *pflag.FlagSet
	find  func(*config.Config)

	mu    sync.Mutex
	going *Progress
}

// shown are the settings that every command's help lists; `starter config` lists
// all.
var shown = map[string]bool{"data-dir": true, "database-url": true, "temporal-address": true}

// New makes a program of a root command without commands. find puts what runs on
// this machine already into the settings.
func New(root *cobra.Command, out, errw io.Writer, child document.Child, find func(*config.Config)) *Program {
	results, rest := terminal.Pair(out, errw)
	p := &Program{Root: root, Out: results, Err: rest, Own: map[string]string{}, Child: child, find: find}
	root.SilenceUsage, root.SilenceErrors = true, true
	root.Version = version()
	root.Args, root.RunE = noCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return fmt.Errorf("%w: %w", ErrUsage, openly(cmd, err)) })
	p.flags = root.PersistentFlags()
	p.flags.BoolVar(&p.JSON, "json", false, "print results as JSON")
	p.flags.StringVar(&p.file, "config", "", "settings file")
	for _, s := range config.Settings() {
		key, help := s.Key, s.Help
		if s.Secret { // an argument is there for everybody on the machine to read
			key, help = s.FileKey(), "file that holds "+s.Key+": "+help
		}
		p.flags.String(key, s.Default, help)
		if !shown[s.Key] {
			_ = p.flags.MarkHidden(key)
		}
	}
	return p
}

// release is the release that these programs belong to.
const release = "0.9.0"

// version is the release, with the commit that a program was built from.
func version() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				return release + " (" + s.Value + ")"
			}
		}
	}
	return release
}

// HelpCommand prints the help of a command that is named, and refuses what is none.
func HelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "help [COMMAND …]", Short: "Print the help of a command", Example: "  " + root.Name() + " help harvest",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err == nil {
				err = noCommand(cmd, rest)
			}
			if err != nil {
				return err
			}
			return cmd.Help()
		}}
}

// noCommand refuses what is no command of a group.
func noCommand(group *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	group.SuggestionsMinimumDistance = 2
	if like := group.SuggestionsFor(args[0]); len(like) > 0 {
		return fmt.Errorf("%w: no command is called %q; did you mean %s?", ErrUsage, args[0], strings.Join(like, " or "))
	}
	return fmt.Errorf("%w: no command is called %q; see `%s --help`", ErrUsage, args[0], group.CommandPath())
}

// StrictArgs makes every command refuse arguments that it does not take by ErrUsage, and gives
// groups the first example of each of their commands.
func StrictArgs(cmd *cobra.Command) {
	if !cmd.Runnable() && cmd.HasSubCommands() {
		cmd.Args, cmd.RunE = noCommand, cmd.Root().RunE
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil || errors.Is(err, ErrUsage) {
				return err
			}
			return fmt.Errorf("%w: %s", ErrUsage, cmd.UseLine())
		}
	}
	examples := cmd.HasParent() && cmd.Example == ""
	for _, sub := range cmd.Commands() {
		StrictArgs(sub)
		if first, _, _ := strings.Cut(sub.Example, "\n"); examples {
			cmd.Example = strings.Trim(cmd.Example+"\n"+first, "\n")
		}
	}
}

// openly explains why a secret is no flag, and names the flag that is spelt most like an unknown one.
func openly(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := unknown.GetSpecifiedName()
	if s, ok := config.Find(name); ok && s.Secret {
		return fmt.Errorf("%s would be seen in the list of processes: set %s, or name the file that holds it by --%s", s.Key, s.Env, s.FileKey())
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	if like := config.Nearest(name, flags); like != "" && len(name) > 1 {
		return fmt.Errorf("%w; did you mean --%s?", err, like)
	}
	return err
}

// Settings loads the configuration.
func (p *Program) Settings() (*config.Config, error) {
	given := map[string]string{}
	// Visit would see those alone that stand before the command's name.
	p.flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "json" && f.Name != "config" {
			given[f.Name] = f.Value.String()
		}
	})
	maps.Copy(given, p.Own)
	cfg, err := config.Load(given, p.file, os.Environ())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	p.find(cfg)
	return cfg, nil
}

// Log is where a command logs to.
func (p *Program) Log(cfg *config.Config) *slog.Logger {
	return telemetry.Logger(p.Err, string(cfg.Process.LogLevel))
}

// Options are what the command line opens an application with.
func (p *Program) Options(cfg *config.Config) app.Options {
	return app.Options{Log: p.Log(cfg), Child: p.Child}
}

// Record opens the database for a command that only looks.
func (p *Program) Record(ctx context.Context) (*app.App, error) { return p.open(ctx, app.OpenRecord) }

// Application opens everything that a worker has, for commands that do a worker's
// work themselves.
func (p *Program) Application(ctx context.Context) (*app.App, error) { return p.open(ctx, app.Open) }

func (p *Program) open(
	ctx context.Context, open func(context.Context, *config.Config, app.Options) (*app.App, error),
) (*app.App, error) {
	cfg, err := p.Settings()
	if err != nil {
		return nil, err
	}
	return open(ctx, cfg, p.Options(cfg))
}

// Say prints a value as JSON, or a sentence that tells it.
func (p *Program) Say(v any, format string, args ...any) error {
	return p.Print(v, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, format, args...)
		return err
	})
}

// Print writes a result: as JSON, or by the function given.
func (p *Program) Print(v any, text func(io.Writer) error) error {
	p.Settle()
	if !p.JSON {
		return text(p.Out)
	}
	return encode(p.Out, v)
}
