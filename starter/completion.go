package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/each"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
)

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
			_ = cmd.RegisterFlagCompletionFunc(flag,
				cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
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

// harvests are the names of harvests and of what they are of.
func (c *cli) harvests(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), completionTime)
	defer cancel()
	a, err := c.Record(ctx)
	if err != nil || len(args) > 0 && !strings.Contains(cmd.Use, "VENUE …") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer a.Close()
	all, _ := a.DB.Harvests(ctx)
	var names []cobra.Completion
	for _, h := range all {
		names = append(names, h.ID, h.Venue)
	}
	return each.Distinct(len(names), names), cobra.ShellCompDirectiveNoFileComp
}
