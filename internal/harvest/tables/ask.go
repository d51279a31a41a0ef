package tables

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/guard"
	"gleaner/internal/record/store"
)

// hostsAtOnce is the number of hosts that are queried concurrently.
const hostsAtOnce = 16

// errExists ends the reading of an existing page.
var errExists = errors.New("it is there")

// askParents requests the next parent pages without a record of a crawl or of a request since the
// start of the job (C §4.2: dead links). It reads only the header of an answer.
func (w *work) askParents(ctx context.Context, at store.ParentAt) error {
	if !w.options.Ask || at.Listed {
		return nil
	}
	next, err := w.DB.Parents(ctx, "", at, w.Batch)
	if err != nil {
		return err
	}
	byHost := map[string][]store.Parent{}
	for _, p := range next {
		asked := p.Asked != nil && !p.Asked.Before(w.job.Started.Truncate(24*time.Hour))
		if p.Why == "" && !p.Met && !asked {
			byHost[p.Host] = append(byHost[p.Host], p)
		}
	}
	var asked atomic.Int64
	full := func() bool { return asked.Load() > 0 && time.Since(w.began) >= w.Slice }
	group, ctx := guard.WithContext(ctx)
	group.SetLimit(hostsAtOnce)
	for _, pages := range byHost {
		group.Go(func() error {
			for _, p := range pages {
				if full() { // requests are not interrupted
					return nil
				}
				gone := ""
				err := guard.Logged(ctx, w.Log, p.URL, func() (err error) { gone, err = w.isGone(ctx, p.URL); return err })
				if err == nil || guard.Panicked(err) { // a page that causes a panic exists
					err = w.DB.MarkAsked(ctx, p.Page, gone)
				}
				if err != nil {
					return err
				}
				asked.Add(1)
			}
			return nil
		})
	}
	err = group.Wait()
	w.done.Counters.Asked += asked.Load()
	if err == nil && full() {
		err = errFull
	}
	return err
}

// isGone requests a page and returns the outcome that proves its absence: the server's status, or
// a missing host. It returns "" for any other answer. An error is not the page's.
func (w *work) isGone(ctx context.Context, url string) (string, error) {
	resp, err := w.Fetch.Fetch(ctx, fetch.Request{
		URL:           url,
		FollowOffHost: true,
		Unwanted:      func(http.Header, int64) error { return errExists },
	})
	resp.Release()
	var fe *fetch.Error
	var unknown *net.DNSError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case !errors.As(err, &fe):
		return "", err
	case fe.Outcome == fetch.Canceled:
		return "", err
	case fe.Outcome == fetch.NotFound, errors.As(err, &unknown) && unknown.IsNotFound:
		return string(fe.Outcome), nil
	}
	return "", nil
}
