package crawl

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/rank"
	"gleaner/internal/recrawl"
)

// unchanged reports whether a visit brought nothing that was not known.
func unchanged(v *frontier.Visit) bool { return v.Outcome == fetch.NotModified }

// unchanged is a URL that is as it was: by its own word (304), or because the
// same bytes came again.
func (s *slice) unchanged(e *frontier.Entry, v *frontier.Visit) rank.Result {
	v.Outcome, v.State = fetch.NotModified, e.Was
	if e.Was == frontier.Waiting { // fetched before Was was kept
		v.State = frontier.Page
		if e.Document {
			v.State = frontier.Document
		}
	}
	if v.ETag == "" && v.LastModified == "" { // a 304 need not repeat them
		v.ETag, v.LastModified = e.ETag, e.LastModified
	}
	if v.State == frontier.Document {
		return rank.Result{Document: true}
	}
	s.progress.Pages++
	return rank.Result{}
}

// schedule decides when a URL is worth asking again.
func (s *slice) schedule(e *frontier.Entry, v *frontier.Visit, r rank.Result) {
	event, document := eventOf(v, r), v.State == frontier.Document || e.Was == frontier.Document
	if v.State == frontier.Failed && !v.NextTry.IsZero() {
		v.Interval = e.Interval
		return // asked again in this crawl
	}
	if !e.Visited.IsZero() {
		event = event.After(v.At.Sub(e.Visited), e.Interval)
	}
	next, again := s.cfg.Recrawl.Next(document, e.Interval, event)
	v.Interval = next
	if again {
		v.Due = v.At.Add(next)
	}
}

// eventOf says what a visit told of its URL.
func eventOf(v *frontier.Visit, r rank.Result) recrawl.Event {
	switch {
	case unchanged(v):
		return recrawl.Unchanged
	case v.State == frontier.Failed:
		return recrawl.Failing
	case v.State == frontier.Gone && (v.Status == 404 || v.Outcome == outcomeSoftMissing):
		return recrawl.NotFound
	case v.State == frontier.Gone:
		return recrawl.Permanent
	case r.NewDocs > 0:
		return recrawl.Gained
	}
	return recrawl.Changed
}

// writeSeen notes at a document's locations that it was seen there again, or
// that it vanished: its file and all that is known of it stay. Where a link that
// redirected to a document does so no longer, the document's own address is asked.
func (s *slice) writeSeen(ctx context.Context, tx pgx.Tx) error {
	var seen, gone [][]byte
	var turned, seenAt, goneAt []string
	for i := range s.batch.visits {
		v := &s.batch.visits[i]
		if v.Entry.Was != frontier.Document {
			continue
		}
		h := v.Entry.Hash()
		switch v.State {
		case frontier.Document:
			seen, seenAt = append(seen, h[:]), append(seenAt, v.Entry.Link.URL)
		case frontier.Gone, frontier.Page, frontier.Moved:
			gone, goneAt = append(gone, h[:]), append(goneAt, v.Entry.Link.URL)
		default:
			continue
		}
		if !unchanged(v) {
			turned = append(turned, v.Entry.Link.URL)
		}
	}
	if len(turned) > 0 {
		n, err := frontier.AskAliases(ctx, tx, s.site.ID, turned)
		if err != nil {
			return err
		}
		s.window.all = s.window.all && n == 0
	}
	now := time.Now()
	if err := s.mark(ctx, tx, `seen_at=$4`, seen, seenAt, now); err != nil {
		return err
	}
	return s.mark(ctx, tx, `gone_at=$4, current=false`, gone, goneAt, now)
}

// mark sets something at the locations of documents of this site: of files by
// their hashes, of the members of archives, which have hashes of their own, by the
// archives' URLs. Each way has its index.
func (s *slice) mark(ctx context.Context, tx pgx.Tx, set string, hashes [][]byte, urls []string, now time.Time) error {
	if len(hashes) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE locations SET `+set+` WHERE site_id=$1 AND current AND (hash, sha256) IN (
			SELECT hash, sha256 FROM locations WHERE hash = ANY($2)
			UNION ALL SELECT hash, sha256 FROM locations WHERE site_id=$1 AND member <> '' AND md5(url) = ANY(SELECT md5(u) FROM unnest($3::text[]) u))`,
		s.site.ID, hashes, urls, now)
	return err
}
