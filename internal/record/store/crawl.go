package store

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"gleaner/internal/each"
	"gleaner/internal/record/frontier"
)

// ErrNotHeld is returned to a slice whose site another process has taken over: it
// wrote nothing.
var ErrNotHeld = errors.New("store: another process holds the site by now")

// Slice names a slice: its site, the crawl of which it is a part, and the token of
// the lease under which it writes.
type Slice struct {
	SiteID int
	Crawl  int
	Token  int64
}

// Holds reports with ErrNotHeld that the lease was lost; else nobody takes it before the
// transaction ends.
func (s Slice) Holds(ctx context.Context, tx pgx.Tx) error {
	return unlessNone(ErrNotHeld)(tx.Exec(ctx, `SELECT FROM sites WHERE id=$1 AND token=$2 FOR NO KEY UPDATE`, s.SiteID, s.Token))
}

// CrawlProgress is how far the crawl of a site is, over all its slices.
type CrawlProgress struct {
	Pages    int           // requests
	Read     int           // pages whose links were followed
	Relevant int           // those of them that lead to documents
	Bytes    int64         // that it brought
	Time     time.Duration // that its slices took, with their waits for the host
	Sections []Section     // by user; those that changed where it is written
}

// Section is what a crawl got from one user's directory of a host.
type Section struct {
	Dir      string // /~ada/; "" for what lies in none
	Read     int    // pages whose links were followed
	Relevant int    // those of them that lead to documents
	Bytes    int64
	Left     int  // links that were left out, since a limit was reached
	Pauses   int  // of the host, for long, that its answers are the reason for; -1: none but in the crawl before
	Changed  bool `db:"-"` // since it was written
}

// BeginCrawl begins a crawl of a site. One that was a trap goes on counting where
// only leads were given to it since: they are taken, and what else waits is not
// worth more than it was. A new homepage has a crawl of its own. All of it is one
// transaction, fenced by the lease: what the last crawl got counts against no limit of this one.
func (db CrawlRecords) BeginCrawl(ctx context.Context, of Slice) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		if err := of.Holds(ctx, tx); err != nil {
			return err
		}
		b := &pgx.Batch{}
		// Where nothing waits no page gives them anew, and the end of the last crawl may not have been heard of.
		b.Queue(`DELETE FROM leads WHERE from_site=$1
			AND EXISTS (SELECT FROM urls WHERE site_id=$1 AND (state=0 OR state=3 AND next_try IS NOT NULL))`, of.SiteID)
		b.Queue(`WITH still AS (SELECT trap_seq > 0 AND NOT EXISTS (SELECT 1 FROM urls u
				WHERE u.site_id=s.id AND u.state=0 AND u.seq > s.trap_seq AND u.source='seed' AND u.role=0) AS trap FROM sites s WHERE id=$1)
			UPDATE sites SET state='crawling', reason='', crawl=$2, crawl_pages=0, crawl_bytes=0, crawl_time='0', crawl_read=CASE WHEN trap THEN crawl_read ELSE 0 END,
				crawl_relevant=CASE WHEN trap THEN crawl_relevant ELSE 0 END, crawl_started=now() FROM still WHERE id=$1`, of.SiteID, of.Crawl)
		b.Queue(`UPDATE crawl_sections SET bytes=0, pauses=-(pauses > 0)::int, read=read*goes_on, relevant=relevant*goes_on, left_out=left_out*goes_on
			FROM (SELECT (crawl_read > 0)::int AS goes_on FROM sites WHERE id=$1) AS s WHERE site_id=$1`, of.SiteID)
		return tx.SendBatch(ctx, b).Close()
	})
}

// BeginSlice counts the slice until it comes to an orderly end, or gets something
// done. It returns how many before it did not, in a row, and how far the crawl is. As long
// as a URL waits over which a process died, there is one at least.
// Where the one before was working on an answer, that URL is charged with its death
// (frontier.Charge).
func (db CrawlRecords) BeginSlice(ctx context.Context, of Slice, rest time.Duration) (attempts int, at CrawlProgress, err error) {
	err = db.Tx(ctx, func(tx pgx.Tx) error {
		var handling []byte
		err := tx.QueryRow(ctx, `UPDATE sites SET attempts = attempts + 1 WHERE id=$1 AND token=$2
				RETURNING attempts - 1, crawl_pages, crawl_read, crawl_relevant, crawl_bytes, crawl_time, handling`,
			of.SiteID, of.Token).Scan(&attempts, &at.Pages, &at.Read, &at.Relevant, &at.Bytes, &at.Time, &handling)
		if err != nil {
			return err
		}
		at.Sections, err = List[Section](ctx, tx, `SELECT dir, read, relevant, bytes, left_out, pauses
			FROM crawl_sections WHERE site_id=$1`, of.SiteID)
		if err != nil {
			return err
		}
		if handling != nil {
			if err := frontier.Charge(ctx, tx, of.SiteID, frontier.Hash(handling), of.Crawl, rest); err != nil {
				return err
			}
		}
		attempts, err = Get[int](ctx, tx, `WITH no AS (UPDATE sites SET handling=NULL WHERE id=$1 AND handling IS NOT NULL)
			SELECT greatest($2, (SELECT count(*) FROM urls
				WHERE site_id=$1 AND deaths > 0 AND (state=0 OR state=3 AND next_try IS NOT NULL)))`, of.SiteID, attempts)
		return err
	})
	return attempts, at, err
}

// Handling notes which URL a slice works on from now on.
func (db CrawlRecords) Handling(ctx context.Context, of Slice, h frontier.Hash) error {
	return db.Exec(ctx, `UPDATE sites SET handling=$3 WHERE id=$1 AND token=$2`, of.SiteID, of.Token, h)
}

// SliceWrite is what a slice writes at once.
type SliceWrite struct {
	*frontier.Batch
	Progress CrawlProgress
	Learnt   json.RawMessage // by the strategy; nil leaves what is written
	Last     bool            // the slice ends with it,
	Orderly  bool            // and by itself
}

// WriteSlice writes what a slice did in one transaction, fenced by its lease: one
// that lost it writes nothing (ErrNotHeld). It takes the rows of all its sites in
// the order in which everybody takes them: the next one may be a slice of a site
// that leads here.
//
// Many links of a site that leads to others are entered before, in a transaction of their
// own, since they take seconds: rows of other hosts are held as long as their own leads
// take.
func (db CrawlRecords) WriteSlice(ctx context.Context, of Slice, w SliceWrite) (out frontier.Written, err error) {
	before := map[frontier.Hash]frontier.Added{}
	if len(w.Leads) > 0 && len(w.Links) > manyLinks {
		batch := *w.Batch
		var many []frontier.Entry
		many, batch.Links = unvisited(w.Batch)
		err = db.Tx(ctx, func(tx pgx.Tx) (err error) {
			if err = of.Holds(ctx, tx); err == nil {
				before, err = frontier.Add(ctx, tx, of.SiteID, many)
			}
			return err
		})
		if err != nil {
			return out, err
		}
		w.Batch = &batch
	}
	err = db.Tx(ctx, func(tx pgx.Tx) (err error) {
		out, err = writeSlice(ctx, tx, of, w)
		return err
	})
	if out.Added == nil {
		out.Added = before
	} else {
		maps.Copy(out.Added, before)
	}
	return out, err
}

// manyLinks are so many that to enter them takes a tenth of a second.
const manyLinks = 500

// unvisited divides the links of a batch by whether they were visited in it.
func unvisited(b *frontier.Batch) (not, visited []frontier.Entry) {
	of := each.Set(b.Visits, func(v frontier.Visit) frontier.Hash { return v.Entry.Hash() })
	not = each.Where(b.Links, func(e frontier.Entry) bool { return !of[e.Hash()] })
	return not, each.Where(b.Links, func(e frontier.Entry) bool { return of[e.Hash()] })
}

func writeSlice(ctx context.Context, tx pgx.Tx, of Slice, w SliceWrite) (out frontier.Written, err error) {
	var hosts []string
	var sites []int
	if len(w.Leads) > 0 {
		if hosts, sites, err = holdSites(ctx, tx, of.SiteID, w.Leads); err != nil {
			return out, err
		}
	}
	// Before all else the site's own row: it holds off a take-over until the commit.
	if err := writeProgress(ctx, tx, of, w); err != nil {
		return out, err
	}
	if err := frontier.Done(ctx, tx, of.SiteID, w.Visits); err != nil {
		return out, err
	}
	if err := saveParents(ctx, tx, readPages(w.Read)); err != nil {
		return out, err
	}
	aliases, err := writeSeen(ctx, tx, of.SiteID, w.Visits)
	if err != nil {
		return out, err
	}
	if out.Added, err = frontier.Add(ctx, tx, of.SiteID, w.Links); err != nil {
		return out, err
	}
	if err := frontier.AddAliases(ctx, tx, of.SiteID, of.Crawl, w.Aliases); err != nil {
		return out, err
	}
	if err := frontier.Link(ctx, tx, of.SiteID, w.Read); err != nil {
		return out, err
	}
	changed, err := frontier.AskChanged(ctx, tx, of.SiteID, of.Crawl, w.Changed)
	if err != nil {
		return out, err
	}
	for i, host := range hosts {
		if _, err := writeLeads(ctx, tx, "", of.SiteID, sites[i], w.Leads[host]); err != nil {
			return out, err
		}
	}
	out.Again = aliases + changed
	return out, nil
}

// holdSites makes rows of the hosts that leads of a site are for, and holds them and the
// site's own until the transaction ends, in the order in which everybody takes them.
func holdSites(ctx context.Context, tx pgx.Tx, from int, leads map[string][]frontier.Entry) (hosts []string, sites []int, err error) {
	hosts = slices.Sorted(maps.Keys(leads))
	sites = make([]int, len(hosts))
	for i, host := range hosts {
		if sites[i], err = EnsureSite(ctx, tx, host); err != nil {
			return nil, nil, err
		}
	}
	held := append(slices.Clone(sites), from)
	_, err = tx.Exec(ctx, `SELECT FROM sites WHERE id = ANY($1) ORDER BY host COLLATE "C" FOR NO KEY UPDATE`, held)
	return hosts, sites, err
}

// writeProgress writes how far the crawl is. An orderly end of the slice ends the
// count of attempts, what was done begins it anew. A process that is stopped
// before the commit must not keep the row locked from who comes after it.
func writeProgress(ctx context.Context, tx pgx.Tx, of Slice, w SliceWrite) error {
	b := &pgx.Batch{}
	b.Queue(`UPDATE sites SET crawl_pages=$3, crawl_read=$4, crawl_relevant=$5, learnt=coalesce($6, learnt),
			attempts = CASE WHEN $7 THEN 0 WHEN $8 THEN 1 ELSE attempts END, handling = CASE WHEN $9 THEN handling END, crawl_bytes=$10, crawl_time=$11
		WHERE id=$1 AND token=$2 RETURNING set_config('idle_in_transaction_session_timeout', '5s', true)`,
		of.SiteID, of.Token, w.Progress.Pages, w.Progress.Read, w.Progress.Relevant, w.Learnt, w.Last && w.Orderly, len(w.Visits) > 0, w.Last && !w.Orderly, w.Progress.Bytes, w.Progress.Time).
		Exec(func(tag pgconn.CommandTag) error { return unlessNone(ErrNotHeld)(tag, nil) })
	for _, s := range w.Progress.Sections {
		b.Queue(`INSERT INTO crawl_sections (site_id, dir, read, relevant, bytes, left_out, pauses) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (site_id, md5(dir)) DO UPDATE SET read=EXCLUDED.read, relevant=EXCLUDED.relevant, bytes=EXCLUDED.bytes,
				left_out=EXCLUDED.left_out, pauses=EXCLUDED.pauses`,
			of.SiteID, s.Dir, s.Read, s.Relevant, s.Bytes, s.Left, s.Pauses)
	}
	return tx.SendBatch(ctx, b).Close()
}

// writeSeen notes at a document's locations that it was seen there again, also after it
// had vanished, or that it vanished: its file and all that is known of it stay. Where a
// link that redirected to a document does so no longer, the document's own address is
// asked; how many such addresses there are is returned.
func writeSeen(ctx context.Context, tx pgx.Tx, siteID int, visits []frontier.Visit) (again int, err error) {
	var seen, same, gone []frontier.Hash
	var turned, seenAt, sameAt, goneAt []string
	for i := range visits {
		v := &visits[i]
		if v.Entry.Was != frontier.Document {
			continue
		}
		h := v.Entry.Hash()
		switch {
		case v.State == frontier.Document && v.Unchanged():
			same, sameAt = append(same, h), append(sameAt, v.Entry.Link.URL)
		case v.State == frontier.Document:
			seen, seenAt = append(seen, h), append(seenAt, v.Entry.Link.URL)
		case v.State == frontier.Gone || v.State == frontier.Page || v.State == frontier.Moved:
			gone, goneAt = append(gone, h), append(goneAt, v.Entry.Link.URL)
		default:
			continue
		}
		if !v.Unchanged() {
			turned = append(turned, v.Entry.Link.URL)
		}
	}
	if len(turned) > 0 {
		if again, err = frontier.AskAliases(ctx, tx, siteID, turned); err != nil {
			return again, err
		}
	}
	if err := mark(ctx, tx, siteID, `seen_at=now()`, `current`, seen, seenAt); err != nil {
		return again, err
	}
	if err := mark(ctx, tx, siteID, `seen_at=now(), gone_at=NULL, current=true`, `(current OR NOT here AND at.gone_at=last.gone_at)`, same, sameAt); err != nil {
		return again, err
	}
	return again, mark(ctx, tx, siteID, `gone_at=now(), current=false`, `current`, gone, goneAt)
}

// mark sets something at those locations of documents of a site for which a condition
// holds: of files by their hashes, of the members of archives, which have hashes of their
// own, by the archives' URLs. Each way has its index. here says of a URL that a location
// is current, last.gone_at when the last of them vanished.
func mark(ctx context.Context, tx pgx.Tx, siteID int, set, which string, hashes []frontier.Hash, urls []string) error {
	if len(hashes) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `WITH at AS (SELECT * FROM locations WHERE hash = ANY($2)
			UNION ALL SELECT * FROM locations WHERE site_id=$1 AND member <> '' AND md5(url) = ANY(SELECT md5(u) FROM unnest($3::text[]) u)),
		last AS (SELECT url, bool_or(current) AS here, max(gone_at) AS gone_at FROM at WHERE site_id=$1 GROUP BY url)
		UPDATE locations SET `+set+` WHERE site_id=$1 AND (hash, sha256) IN (
			SELECT hash, sha256 FROM at JOIN last USING (url) WHERE site_id=$1 AND `+which+`)`,
		siteID, hashes, urls)
	return err
}

// Leads tells of each lead that the present crawl of a site gave to another host.
func (db CrawlRecords) Leads(ctx context.Context, siteID int, each func(h frontier.Hash, host string, wanted float64)) error {
	type lead struct {
		Hash   frontier.Hash
		Host   string
		Wanted float64
	}
	return forEach(ctx, db, func(l lead) { each(l.Hash, l.Host, l.Wanted) },
		`SELECT l.hash, s.host, l.wanted FROM leads l JOIN sites s ON s.id=l.to_site WHERE l.from_site=$1`, siteID)
}

// writeLeads gives documents on another host to that host's own frontier, where
// they are asked for under its own lease, and notes them, so that the next slices
// of the crawl know of them. They are for a harvest, or "" for all that the site is for.
func writeLeads(ctx context.Context, tx pgx.Tx, harvest string, from, to int, leads []frontier.Entry) (map[frontier.Hash]frontier.Added, error) {
	if slices.ContainsFunc(leads, func(e frontier.Entry) bool { return e.Skip == "" }) {
		var err error
		if harvest == "" {
			err = InheritSite(ctx, tx, from, to, "lead")
		} else {
			err = JoinSite(ctx, tx, harvest, to, "lead")
		}
		if err != nil {
			return nil, err
		}
		// Where no harvest goes on that would crawl it, the next recrawl does.
		_, err = tx.Exec(ctx, `UPDATE sites SET due_at=now() WHERE id=$1 AND due_at IS NULL
			AND NOT EXISTS (SELECT 1 FROM harvest_sites hs JOIN harvests h ON h.id=hs.harvest_id WHERE hs.site_id=$1 AND h.completed_at IS NULL)`, to)
		if err != nil {
			return nil, err
		}
	}
	hashes, wanted := make([]frontier.Hash, len(leads)), make([]float64, len(leads))
	for i := range leads {
		hashes[i], wanted[i] = leads[i].Hash(), leads[i].Wanted
	}
	_, err := tx.Exec(ctx, `WITH taken AS (DELETE FROM urls WHERE site_id=$1 AND state=5 AND hash = ANY($3))
		INSERT INTO leads (from_site, hash, to_site, wanted) SELECT $1, v.hash, $2, v.wanted
		FROM unnest($3::bytea[], $4::float8[]) AS v (hash, wanted)
		ON CONFLICT (from_site, hash) DO UPDATE SET wanted=EXCLUDED.wanted`, from, to, hashes, wanted)
	if err != nil {
		return nil, err
	}
	return frontier.Add(ctx, tx, to, leads)
}
