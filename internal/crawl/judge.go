package crawl

import (
	"context"
	"errors"

	"gleaner/internal/library/collection"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
)

// judgedMembers is how many documents of one archive a slice judges. The rest is
// judged when the site ends, as all is that a slice did not get to: its host waits
// for none of that.
const judgedMembers = 8

// leastMember is what a document from an archive counts for at least, in bytes: it
// is stored, read and matched however small it is, and an archive of a few KiB has
// hundreds.
const leastMember = 1 << 20

// document keeps a file. It is judged when the visit is written.
func (l *loop) document(ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer) (_ rank.Result, err error) {
	v.State = frontier.Document
	l.progress.Documents++
	if l.kept, err = l.library.Keep(ctx, l.file(e, v, a)); err != nil {
		return rank.Result{Document: true}, err
	}
	if n := len(l.kept.Documents); n > 1 {
		l.brings(e, max(l.kept.Bytes, int64(n)*leastMember)) // of an archive there may be a thousand times what was received
	}
	if l.kept.Cut != "" {
		v.Reason = leftOut(v.Reason, []string{l.kept.Cut})
	}
	return rank.Result{Document: true}, err
}

// release lets go of the documents of the last visit.
func (l *loop) release() {
	l.kept.Release()
	l.kept = nil
}

// judge examines the documents of the last visit, for as long as the crawl is
// wanted. What they are the crawl learns from; what it leaves stays kept, to be
// examined later.
func (l *loop) judge(ctx context.Context, url string) (rank.Result, error) {
	r := rank.Result{Document: true}
	defer l.release()
	docs := l.kept.Documents
	for _, d := range docs[:min(len(docs), judgedMembers)] {
		if ctx.Err() != nil || l.stop.Load() != nil {
			return r, nil // the loop says why
		}
		if err := l.record.Hold(ctx); err != nil {
			return r, err
		}
		err := l.guarded(ctx, url, func() error { return l.judgeOne(ctx, d, &r) })
		if err != nil && ctx.Err() == nil && !errors.Is(err, collection.ErrUnrecognised) {
			// It is kept and waits to be examined; one file must not hold up
			// its site.
			l.log.WarnContext(ctx, "document cannot be examined yet", "sha256", d.SHA256, "url", url, "error", err)
		}
	}
	return r, nil
}

func (l *loop) judgeOne(ctx context.Context, d collection.Document, r *rank.Result) error {
	v, err := l.library.Judge(ctx, d)
	r.Accepted = r.Accepted || v.Accepted
	l.count(v)
	if v.Found {
		l.noteFound(v.Titles)
		l.leaveOut()
	}
	return err
}

// count counts what a document turned out to be.
func (l *loop) count(v Verdict) {
	if v.Accepted {
		l.progress.Accepted++
	}
	if v.Found {
		l.progress.Found++
	}
}
