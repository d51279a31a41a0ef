package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
)

func (c *cli) configCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Show every setting, its value and where that is from", Args: cobra.NoArgs,
		Example: "  starter config\n  GLEANER_CONTACT=me@example.org starter config --json\n  starter config policy > policy.yaml",
		RunE: func(*cobra.Command, []string) error {
			cfg, err := c.Settings()
			if err != nil {
				return err
			}
			values := cfg.Show()
			return c.Print(values, func(w io.Writer) error {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "setting\tenvironment\tvalue\tfrom\twhat it is")
				for _, v := range values {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", v.Key, v.Env, v.Value, v.Origin, v.Help)
				}
				return t.Flush()
			})
		}}
	cmd.AddCommand(c.policyCommand(), c.configInit())
	return cmd
}

func (c *cli) policyCommand() *cobra.Command {
	return &cobra.Command{Use: "policy", Short: "Print the policy: what is seldom changed, as a file to change", Args: cobra.NoArgs,
		Long: `Print the policy that holds here, whole and with what each line is about: paces
beyond the delay, limits of pages and crawls, intervals of recrawling, thresholds,
weights. Change what you like in the file, and name it by the setting policy
(GLEANER_POLICY); what you take out of it is as the program has it.`,
		Example: "  starter config policy > policy.yaml\n  GLEANER_POLICY=policy.yaml starter config",
		RunE: func(*cobra.Command, []string) error {
			cfg, err := c.Settings()
			if err != nil {
				return err
			}
			return c.Print(cfg.ShowPolicy(), cfg.Policy.Write)
		}}
}

func (c *cli) configInit() *cobra.Command {
	return &cobra.Command{Use: "init [FILE]", Short: "Write a settings file with every setting, what it is and its default", Args: cobra.MaximumNArgs(1),
		Long: `Write a settings file with every setting as a comment: what it is, what it takes and
its default. Take the # away from what you change. Without a name it is the file that
is read without --config and GLEANER_CONFIG. A file that is there is never written over.`,
		Example: "  starter config init\n  starter config init /etc/gleaner/gleaner.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			name := config.DefaultFile()
			if len(args) == 1 {
				name = args[0]
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%w: %s is there already; name another file, or take it away", program.ErrUsage, name)
			}
			if err != nil {
				return err
			}
			if err := errors.Join(config.WriteTemplate(f), f.Close()); err != nil {
				return err
			}
			return c.Print(map[string]string{"file": name}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "written: %s\nread by:  starter --config %s config\n", name, name)
				return err
			})
		}}
}
