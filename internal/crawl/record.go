package crawl

import (
	"context"
	"errors"
	"time"

	"gleaner/internal/library/collection"
	"gleaner/internal/politeness"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// record is the Recorder over Postgres. It waits while the database is unavailable.
type record struct{ *slice }

// of identifies the slice to the record.
func (s *slice) of() store.Slice {
	return store.Slice{SiteID: s.site.ID, Crawl: s.site.Crawl, Token: s.lease.Token}
}

func (r record) Window(ctx context.Context, size int) (best []frontier.Entry, all bool, err error) {
	err = r.patiently(ctx, func() error {
		if best, err = frontier.Window(ctx, r.db.Pool, r.site.ID, size); err != nil {
			return err
		}
		waiting, err := frontier.Count(ctx, r.db.Pool, r.site.ID, len(best)+1)
		all = waiting <= len(best)
		return err
	})
	return best, all, err
}

// Write implements Recorder. It writes in one transaction, fenced by the token of the lease:
// a slice that lost it writes nothing.
func (r record) Write(ctx context.Context, w store.SliceWrite) (out frontier.Written, err error) {
	tries := 0
	err = r.patiently(ctx, func() error {
		tries++
		out, err = r.db.WriteSlice(ctx, r.of(), w)
		return err
	})
	err = lost(err)
	out.Repeated = tries > 1
	return out, err
}

func (r record) LookUp(ctx context.Context, hashes []frontier.Hash) (known []frontier.Known, err error) {
	err = r.patiently(ctx, func() error {
		known, err = frontier.LookUp(context.WithoutCancel(ctx), r.db.Pool, r.site.ID, hashes)
		return err
	})
	return known, err
}

func (r record) Fetched(ctx context.Context, h frontier.Hash) bool {
	done, err := frontier.Fetched(ctx, r.db.Pool, r.site.ID, h, r.site.Crawl)
	return done && err == nil
}

func (r record) Left(ctx context.Context, maxDepth int) (relaxed int, next time.Time, err error) {
	err = r.patiently(ctx, func() error {
		if relaxed, err = frontier.Relax(ctx, r.db.Pool, r.site.ID, maxDepth); err != nil || relaxed > 0 {
			return err
		}
		next, err = frontier.NextTry(ctx, r.db.Pool, r.site.ID)
		return err
	})
	return relaxed, next, err
}

func (r record) Hold(ctx context.Context) error { return r.hold(ctx) }

// recall loads the state of earlier slices into the loop.
func (r record) recall(ctx context.Context, l *loop) error {
	db, site := r.db.Pool, r.site.ID
	// The lists may have changed since they excluded links.
	if _, err := l.links.scope.readmit(ctx, db, site); err != nil {
		return err
	}
	if err := frontier.EachKnown(ctx, db, site, r.site.Crawl, l.links.seen.load); err != nil {
		return err
	}
	if err := r.db.Leads(ctx, site, l.links.leads.note); err != nil {
		return err
	}
	err := frontier.EachLead(ctx, db, site, func(v *frontier.Visit) { l.misses.count(giverDomain(r.site.Host, v.Entry), v) })
	if err != nil {
		return err
	}
	var files int
	if l.links.keptBytes, files, err = frontier.KeptSize(ctx, db, site); err != nil {
		return err
	}
	l.links.fileRoom -= files
	if l.cfg.Browser != nil {
		err := frontier.EachShown(ctx, db, site, r.site.Crawl, func(url string, failures int) {
			l.shells.count(url, max(1, failures*shownFailing))
		})
		if err != nil {
			return err
		}
	}
	titles, err := r.db.TitlesFound(ctx, site)
	if err != nil {
		return err
	}
	l.noteFound(titles)
	_, err = frontier.RetryDue(ctx, db, site)
	return err
}

// library is the Judge over the collection. It waits while the record is unavailable.
type library struct{ *slice }

func (b library) Ready(ctx context.Context) error { return b.coll.Ready(ctx) }

func (b library) Keep(ctx context.Context, f collection.File) (k *collection.Kept, err error) {
	f.Token = b.lease.Token
	err = b.patiently(ctx, func() error {
		k, err = b.coll.Keep(ctx, f)
		return err
	})
	return k, lost(err)
}

func (b library) Judge(ctx context.Context, d collection.Document) (Verdict, error) {
	j, err := b.coll.Judge(ctx, d, collection.Quick)
	if err != nil {
		return Verdict{}, err
	}
	return b.verdict(ctx, j)
}

func (b library) KeepPage(ctx context.Context, f collection.File, titles []string, visible string) (v Verdict, is bool, err error) {
	f.Token = b.lease.Token
	err = b.patiently(ctx, func() error {
		var j collection.Judgement
		if j, is, err = b.coll.AddPage(context.WithoutCancel(ctx), f, titles, visible); err == nil && is {
			v = Verdict{Accepted: j.Academic(), Found: j.Found()}
		}
		return err
	})
	return v, is, lost(err)
}

// lost turns the error of a write by a slice that no longer holds the site into ErrLost.
func lost(err error) error {
	if errors.Is(err, store.ErrNotHeld) {
		return politeness.ErrLost
	}
	return err
}

func (b library) verdict(ctx context.Context, j collection.Judgement) (v Verdict, err error) {
	v = Verdict{Accepted: j.Academic(), Found: j.Found()}
	if v.Found {
		v.Titles, err = b.db.TitlesOf(ctx, j.Papers())
	}
	return v, err
}
