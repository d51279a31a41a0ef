package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"gleaner/internal/service/program"
)

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
			err := doc.GenManTree(cmd.Root(), head, args[0])
			return done(c, err, map[string]string{"folder": args[0]}, "manual pages written to %s\n", args[0])
		}}
}

// listItem is an item of a list in a help, aligned are other lines there that are laid out by spaces.
var (
	listItem = regexp.MustCompile(`(?m)^  (\S.*?)  +(\S.*\n(?:   +\S.*\n)*)`)
	aligned  = regexp.MustCompile(`(?m)(^.*\S?  +\S.*\n?)+`)
)

// keepsLines makes a manual show the lists of a help as such, and keep other lines that are laid out by spaces.
func keepsLines(cmd *cobra.Command) {
	cmd.Long = listItem.ReplaceAllStringFunc(cmd.Long+"\n", func(item string) string {
		name, what, _ := strings.Cut(strings.TrimSpace(item), "  ")
		return "\n" + name + "\n: " + strings.Join(strings.Fields(what), " ") + "\n\n"
	})
	cmd.Long = aligned.ReplaceAllStringFunc(strings.TrimSuffix(cmd.Long, "\n"), func(lines string) string {
		return "\n    " + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n    ") + "\n\n"
	})
	for _, sub := range cmd.Commands() {
		keepsLines(sub)
	}
}
