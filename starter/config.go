package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
)

func configCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Show every setting, its value and where that is from", Args: cobra.NoArgs,
		Example: "  starter config\n  GLEANER_CONTACT=me@example.org starter config --json",
		RunE: func(*cobra.Command, []string) error {
			cfg, err := c.Settings()
			if err != nil {
				return err
			}
			return printRows(c, cfg.Show(), nil, "SETTING\tENVIRONMENT\tVALUE\tFROM\tWHAT IT IS", func(v config.Value) string {
				return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", v.Key, v.Env, v.Value, v.Origin, v.Help)
			})
		}}
	cmd.AddCommand(configInit(c))
	return cmd
}

func configInit(c *cli) *cobra.Command {
	var policy bool
	cmd := &cobra.Command{Use: "init [FILE]", Short: "Write a file of settings, or of policy, with what each is and its default", Args: cobra.MaximumNArgs(1),
		Long: `Write a settings file with every setting as a comment: what it is, what it takes and
its default. Take the # away from what you change. Without a name it is the file that
every command reads unless --config or GLEANER_CONFIG names another.

--write-policy writes what is seldom changed, as it holds here: paces beyond the delay, limits
of pages and crawls, intervals of recrawling, thresholds, weights. Change what you like,
and name the file by the setting policy (GLEANER_POLICY); a line that you take out is as
the program has it.

The name - is the standard output. A file that is there is never written over.`,
		Example: "  starter config init\n  starter config init /etc/gleaner/gleaner.yaml\n  starter config init --write-policy policy.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			name, write := config.DefaultFile(), config.WriteTemplate
			hint := "every command reads it"
			if policy {
				cfg, err := c.Settings()
				if err != nil {
					return err
				}
				name, write = filepath.Join(filepath.Dir(name), "policy.yaml"), cfg.Policy.Write
			}
			if len(args) == 1 {
				name, hint = args[0], "read with --config "+args[0]
			}
			if policy {
				hint = "read with --policy " + name
			}
			if name == "-" && c.JSON {
				return fmt.Errorf("%w: the settings are written in YAML, not JSON: leave out --json", program.ErrUsage)
			}
			if name == "-" {
				return write(c.Out)
			}
			return done(c, writeNew(name, write), map[string]string{"file": name}, "written: %s (%s)\n", name, hint)
		}}
	cmd.Flags().BoolVar(&policy, "write-policy", false, "write the policy")
	return cmd
}
