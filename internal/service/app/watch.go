package app

import (
	"context"
	"errors"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
)

// Watch is told what is done, as it is done. It must not block.
type Watch interface {
	// Fetched is one request for a page or a document, its outcome, and of an
	// answer how long it took without the wait for its turn.
	Fetched(outcome string, took time.Duration, bytes int64)
	// Crawled counts what a slice did since the last call.
	Crawled(pages, documents, accepted, found int)
	// SliceEnded is called once a slice, with why it ended.
	SliceEnded(ending string)
	// Judged is one document read, filtered and matched.
	Judged(state, class string, took time.Duration)
}

// unwatched is the Watch of an App that nobody watches.
type unwatched struct{}

func (unwatched) Fetched(string, time.Duration, int64) {}
func (unwatched) Crawled(int, int, int, int)           {}
func (unwatched) SliceEnded(string)                    {}
func (unwatched) Judged(string, string, time.Duration) {}

// watchedClient tells a Watch of every fetch.
type watchedClient struct {
	*fetch.Client
	watch Watch
}

// Fetch fetches with the client and tells of it.
func (w watchedClient) Fetch(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	resp, err := w.Client.Fetch(ctx, r)
	var fe *fetch.Error
	switch {
	case err == nil:
		w.watch.Fetched(string(gleaner.OK), resp.Elapsed, resp.Bytes)
	case errors.As(err, &fe):
		w.watch.Fetched(string(fe.Outcome), 0, 0)
	}
	return resp, err
}
