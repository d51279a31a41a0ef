package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"gleaner/internal/match"
	"gleaner/internal/venue"
)

// heldPaper is a paper that the library has, and why it is thought so.
type heldPaper struct {
	Paper   string      `json:"paper"`
	Title   string      `json:"title"`
	Year    int         `json:"year"`
	Verdict string      `json:"verdict"`
	Score   float64     `json:"score"`
	Why     []string    `json:"why"`
	Held    venue.Paper `json:"held"` // the library's own record
}

func (c *cli) holdingsExplainCommand() *cobra.Command {
	var years string
	cmd := &cobra.Command{Use: "explain VENUE --years YEARS", Short: "Say why each paper of a venue counts as held", Args: args(1, "a venue, such as conf/webdb"),
		Long: `Say why each paper of a venue counts as held: by which record of the library, how
sure that is, and what agrees. It compares what is known of the venue with the
holdings of now; a harvest that began before keeps what it was told then.`,
		Example: "  starter holdings explain conf/webdb --years 1998-2004\n  starter holdings explain conf/webdb --years 2003 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := venue.ParseYears(years)
			if err != nil {
				return fmt.Errorf("%w: --%w", errUsage, err)
			}
			ctx := cmd.Context()
			a, err := c.record(ctx)
			if err != nil {
				return err
			}
			defer a.Close()
			papers, err := a.DB.Papers(ctx, args[0], in)
			if err != nil {
				return err
			}
			holdings, err := a.DB.Holdings(ctx)
			if err != nil {
				return err
			}
			held := explainHeld(papers, holdings)
			return c.print(map[string]any{"venue": args[0], "papers": len(papers), "held": held}, func(w io.Writer) error {
				return writeHeld(w, args[0], len(papers), held)
			})
		}}
	cmd.Flags().StringVar(&years, "years", "", "years of publication, such as 1998-2004 (required)")
	_ = cmd.MarkFlagRequired("years")
	return cmd
}

func explainHeld(papers, holdings []venue.Paper) []heldPaper {
	reasons := match.Held(papers, holdings)
	out := []heldPaper{}
	for _, p := range papers {
		if r, ok := reasons[p.Key]; ok {
			out = append(out, heldPaper{Paper: p.Key, Title: p.Title, Year: p.Year, Verdict: string(r.Verdict), Score: r.Score, Why: r.Why, Held: r.Held})
		}
	}
	return out
}

func writeHeld(w io.Writer, venueKey string, published int, held []heldPaper) error {
	for _, h := range held {
		fmt.Fprintf(w, "%s  %q (%d)\n  held as %q (%d) by %s\n  %s (%.2f): %s\n", h.Paper, h.Title, h.Year, h.Held.Title, h.Held.Year,
			orDash(strings.Join(h.Held.Surnames(), ", ")), h.Verdict, h.Score, strings.Join(h.Why, "; "))
	}
	_, err := fmt.Fprintf(w, "%s: %d papers known, %d of them held\n", venueKey, published, len(held))
	return err
}
