package synthesis

import (
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
	contended = 200 * time.Millisecond // before a host is looked at again that another has
)

// web is the queue in Postgres, the polite client and the library: one slice of a
// collection's crawl. Between Next and Write it holds the lease of one host.
type web struct {
	*Maker
	collections.Crawl
	run   int // of the collection, that this slice is of
	lease *politeness.Lease
	by    store.Slice // of the lease, under which the record is written

	keeping *repository.Keeping // of what is exchanged; nil keeps nothing

	ctx   context.Context  // of the requests under the lease, which ends with it
	let   func()           // ends it and gives the lease back
	taken *collections.URL // of which nothing is written yet
}

// Next implements Queue: it leases the host of the best URL whose host is free.
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
		if errors.Is(err, collections.ErrLimit) { // one under way may yet be refused
			w.release()
			return nil, contended, nil
		}
		if err != nil && !errors.Is(err, store.ErrNotHeld) || u != nil {
			return u, 0, err
		}
		w.release()
		pass = append(pass, host) // another slice has asked for it meanwhile
	}
}

// hold renews a lease until release.
func (w *web) hold(ctx context.Context, lease *politeness.Lease) {
	ctx, cancel := context.WithCancelCause(ctx)
	free := lease.Hold(ctx, func() { cancel(politeness.ErrLost) })
	w.lease, w.ctx, w.let = lease, ctx, func() { cancel(nil); free() }
	w.by = store.Slice{SiteID: lease.SiteID, Token: lease.Token}
}

// release gives the host back, if one is held. What was taken of it waits again: who
// gives it back did not die over it.
func (w *web) release() {
	if w.taken != nil {
		leave, done := context.WithTimeout(context.WithoutCancel(w.ctx), 5*time.Second)
		defer done()
		_ = w.Leave(leave, w.by, w.taken) // else it counts as one death, of several that it takes
		w.taken = nil
	}
	if w.let != nil {
		w.let()
		w.let, w.lease, w.ctx = nil, nil, nil
	}
}

// Ask implements Source. What was fetched lately for a centroid is taken from there.
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
		return nil, &fetch.Error{Outcome: fetch.Parked, URL: u.URL, Err: politeness.ErrLost} // which Write will find, too
	case errors.As(err, &busy) && busy.Paused != "" && busy.Of(u.Host):
		w.release() // what a person has not asked is no try
		return nil, errLeft
	case errors.As(err, &busy): // perhaps after a redirect: the URL was asked for then
		return nil, &fetch.Error{Outcome: fetch.Parked, URL: u.URL, RetryAfter: max(busy.Wait, time.Second), Err: err}
	}
	return nil, err
}

// writes writes also when the worker is being stopped, and waits for a database that is away.
func (m *Maker) writes(ctx context.Context, log *slog.Logger, write func(context.Context) error) error {
	return store.Patiently(ctx, store.Passes, func(err error) {
		log.WarnContext(ctx, "the record cannot be asked; waiting for it", "error", err)
	}, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
		defer cancel()
		return write(ctx)
	})
}

// Write implements Queue. Who lost the lease writes nothing, and the URL waits for who has
// it now.
func (w *web) Write(ctx context.Context, v *collections.Visit) error {
	err := w.writes(ctx, w.Log.With("url", v.URL.URL), func(ctx context.Context) error { return w.Crawl.Write(ctx, w.by, v) })
	if err == nil {
		w.taken = nil
	}
	if !store.Unfit(err) { // else the same visit comes again, without what cannot be kept
		w.release()
	}
	if errors.Is(err, store.ErrNotHeld) {
		w.Log.WarnContext(ctx, "the lease of a host was lost over a request; it is asked again", "url", v.URL.URL)
		return nil
	}
	return err
}

// Standing implements Queue. For a slice that nobody could reach while its collection was
// ended and gone on with, under other options perhaps, it has ended.
func (w *web) Standing(ctx context.Context) (collections.Standing, error) {
	s, err := w.Record.Standing(ctx, w.ID)
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
	if title = t.Title; title == "" {
		title = path.Base(a.URL)
	}
	if !t.HasText() {
		return title, "", string(t.Outcome), nil
	}
	return title, t.String(), "", nil
}

// Keep implements Documents: the file is in the library then, and judged as each file
// is that a crawl finds.
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
