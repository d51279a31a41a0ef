package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/weburl"
)

// ErrPruned is a document that cannot be read again: its file was removed to make
// room, and its record stays as it is.
var ErrPruned = errors.New("its file was pruned")

// ErrNoDocument is returned for a SHA-256 that the record does not know.
var ErrNoDocument = errors.New("no such document")

// Document is a file by its content.
type Document struct {
	SHA256     string                `json:"sha256"`
	ID         int64                 `json:"id"`
	SHA1       string                `json:"sha1"`
	MD5        string                `json:"md5"`
	Bytes      int64                 `json:"bytes"`
	Kind       string                `json:"kind"`
	State      gleaner.DocumentState `json:"state"`
	Outcome    string                `json:"outcome,omitempty"`
	Detail     string                `json:"detail,omitempty"` // what was wrong with the file, in a line
	Reader     string                `json:"reader,omitempty"`
	Class      string                `json:"class,omitempty"`
	Score      float64               `json:"score"`
	Reasons    []string              `json:"reasons,omitempty"`
	Pages      int                   `json:"pages"`
	Words      int                   `json:"words"`
	References int                   `json:"references"`

	ReferenceList []string `json:"reference_list,omitempty"` // its entries, as far as they were read; read back by ReferenceList alone

	MetaTitle  string    `json:"meta_title,omitempty"`
	FirstPages string    `json:"-"`
	Signs      []int32   `json:"-"` // match.Signs, to be recorded with its judgement; not read back
	Deaths     int       `json:"-"` // processes that ended while they judged it, or one that does now
	Compared   int64     `json:"-"` // the version of the wanted papers that it was compared with; 0 where it is to be looked at
	Print      int64     `json:"-"` // fingerprint of the text, 0 without text
	SameAs     string    `json:"same_as,omitempty"`
	Ingestion  string    `json:"ingestion"`
	Discovered time.Time `json:"discovered_at"`
	Updated    time.Time `json:"updated_at"`

	Removed *time.Time `json:"file_removed_at,omitempty"` // when prune took the file away; the row stays
}

// What is the class of a document or, where none was found or the class is not why it was
// judged so, its outcome.
func (d Document) What() string {
	if d.Class == "" || d.Outcome == gleaner.OtherDiscipline {
		return d.Outcome
	}
	return d.Class
}

// Location is where a document was found.
type Location struct {
	Hash    []byte            `json:"-"` // identity of the URL (and archive member)
	SHA256  string            `json:"sha256"`
	SiteID  int               `json:"-"`
	URL     string            `json:"url"`
	Member  string            `json:"member,omitempty"`
	Parent  string            `json:"parent_url"`
	Anchor  string            `json:"anchor,omitempty"`
	Context string            `json:"context,omitempty"`
	Header  map[string]string `json:"header,omitempty"`
	Found   time.Time         `json:"found_at"`

	Heading   string `json:"heading,omitempty"`    // nearest heading before the link
	MetaTitle string `json:"meta_title,omitempty"` // the document's title, as its landing page gives it
	DOI       string `json:"doi,omitempty"`        // likewise
	Current   bool   `json:"current"`              // false: another version took its place, or it is gone

	// Owners are the ids of authors at whose homepage it lies, or from which it is linked.
	Owners []string `json:"-" db:"-"`

	Asked []byte `json:"-" db:"-"` // identity of the URL that was asked for, as links to it have it; Hash where nil. Not read back

	Token int64 `json:"-" db:"-"` // of the lease under which it was fetched; 0 for none. Not read back
}

const locationColumns = `hash, sha256, site_id, url, member, parent, anchor, context, header, found_at, heading, meta_title, doi, current`

// SaveFetched records a document whose blob is stored, and where it was found.
// Another document at that location becomes an earlier version of it, so only who
// holds the site says what is there (ErrNotHeld): a process that stood still since it
// fetched would put its version over what another has fetched meanwhile. A version
// that comes back to its place is one to be ingested anew, like a new one, and
// one whose file was lost or removed is to be examined anew. What was fetched
// without the site, by another crawler, may be older than what is known: it takes
// no newer version's place, and does not bring back what is gone since.
//
// Where the row says that its file was removed, prune may be removing the very
// blob that was found there a moment ago: put stores it once more, while the row
// is locked against prune. So it does where a cleaning has just taken the row away.
func (db DocumentRecords) SaveFetched(ctx context.Context, d Document, l Location, put func() error) error {
	return db.SaveAllFetched(ctx, []Fetched{{d, l, put}})
}

// Fetched is a document, where it was found, and what stores its blob once more.
type Fetched struct {
	Document
	Location Location
	Put      func() error
}

// SaveAllFetched is SaveFetched of several, in one transaction, which locks them in order.
func (db DocumentRecords) SaveAllFetched(ctx context.Context, all []Fetched) error {
	slices.SortStableFunc(all, func(a, b Fetched) int { return strings.Compare(a.SHA256, b.SHA256) })
	return db.Tx(ctx, func(tx pgx.Tx) error {
		older, removed, held := make([]bool, len(all)), make([]bool, len(all)), true
		b := &pgx.Batch{}
		for i := range all {
			l := &all[i].Location
			if l.Token == 0 {
				b.Queue(`SELECT EXISTS (SELECT 1 FROM locations WHERE hash=$1 AND (sha256<>$2 AND current AND seen_at>$3 OR gone_at>$3))`,
					l.Hash, all[i].SHA256, l.Found).QueryRow(func(row pgx.Row) error { return row.Scan(&older[i]) })
			} else {
				b.Queue(`SELECT token=$2 FROM sites WHERE id=$1`, l.SiteID, l.Token).QueryRow(func(row pgx.Row) error {
					var is bool
					err := row.Scan(&is)
					held = held && is
					return err
				})
			}
			if host := weburl.Host(l.Parent); host != "" {
				page := frontier.HashOf(l.Parent)
				b.Queue(`INSERT INTO parents (page, url, host) VALUES ($1,$2,$3) ON CONFLICT DO NOTHING`, page[:], l.Parent, host)
			}
		}
		err := tx.SendBatch(ctx, b).Close()
		b = &pgx.Batch{}
		for i := range all {
			all[i].queue(b, older[i], &removed[i])
		}
		if err == nil {
			err = tx.SendBatch(ctx, b).Close()
		}
		if err == nil && !held {
			err = ErrNotHeld
		}
		for i := 0; i < len(all) && err == nil; i++ {
			if removed[i] {
				err = all[i].Put()
			}
		}
		return err
	})
}

// queue writes a document and where it was found, and notes whether its file was removed.
func (f *Fetched) queue(b *pgx.Batch, older bool, removed *bool) {
	d, l := &f.Document, &f.Location
	header := l.Header
	if header == nil {
		header = map[string]string{}
	}
	b.Queue(`SELECT blob_removed_at IS NOT NULL FROM documents WHERE sha256=$1 FOR NO KEY UPDATE`, d.SHA256).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{removed}, func() error { return nil })
		return err
	})
	b.Queue(`DELETE FROM cleaned WHERE sha256=$1`, d.SHA256).Exec(func(tag pgconn.CommandTag) error { *removed = *removed || tag.RowsAffected() > 0; return nil })
	b.Queue(`INSERT INTO documents (sha256, sha1, md5, bytes, kind) VALUES ($1,$2,$3,$4,$5)
		ON CONFLICT (sha256) DO UPDATE SET blob_removed_at=NULL, blob_left=false, updated_at=now(),
			state='new', tries=0, deaths=0
		WHERE documents.blob_removed_at IS NOT NULL OR documents.state='failed' AND documents.outcome<>'`+string(frontier.Killed)+`'`,
		d.SHA256, d.SHA1, d.MD5, d.Bytes, d.Kind)
	b.Queue(`UPDATE documents SET ingestion='new', updated_at=now() WHERE sha256=$2 AND ingestion<>'new' AND NOT $3
		AND EXISTS (SELECT 1 FROM locations WHERE hash=$1 AND sha256=$2 AND NOT current)`, l.Hash, d.SHA256, older)
	b.Queue(`UPDATE documents SET compared=0 WHERE sha256=$2 AND compared<>0
		AND NOT EXISTS (SELECT 1 FROM locations WHERE hash=$1 AND sha256=$2 AND current)`, l.Hash, d.SHA256)
	b.Queue(`UPDATE locations SET current=false WHERE hash=$1 AND sha256<>$2 AND current AND NOT $3`, l.Hash, d.SHA256, older)
	b.Queue(`INSERT INTO locations (hash, sha256, site_id, url, member, parent, anchor, context, header, heading, meta_title, doi, found_at, seen_at, asked, current)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$13,coalesce($14,$1::bytea),NOT $15)
		ON CONFLICT (hash, sha256) DO UPDATE SET current=EXCLUDED.current, seen_at=greatest(locations.seen_at, EXCLUDED.seen_at),
			gone_at=CASE WHEN $15 THEN locations.gone_at END, asked=EXCLUDED.asked`,
		l.Hash, d.SHA256, l.SiteID, l.URL, l.Member, l.Parent, l.Anchor, l.Context, header, l.Heading, l.MetaTitle, l.DOI, l.Found, l.Asked, older)
}

const documentColumns = `d.sha256, d.id, d.sha1, d.md5, d.bytes, d.kind, d.state, d.outcome, d.reader, d.class, d.score, d.reasons, d.pages, d.refs,
	d.meta_title, d.first_pages, d.fingerprint, d.same_as, d.ingestion, d.discovered_at, d.updated_at, d.detail, d.words, d.blob_removed_at, d.compared, d.deaths`

// columns are where a row of documentColumns goes.
func (d *Document) columns() []any {
	return []any{&d.SHA256, &d.ID, &d.SHA1, &d.MD5, &d.Bytes, &d.Kind, &d.State, &d.Outcome, &d.Reader, &d.Class, &d.Score, &d.Reasons,
		&d.Pages, &d.References, &d.MetaTitle, &d.FirstPages, &d.Print, &d.SameAs, &d.Ingestion, &d.Discovered, &d.Updated, &d.Detail, &d.Words, &d.Removed, &d.Compared, &d.Deaths}
}

func scanDocument(row pgx.CollectableRow) (d Document, err error) {
	return d, row.Scan(d.columns()...)
}

// Document returns one document and where it was found, its current locations
// first.
func (db DocumentRecords) Document(ctx context.Context, sha string) (Document, []Location, error) {
	return db.document(ctx, ``, sha)
}

// Take is Document of one that is judged now. Where it is new and no process died over it yet,
// a death is counted until it is judged (or FreeNew): its Deaths are those before.
func (db DocumentRecords) Take(ctx context.Context, sha string) (Document, []Location, error) {
	return db.document(ctx, `WITH taken AS (UPDATE documents SET deaths=1 WHERE sha256=$1 AND state='new' AND deaths=0) `, sha)
}

func (db DocumentRecords) document(ctx context.Context, with, sha string) (Document, []Location, error) {
	d, err := One(ctx, db, scanDocument, fmt.Errorf("%s: %w", sha, ErrNoDocument), with+`SELECT `+documentColumns+` FROM documents d WHERE d.sha256=$1`, sha)
	if err != nil {
		return d, nil, err
	}
	ls, err := List[Location](ctx, db, `SELECT `+locationColumns+` FROM locations
		WHERE sha256=$1 ORDER BY current DESC, url, member`, sha)
	if err == nil {
		err = owners(ctx, db, ls)
	}
	return d, ls, err
}

// Found is one verdict: that a document is (or may be) a paper.
type Found struct {
	Paper   string   `json:"paper"`
	Verdict string   `json:"verdict"`
	Score   float64  `json:"score"`
	Form    string   `json:"form"`
	Reasons []string `json:"reasons"`
	Settled string   `json:"settled,omitempty"` // a person's word: yes or no
}

// ReferenceList are the entries of a document's reference list, as far as they were
// read.
func (db DocumentRecords) ReferenceList(ctx context.Context, sha string) ([]string, error) {
	all, err := Column[[]string](ctx, db, `SELECT reference_list FROM documents WHERE sha256=$1`, sha)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}
