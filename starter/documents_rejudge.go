package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

func documentsRejudgeCommand(c *cli) *cobra.Command {
	q := &conditions{}
	var all, explain bool
	cmd := &cobra.Command{Use: "rejudge", Short: "Read and judge documents again, with the filter and the readers of now", Args: cobra.NoArgs,
		Long: `Read and judge documents again: after the filter was trained anew, or a reader was
installed. Nothing is fetched. Conditions choose the documents; --all is all.`,
		Example: "  starter documents rejudge --state rejected --explain\n  starter documents rejudge --outcome no-reader,image-only\n  starter documents rejudge --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			chosen := slices.ContainsFunc([]string{"state", "class", "kind", "outcome", "ingestion", "host", "venue",
				"years", "from", "to", "text", "sample"}, cmd.Flags().Changed)
			if all == chosen {
				return fmt.Errorf("%w: want conditions, or --all", program.ErrUsage)
			}
			return onDocuments(cmd.Context(), c, q, func(a *app.App, found []store.Listed) error { return rejudge(cmd.Context(), c, a, found, explain) })
		}}
	q.register(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "every document")
	cmd.Flags().BoolVar(&explain, "explain", false, "print each document's judgement and what led to it")
	return cmd
}

// rejudged is one document's old and new judgement.
type rejudged struct {
	SHA256  string        `json:"sha256"`
	URL     string        `json:"url"`
	Was     string        `json:"was"`
	Is      string        `json:"is"`
	Score   float64       `json:"score"`
	Reasons []string      `json:"reasons"`
	Matches []store.Found `json:"matches"`
}

func judgementOf(d store.Document) string {
	if what := d.What(); what != d.Class {
		return string(d.State) + " (" + what + ")"
	}
	return string(d.State) + " as " + d.Class
}

func rejudge(ctx context.Context, c *cli, a *app.App, found []store.Listed, explain bool) error {
	coll := a.Examiner(ctx)
	all := make([]rejudged, len(found))
	var over passed
	var out sync.Mutex
	var done atomic.Int64
	progress := c.Progress("documents judged")
	defer progress.End()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(2 * runtime.NumCPU())
	for i, d := range found {
		g.Go(func() error {
			defer func() { progress.Count(int(done.Add(1)), len(found)) }()
			if _, err := coll.Judge(gctx, collection.Stored(d.SHA256), collection.Again); over.is(err) {
				return nil
			} else if err != nil {
				return err
			}
			now, _, err := a.DB.Document(gctx, d.SHA256)
			if err != nil {
				return err
			}
			matches, err := a.DB.Matches(gctx, d.SHA256)
			if err != nil {
				return err
			}
			all[i] = rejudged{SHA256: d.SHA256, URL: d.URL, Was: judgementOf(d.Document), Is: judgementOf(now), Score: now.Score, Reasons: now.Reasons, Matches: matches}
			if explain && !c.JSON {
				out.Lock()
				defer out.Unlock()
				return all[i].write(c.Out)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(r rejudged) bool { return r.SHA256 == "" })
	changed, n := changes(all)
	result := map[string]any{"documents": len(all), "changed": n, "changes": changed, "pruned": over.pruned.Load(), "lost": over.lost.Load(), "stalled": over.stalled.Load()}
	if explain {
		result["judgements"] = all
	}
	return c.Print(result, func(w io.Writer) error {
		fmt.Fprintf(w, "%s judged again, %d differently\n", text.Count(len(all), "document"), n)
		for _, how := range slices.Sorted(maps.Keys(changed)) {
			fmt.Fprintf(w, "  %5d  %s\n", changed[how], how)
		}
		over.write(w)
		return nil
	})
}

// changes counts what became of what.
func changes(all []rejudged) (how map[string]int, n int) {
	how = map[string]int{}
	for _, r := range all {
		if r.Was != r.Is {
			how[r.Was+" → "+r.Is]++
			n++
		}
	}
	return how, n
}

// passed counts documents that could not be judged again.
type passed struct{ pruned, lost, stalled atomic.Int64 }

// is reports whether a document with that error is passed over, and counts it.
func (p *passed) is(err error) bool {
	switch {
	case errors.Is(err, store.ErrPruned):
		p.pruned.Add(1)
	case errors.Is(err, repository.ErrNotFound):
		p.lost.Add(1)
	case errors.Is(err, collection.ErrStalled):
		p.stalled.Add(1)
	default:
		return false
	}
	return true
}

func (p *passed) write(w io.Writer) {
	tell := func(n int64, why string) {
		if n > 0 {
			fmt.Fprintf(w, "%d passed over: %s\n", n, why)
		}
	}
	tell(p.pruned.Load(), "their files were pruned, and what was judged of them stays")
	tell(p.lost.Load(), "their files are lost (starter verify names them), and what was judged of them stays")
	tell(p.stalled.Load(), "the machine was too busy to read them")
}

func (r rejudged) write(w io.Writer) error {
	change := r.Is
	if r.Was != r.Is {
		change = r.Was + " → " + r.Is
	}
	_, err := fmt.Fprintf(w, "%.12s  %s (%.2f)  %s\n  %s\n", r.SHA256, change, r.Score, r.URL, strings.Join(r.Reasons, "; "))
	for _, m := range r.Matches {
		fmt.Fprintf(w, "  %s %s: %s\n", m.Verdict, m.Paper, strings.Join(m.Reasons, "; "))
	}
	return err
}
