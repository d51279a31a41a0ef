package metadata

import (
	"context"
	"slices"

	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
)

// Located is what all sources together know of one paper's copies.
type Located struct {
	Paper  gleaner.Paper
	Copies []Copy // ranked
	// Failed names the sources that could not be asked, with the reason: what
	// they know is missing here.
	Failed map[string]error
}

// LocateCopies asks every source for every paper, the sources side by side, with
// as few requests as each allows, and ranks what comes. A source that fails is
// noted with the papers concerned and does not keep the others from answering;
// one that is unavailable or refuses is not asked for the rest. Only the end of
// ctx is an error, and a failure of the gate, which is no source's.
func LocateCopies(ctx context.Context, sources []CopySource, papers []gleaner.Paper) ([]Located, error) {
	lists := make([][][]Copy, len(sources))
	failed := make([][]error, len(sources))
	g, _ := guard.WithContext(ctx)
	for i, s := range sources {
		// Each source has a host, and thereby a pace, of its own.
		g.Go(func() error {
			if err := guard.Run(func() error { lists[i], failed[i] = askAll(ctx, s, papers); return nil }); err != nil {
				lists[i], failed[i] = make([][]Copy, len(papers)), slices.Repeat([]error{err}, len(papers))
			}
			return nil
		})
	}
	_ = g.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i := range failed {
		if at := slices.IndexFunc(failed[i], is[ErrGate]); at >= 0 {
			return nil, failed[i][at]
		}
	}
	out := make([]Located, len(papers))
	for n, p := range papers {
		out[n].Paper, out[n].Failed = p, map[string]error{}
		for i, s := range sources {
			out[n].Copies = append(out[n].Copies, lists[i][n]...)
			if err := failed[i][n]; err != nil {
				out[n].Failed[s.Name()] = err
			}
		}
		out[n].Copies = rankOf(out[n].Copies)
	}
	return out, nil
}

// askAll asks one source; both results have one place for each paper.
func askAll(ctx context.Context, s CopySource, papers []gleaner.Paper) ([][]Copy, []error) {
	lists, failed := make([][]Copy, len(papers)), make([]error, len(papers))
	if batch, ok := s.(BatchCopySource); ok {
		all, err := batch.CopiesOf(ctx, papers)
		if err == nil {
			return all, failed
		}
		for i := range failed {
			failed[i] = err
		}
		return lists, failed
	}
	var stopped error
	for i, p := range papers {
		if stopped == nil {
			lists[i], failed[i] = s.Copies(ctx, p)
		} else {
			failed[i] = stopped
		}
		if is[ErrUnavailable](failed[i]) || is[ErrRefused](failed[i]) || is[ErrGate](failed[i]) || ctx.Err() != nil {
			stopped = failed[i]
		}
	}
	return lists, failed
}
