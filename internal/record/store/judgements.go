package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
)

// Unexamined says which of the documents that wait to be examined are meant; the
// zero value is all of them.
type Unexamined struct {
	Site    int    // found there
	Stalled string // that a reader stalled over before, on the sites of this harvest
}

// putOff are the outcomes of documents that wait to be recognised.
const putOff = `('` + gleaner.ImageOnly + `', '` + gleaner.Garbled + `')`

// released ends that somebody judges a document.
const released = `taken_until='-infinity', taken_by=0, deaths=0`

// PutOff has a new document wait behind all others.
func (db MatchRecords) PutOff(ctx context.Context, sha, outcome string) error {
	return db.Exec(ctx, `UPDATE documents SET outcome=$2, `+released+`, updated_at=now()
		WHERE sha256=$1 AND state='new'`, sha, outcome)
}

// Unexamined reports whether a document of a host waits to be examined.
func (db MatchRecords) Unexamined(ctx context.Context, host string) (bool, error) {
	return Get[bool](ctx, db, `SELECT EXISTS (SELECT FROM sites s JOIN locations l ON l.site_id=s.id
		JOIN documents d ON d.sha256=l.sha256 WHERE s.host=$1 AND d.state='new')`, host)
}

// Hold says who takes documents, by a number of its own, and for how long.
type Hold struct {
	By  int64
	For time.Duration
}

// TakeNew takes documents that wait to be examined, the oldest first, then those that
// wait to be recognised, and at last those over which a process died; at most limit. They
// are the caller's for a while: others take other ones, so that workers share the load. What
// a worker that died had taken is free again when that time is over. A caller who has had
// none for the time idle waits for those that others hold of the harvest that is named, else
// for those that nobody has held on since: their number is waiting. So the end of a site's
// crawl does not wait for an import that has documents of it in hand.
func (db MatchRecords) TakeNew(
	ctx context.Context, which Unexamined, limit int, hold Hold, idle time.Duration,
) (took []string, waiting int, err error) {
	for _, turn := range []string{` AND d.deaths=0 AND d.outcome NOT IN ` + putOff, ` AND d.deaths=0`, ``} {
		took, err = Column[string](ctx, db, which.takeSQL(turn), which.Site, which.Stalled, limit, hold.For, hold.By)
		if err != nil || len(took) > 0 {
			return took, 0, err
		}
	}
	err = db.Pool.QueryRow(ctx, `SELECT count(*) FROM documents d WHERE `+which.sql()+` AND ($3 OR d.taken_until < now() + $4::interval)`,
		which.Site, which.Stalled, which.Stalled != "", hold.For-idle).Scan(&waiting)
	return nil, waiting, err
}

// sql is true of a document d that is meant ($1 site, $2 harvest). Each is a statement of
// its own: of one site those on other sites are not read, as they would be where the planner
// hopes to meet enough of the site's soon.
func (u Unexamined) sql() string {
	site, harvest := `$1=0`, `$2=''`
	if u.Site > 0 {
		site = `d.sha256 = ANY(ARRAY(SELECT n.sha256 FROM locations l JOIN documents n ON n.sha256=l.sha256 AND n.state='new' WHERE l.site_id=$1))`
	}
	if u.Stalled != "" {
		harvest = `d.outcome=` + stalled + ` AND d.sha256 IN (SELECT l.sha256 FROM locations l JOIN harvest_sites h ON h.site_id=l.site_id WHERE h.harvest_id=$2)`
	}
	return `d.state='new' AND ` + site + ` AND ` + harvest
}

// takeSQL takes documents of a turn.
func (u Unexamined) takeSQL(turn string) string {
	return `UPDATE documents SET taken_until = now() + $4, taken_by = $5 WHERE sha256 IN (
			SELECT d.sha256 FROM documents d WHERE ` + u.sql() + turn + ` AND d.taken_until < now() ORDER BY d.id LIMIT $3 FOR UPDATE SKIP LOCKED)
		RETURNING sha256`
}

// HoldOn holds documents on that Take or TakeNew gave and that are still the caller's.
func (db MatchRecords) HoldOn(ctx context.Context, shas []string, hold Hold) error {
	return db.Exec(ctx, `UPDATE documents SET taken_until = now() + $2
		WHERE sha256 = ANY($1) AND taken_by=$3 AND taken_until > now()`, shas, hold.For, hold.By)
}

// Free frees documents that are still the caller's: of Take, over which nobody died then, or
// of TakeNew.
func (db MatchRecords) Free(ctx context.Context, shas []string, by int64, taken bool) error {
	return db.Exec(ctx, `UPDATE documents
		SET taken_until='-infinity', taken_by=0, deaths=greatest(deaths - $3::bool::int, 0) WHERE sha256 = ANY($1) AND taken_by=$2`, shas, by, taken)
}

// SaveSketch records the sketch of a document's text, ahead of its judgement: of
// two copies that are examined at once, the one that is judged later then sees
// the other.
func (db MatchRecords) SaveSketch(ctx context.Context, sha string, sketch []byte, bands []int64) error {
	return db.Exec(ctx, `INSERT INTO sketches (sha256, sketch, bands) VALUES ($1,$2,$3)
		ON CONFLICT (sha256) DO UPDATE SET sketch=EXCLUDED.sketch, bands=EXCLUDED.bands`, sha, sketch, bands)
}

// Kin is how a document's copies are found: by the bands of its sketch, of those
// that Same then says are alike. Without bands none is looked for.
type Kin struct {
	Bands []int64
	Same  func(sketch []byte) bool
}

// SaveJudgement records what was read and decided of a document, replaces what it
// was matched with, but for what a person settled, and puts it among its copies.
// wanted is the version of the papers that it was compared with, 0 if with none;
// the error is ErrStale where these are others by now, ErrPruned where prune took
// the file meanwhile.
func (db MatchRecords) SaveJudgement(ctx context.Context, d Document, found []Found, kin Kin, wanted int64) error {
	err := db.saveJudgement(ctx, d, found, kin, wanted, false)
	if errors.Is(err, errHasCopies) {
		return db.saveJudgement(ctx, d, found, kin, wanted, true)
	}
	return err
}

// errHasCopies undoes a judgement that was begun without the sole lock.
var errHasCopies = errors.New("there are copies")

func (db MatchRecords) saveJudgement(ctx context.Context, d Document, found []Found, kin Kin, wanted int64, alone bool) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		copies, err := copiesOf(ctx, tx, d.SHA256, kin, alone)
		if err != nil {
			return err
		}
		if len(copies) > 0 && !alone {
			return errHasCopies
		}
		if err := checkWanted(ctx, tx, wanted); err != nil {
			return err
		}
		b := &pgx.Batch{}
		had := false // its file
		b.Queue(`UPDATE documents SET kind=$2, state=$3, outcome=$4, detail=$5, reader=$6, class=$7, score=$8, reasons=$9, pages=$10, words=$11, refs=$12,
				meta_title=$13, first_pages=$14, compared=$15, reference_list=$16, tries=0, `+released+`,
				updated_at=now() WHERE sha256=$1 AND blob_removed_at IS NULL`,
			d.SHA256, d.Kind, d.State, d.Outcome, d.Detail, d.Reader, d.Class, d.Score, each.List(d.Reasons), d.Pages, d.Words, d.References,
			d.MetaTitle, d.FirstPages, wanted, each.List(d.ReferenceList)).Exec(func(tag pgconn.CommandTag) error { had = tag.RowsAffected() > 0; return nil })
		queueSigns(b, d.SHA256, d.Signs)
		queueMatches(b, d.SHA256, found)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		if !had {
			return fmt.Errorf("%s: %w", d.SHA256, ErrPruned)
		}
		if len(copies) == 0 {
			return nil
		}
		return group(ctx, tx, append(copies, d.SHA256))
	})
}

// New lists those of some documents that were not judged yet.
func (db MatchRecords) New(ctx context.Context, shas []string) ([]Readable, error) {
	return db.readable(ctx, `d.sha256 = ANY($1) AND d.state='new' ORDER BY d.sha256`, shas)
}

// SaveUnread is SaveJudgement of documents that New gave, whose text was not read: all or
// none. What they are matched with stays.
func (db MatchRecords) SaveUnread(ctx context.Context, all []Readable) error {
	shas, docs := make([]string, len(all)), make([]Document, len(all))
	for i, r := range all {
		shas[i], docs[i] = r.SHA256, r.Document
	}
	return db.Tx(ctx, func(tx pgx.Tx) error {
		b, had := &pgx.Batch{}, 0 // their files
		b.Queue(`SELECT FROM documents WHERE sha256 = ANY($1) ORDER BY sha256 FOR NO KEY UPDATE`, shas)
		b.Queue(`UPDATE documents d SET state=v.state, outcome=coalesce(v.outcome, ''), class=coalesce(v.class, ''),
				reasons=coalesce(v.reasons, '[]'), compared=0, reference_list='{}', tries=0, `+released+`, updated_at=now()
			FROM jsonb_to_recordset($1::jsonb) v (sha256 text, state text, outcome text, class text, reasons jsonb)
			WHERE d.sha256=v.sha256 AND d.blob_removed_at IS NULL`, docs).
			Exec(func(tag pgconn.CommandTag) error { had = int(tag.RowsAffected()); return nil })
		b.Queue(`DELETE FROM signs WHERE sha256 = ANY($1)`, shas)
		if err := tx.SendBatch(ctx, b).Close(); err != nil || had == len(all) {
			return err
		}
		return ErrPruned
	})
}

// SaveMatches replaces what a document was matched with, but for what a person
// settled; accept keeps one that was rejected before it was known to be wanted.
// wanted is as SaveJudgement's.
func (db MatchRecords) SaveMatches(ctx context.Context, sha string, found []Found, accept bool, wanted int64) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		if err := checkWanted(ctx, tx, wanted); err != nil {
			return err
		}
		b := &pgx.Batch{}
		queueMatches(b, sha, found)
		if accept {
			queueAccept(b, sha)
		}
		return tx.SendBatch(ctx, b).Close()
	})
}

// queueAccept accepts a document that is a paper whatever the filter said, and of
// whatever discipline. Where its file was removed there is nothing to accept yet: the
// addresses where it lies are put back to be fetched whole. The row is locked first, so
// that prune marks it before, or sees that it is accepted.
func queueAccept(b *pgx.Batch, sha string) {
	b.Queue(`SELECT 1 FROM documents WHERE sha256=$1 FOR NO KEY UPDATE`, sha)
	b.Queue(`UPDATE documents SET state='accepted', outcome=CASE outcome WHEN '`+gleaner.OtherDiscipline+`' THEN 'ok' ELSE outcome END, updated_at=now()
		WHERE sha256=$1 AND state='rejected' AND blob_removed_at IS NULL`, sha)
	b.Queue(`SELECT FROM sites WHERE id IN (SELECT l.site_id FROM locations l JOIN documents d ON d.sha256=l.sha256
			WHERE l.sha256=$1 AND l.current AND d.blob_removed_at IS NOT NULL) ORDER BY host COLLATE "C" FOR NO KEY UPDATE`, sha)
	b.Queue(`WITH asked AS (
			UPDATE urls u SET state=0, tries=0, next_try=NULL, etag='', last_modified='', content=NULL
			FROM locations l JOIN documents d ON d.sha256=l.sha256
			WHERE l.sha256=$1 AND l.current AND d.blob_removed_at IS NOT NULL AND u.site_id=l.site_id AND u.url=l.url RETURNING u.site_id)
		UPDATE sites SET due_at=least(due_at, now()) WHERE id IN (SELECT site_id FROM asked)`, sha)
}

func queueMatches(b *pgx.Batch, sha string, found []Found) {
	keys := each.Of(found, func(f Found) string { return f.Paper })
	// A paper that was found and is held now is compared no more: it stays found. So does
	// what is known of a paper that only cancelled harvests wanted.
	b.Queue(`DELETE FROM matches m WHERE m.sha256=$1 AND m.settled='' AND NOT m.paper_key = ANY($2)
		AND NOT coalesce((SELECT bool_and(h.held AND `+FoundSQL+` OR v.stage='cancelled')
			FROM harvest_papers h JOIN harvests v ON v.id=h.harvest_id
			WHERE h.paper_key=m.paper_key), false)`, sha, keys)
	for _, f := range found {
		b.Queue(`INSERT INTO matches (paper_key, sha256, verdict, score, form, reasons) VALUES ($1,$2,$3,$4,$5,$6)
			ON CONFLICT (paper_key, sha256) DO UPDATE SET verdict=EXCLUDED.verdict, score=EXCLUDED.score, form=EXCLUDED.form, reasons=EXCLUDED.reasons,
				matched_at=CASE WHEN (matches.verdict, matches.form) = (EXCLUDED.verdict, EXCLUDED.form)
					OR `+foundIn("matches")+` AND (matches.settled='yes' OR `+foundIn("EXCLUDED")+`) THEN matches.matched_at ELSE now() END`,
			f.Paper, sha, f.Verdict, f.Score, f.Form, each.List(f.Reasons))
	}
}

// SaveFailure notes that a document could not be examined, for a reason that is
// not the file's. After frontier.MaxDeaths of them it is given up, so that one
// document does not hold up the others for ever; at once where forGood. What was
// judged before stays as it was judged.
func (db MatchRecords) SaveFailure(ctx context.Context, sha, outcome, detail string, forGood bool) error {
	return db.Exec(ctx, `UPDATE documents SET tries=tries+1, outcome=$2, detail=$3, `+released+`, updated_at=now(),
		state = CASE WHEN $4 OR tries+1 >= $5 THEN 'failed' ELSE state END WHERE sha256=$1 AND state='new'`, sha, outcome, detail, forGood, frontier.MaxDeaths)
}

// SetIngestion notes what became of documents in the library's own system: new,
// ingested or failed.
func (db MatchRecords) SetIngestion(ctx context.Context, state string, shas ...string) error {
	return db.Exec(ctx, `UPDATE documents SET ingestion=$1, updated_at=now() WHERE sha256 = ANY($2)`, state, shas)
}
