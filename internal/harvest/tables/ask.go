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

// hostsAtOnce is how many hosts are asked for parent pages at a time.
const hostsAtOnce = 16

// errThere ends the reading of a page that is there.
var errThere = errors.New("it is there")

// askParents asks for the next parent pages that no crawl has on record and that were not
// asked for since the day on which the job began (C §4.2: dead links). Only the header of
// an answer is read.
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
				if full() { // and no request is broken off
					return nil
				}
				gone := ""
				err := guard.Logged(ctx, w.Log, p.URL, func() (err error) { gone, err = w.isGone(ctx, p.URL); return err })
				if err == nil || guard.Panicked(err) { // a page that makes the program panic is there
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

// isGone asks for a page and returns the outcome by which it is gone: its server says so,
// or there is no such host. "" is any other answer. An error is the program's own.
func (w *work) isGone(ctx context.Context, url string) (string, error) {
	resp, err := w.Fetch.Fetch(ctx, fetch.Request{
		URL:           url,
		FollowOffHost: true,
		Unwanted:      func(http.Header, int64) error { return errThere },
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
