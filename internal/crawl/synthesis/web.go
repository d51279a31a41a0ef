package synthesis

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path"
	"time"

	"gleaner/internal/crawl"
	"gleaner/internal/fetch"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/politeness"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

const (
	writeTime = 20 * time.Second
	contended = 200 * time.Millisecond // wait for a host that another holder has
)

// web is the queue in Postgres, the polite client and the library, for one slice of a
// collection's crawl. Between Next and Write it holds the lease of one host.
type web struct {
	*Maker
	collections.Crawl
	run   int // of the collection
	lease *politeness.Lease
	by    store.Slice // of the lease, which fences writes

	keeping *repository.Keeping // records exchanges; nil records nothing

	ctx   context.Context  // of requests under the lease, ends with it
	let   func()           // cancels ctx and releases the lease
	taken *collections.URL // taken URL without a result
}

// Next implements Queue: it leases the host of the best URL with a free host.
func (w *web) Next(ctx context.Context) (*collections.URL, time.Duration, error) {
	var pass []string
	for {
		host, wait, err := w.Host(ctx, pass)
		if err != nil || host == "" {
			if len(pass) > 0 {
				wait = max(wait, contended)
			}
			return nil, wait, err
		}
		lease, err := w.Keeper.Acquire(ctx, host)
		if _, ok := errors.AsType[*politeness.BusyError](err); ok {
			pass = append(pass, host)
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		w.hold(ctx, lease)
		u, err := w.Take(ctx, w.by, host, w.Config.RetryBase)
		w.taken = u
		if errors.Is(err, collections.ErrLimit) { // one in flight may still be refused
			w.release()
			return nil, contended, nil
		}
		if err != nil && !errors.Is(err, store.ErrNotHeld) || u != nil {
			return u, 0, err
		}
		w.release()
		pass = append(pass, host) // another slice has requested it meanwhile
	}
}

// hold renews a lease until release.
func (w *web) hold(ctx context.Context, lease *politeness.Lease) {
	ctx, cancel := context.WithCancelCause(ctx)
	free := lease.Hold(ctx, func() { cancel(politeness.ErrLost) })
	w.lease, w.ctx, w.let = lease, ctx, func() { cancel(nil); free() }
	w.by = store.Slice{SiteID: lease.SiteID, Token: lease.Token}
}

// release releases the held host. Its taken URL is queued again without a death.
func (w *web) release() {
	if w.taken != nil {
		leave, done := context.WithTimeout(context.WithoutCancel(w.ctx), 5*time.Second)
		defer done()
		_ = w.Leave(leave, w.by, w.taken) // otherwise it counts as one of several allowed deaths
		w.taken = nil
	}
	if w.let != nil {
		w.let()
		w.let, w.lease, w.ctx = nil, nil, nil
	}
}

// Ask implements Source. It takes a page fetched recently for a centroid from the cache.
func (w *web) Ask(_ context.Context, u *collections.URL) (*crawl.Answer, error) {
	if a := crawl.CachedAnswer(w.ctx, w.DB, u.Hash()); a != nil {
		return a, w.keeping.Cached(w.ctx, a.Response)
	}
	resp, err := w.Fetch.Fetch(w.ctx, fetch.Request{
		Terms: fetch.Terms{Gate: w.Keeper.Under(w.lease), Tape: w.keeping.Tape()},
		URL:   u.URL,
		Known: func(to string) bool { return w.Known(w.ctx, frontier.HashOf(to)) },
	})
	if err := w.keeping.Write(w.ctx, u.URL, u.Parent, u.Depth); err != nil {
		resp.Release()
		return nil, err
	}
	if err == nil {
		return &crawl.Answer{Response: resp}, nil
	}
	resp.Release()
	var busy *politeness.BusyError
	switch {
	case errors.Is(context.Cause(w.ctx), politeness.ErrLost):
		// Write returns the same error
		return nil, &fetch.Error{Outcome: fetch.Parked, URL: u.URL, Err: politeness.ErrLost}
	case errors.As(err, &busy) && busy.Paused != "" && busy.Of(u.Host):
		w.release() // a paused host is no attempt
		return nil, errLeft
	case errors.As(err, &busy): // perhaps after a redirect, which is an attempt
		return nil, &fetch.Error{Outcome: fetch.Parked, URL: u.URL, RetryAfter: max(busy.Wait, time.Second), Err: err}
	}
	return nil, err
}

// writes calls write even while the worker stops, and waits for an unavailable database.
func (m *Maker) writes(ctx context.Context, log *slog.Logger, write func(context.Context) error) error {
	return store.Patiently(ctx, store.Passes, func(err error) {
		log.WarnContext(ctx, "the record cannot be asked; waiting for it", "error", err)
	}, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
		defer cancel()
		return write(ctx)
	})
}

// Write implements Queue. After the loss of the lease it writes nothing, and the URL belongs to
// the new holder.
func (w *web) Write(ctx context.Context, v *collections.Visit) error {
	err := w.writes(ctx, w.Log.With("url", v.URL.URL), func(ctx context.Context) error { return w.Crawl.Write(ctx, w.by, v) })
	if err == nil {
		w.taken = nil
	}
	if !store.Unfit(err) { // otherwise the caller repeats it without the rejected data
		w.release()
	}
	if errors.Is(err, store.ErrNotHeld) {
		w.Log.WarnContext(ctx, "the lease of a host was lost over a request; it is asked again", "url", v.URL.URL)
		return nil
	}
	return err
}

// State implements Queue. It returns an ended state for a slice of an earlier run, whose
// collection was ended and continued meanwhile.
func (w *web) State(ctx context.Context) (collections.CrawlState, error) {
	s, err := w.Record.State(ctx, w.ID)
	s.Ended = s.Ended || s.Run != w.run
	return s, err
}

func (w *web) file(u *collections.URL, a *crawl.Answer) collection.File {
	f := collection.File{SiteID: w.lease.SiteID, URL: a.URL, Parent: u.Parent, Anchor: u.Anchor, Header: a.Header, Body: a.Body, At: a.FetchedAt, Token: w.lease.Token}
	if a.URL != u.URL {
		f.Asked = u.URL
	}
	return f
}

func (w *web) Read(ctx context.Context, u *collections.URL, a *crawl.Answer) (title, text, why string, err error) {
	t, err := w.Coll.Read(ctx, w.file(u, a))
	if err != nil {
		return "", "", "", err
	}
	title = cmp.Or(t.Title, path.Base(a.URL))
	if !t.HasText() {
		return title, "", string(t.Outcome), nil
	}
	return title, t.String(), "", nil
}

// Keep implements Documents: it stores the file in the library and judges it like any crawled
// file.
func (w *web) Keep(ctx context.Context, u *collections.URL, a *crawl.Answer) (sha string, v crawl.Verdict, err error) {
	k, err := w.Coll.Keep(ctx, w.file(u, a))
	if err != nil {
		return "", v, err
	}
	defer k.Release()
	for _, d := range k.Documents {
		j, err := w.Coll.Judge(ctx, d, collection.Once)
		if err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "document cannot be examined yet", "sha256", d.SHA256, "url", u.URL, "error", err)
		}
		v.Accepted, v.Found = v.Accepted || j.Academic(), v.Found || j.Found()
	}
	return k.Documents[0].SHA256, v, nil
}
