package crawl

import (
	"context"

	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/rank"
)

// judgedMembers is how many documents of one archive a slice judges. The rest is
// judged when the site ends, as all is that a slice did not get to: its host waits
// for none of that.
const judgedMembers = 8

// document keeps a file. It is judged when the visit is written.
func (s *slice) document(ctx context.Context, e *frontier.Entry, v *frontier.Visit, resp *fetch.Response) (rank.Result, error) {
	v.State = frontier.Document
	s.progress.Documents++
	f := s.file(e, v, resp)
	err := s.patiently(ctx, func() (err error) {
		s.unjudged, err = s.coll.Add(context.WithoutCancel(ctx), f)
		return err
	})
	if err == nil {
		err = s.patiently(ctx, func() error { return s.unpacked(ctx) })
	}
	return rank.Result{Document: true}, err
}

// judge examines the documents of the last visit, for as long as the crawl is
// wanted. What they are the crawl learns from; what it leaves stays kept, to be
// examined later.
func (s *slice) judge(ctx context.Context, url string) (rank.Result, error) {
	r := rank.Result{Document: true}
	shas := s.unjudged
	s.unjudged = nil
	for _, sha := range shas[:min(len(shas), judgedMembers)] {
		if ctx.Err() != nil || s.stop.Load() != nil {
			return r, nil // the loop says why
		}
		if err := s.hold(ctx); err != nil {
			return r, err
		}
		err := s.guarded(ctx, url, func() error { return s.judgeOne(ctx, sha, &r) })
		if err != nil && ctx.Err() == nil {
			// It is kept and waits to be examined; one file must not hold up
			// its site.
			s.log.WarnContext(ctx, "document cannot be examined yet", "sha256", sha, "url", url, "error", err)
		}
	}
	return r, nil
}

func (s *slice) judgeOne(ctx context.Context, sha string, r *rank.Result) error {
	j, err := s.coll.Judge(ctx, sha)
	if err != nil {
		return err
	}
	if j.Academic() {
		r.Accepted = true
		s.progress.Accepted++
	}
	if j.Found() {
		s.progress.Found++
		return s.foundPapers(ctx, j)
	}
	return nil
}
