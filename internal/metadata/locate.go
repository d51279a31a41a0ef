package metadata

import (
	"context"

	"gleaner/internal/venue"
)

// Located is what all sources together know of one paper's copies.
type Located struct {
	Paper  venue.Paper
	Copies []Copy // ranked
	// Failed names the sources that could not be asked, with the reason: what
	// they know is missing here.
	Failed map[string]error
}

// LocateCopies asks every source for every paper, with as few requests as each
// source allows, and ranks what comes. A source that fails is noted with the
// papers concerned and does not keep the others from answering; one that is
// unavailable or refuses is not asked for the rest. Only ctx's end is an error.
func LocateCopies(ctx context.Context, sources []CopySource, papers []venue.Paper) ([]Located, error) {
	out := make([]Located, len(papers))
	for i, p := range papers {
		out[i].Paper = p
	}
	for _, s := range sources {
		if err := askAll(ctx, s, papers, out); err != nil {
			return nil, err
		}
	}
	for i := range out {
		out[i].Copies = Rank(out[i].Copies)
	}
	return out, nil
}

// askAll adds one source's answers.
func askAll(ctx context.Context, s CopySource, papers []venue.Paper, out []Located) error {
	if batch, ok := s.(BatchCopySource); ok {
		lists, err := batch.CopiesOf(ctx, papers)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for i := range out {
			if err != nil {
				out[i].fail(s.Name(), err)
				continue
			}
			out[i].Copies = append(out[i].Copies, lists[i]...)
		}
		return nil
	}
	var stopped error
	for i, p := range papers {
		if stopped != nil {
			out[i].fail(s.Name(), stopped)
			continue
		}
		list, err := s.Copies(ctx, p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			out[i].fail(s.Name(), err)
			if isUnavailable(err) || isRefused(err) {
				stopped = err
			}
			continue
		}
		out[i].Copies = append(out[i].Copies, list...)
	}
	return nil
}

func (l *Located) fail(source string, err error) {
	if l.Failed == nil {
		l.Failed = map[string]error{}
	}
	l.Failed[source] = err
}
