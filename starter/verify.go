package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"gleaner/internal/library/collection"
	"gleaner/internal/service/app"
	"gleaner/internal/text"
)

// errDifferences makes `starter verify` end with 1.
var errDifferences = errors.New("repository and database differ")

func verifyCommand(c *cli) *cobra.Command {
	var deep bool
	cmd := &cobra.Command{Use: "verify", Short: "Compare the repository with the database, both ways", Args: cobra.NoArgs,
		Long: `Compare the repository with the database, both ways: files without a row, rows
without a file, sizes, texts and metadata beside each file. --deep reads every
file and compares it with its SHA-256, and unpacks every text. Any difference is printed, and the exit
code is then 1. Nothing is changed. Files of the last ten minutes without a row
are passed over: a crawl may be about to write it. Files that ` + "`starter prune`" + ` took
away are no difference.`,
		Example: "  starter verify\n  starter verify --deep --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			all := []collection.Difference{}
			progress := c.Progress("documents compared")
			defer progress.End()
			seen, err := collection.Verify(ctx, a.DB.DocumentRecords, a.Repo, deep, func(d collection.Difference) {
				all = append(all, d)
				if !c.JSON {
					fmt.Fprintf(c.Out, "%s  %-12s %s\n", d.SHA256, d.What, d.Detail)
				}
			}, progress.Count)
			if err != nil {
				return err
			}
			result := map[string]any{"files": seen.Files, "rows": seen.Rows, "bytes": seen.Bytes, "pruned": seen.Pruned, "deep": deep, "differences": all}
			pruned := ""
			if seen.Pruned > 0 {
				pruned = fmt.Sprintf(" (the files of %d were pruned)", seen.Pruned)
			}
			err = c.Say(result, "%s (%.1f MB) and %s%s compared, %s\n",
				text.Count(seen.Files, "file"), float64(seen.Bytes)/1e6, text.Count(seen.Rows, "row"), pruned, text.Count(len(all), "difference"))
			if err == nil && len(all) > 0 {
				err = errDifferences
			}
			return err
		})}
	cmd.Flags().BoolVar(&deep, "deep", false, "read every file and compare it with its SHA-256, and unpack every text")
	return cmd
}
