package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
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

	ReferenceList []string `json:"reference_list,omitempty" db:"-"` // its entries, as far as they were read; read back by ReferenceList alone

	MetaTitle  string    `json:"meta_title,omitempty"`
	FirstPages string    `json:"-"`
	Signs      []int32   `json:"-" db:"-"` // match.Signs, to be recorded with its judgement; not read back
	Deaths     int       `json:"-"`        // processes that ended while they judged it, or one that does now
	Compared   int64     `json:"-"`        // the version of the wanted papers that it was compared with; 0 where it is to be looked at
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

// SaveAllFetched is SaveFetched of several, in one transaction, which locks them in order. Of
// two that lie at one location the last in that order is current.
func (db DocumentRecords) SaveAllFetched(ctx context.Context, all []Fetched) error {
	slices.SortStableFunc(all, func(a, b Fetched) int { return strings.Compare(a.SHA256, b.SHA256) })
	docs, places := make([]Document, len(all)), make([]placed, len(all))
	for i := range all {
		docs[i], places[i] = all[i].Document, all[i].placed(i)
	}
	docs = slices.CompactFunc(docs, func(a, b Document) bool { return a.SHA256 == b.SHA256 })
	return db.Tx(ctx, func(tx pgx.Tx) error {
		if err := standing(ctx, tx, places); err != nil {
			return err
		}
		removed := map[string]bool{}
		b := &pgx.Batch{}
		queueParents(b, places)
		queueDocuments(b, docs, removed)
		queuePlaces(b, places)
		err := tx.SendBatch(ctx, b).Close()
		for i := 0; i < len(all) && err == nil; i++ {
			if removed[all[i].SHA256] {
				err = all[i].Put()
			}
		}
		return err
	})
}

// placed is a location as placedSQL reads it.
type placed struct {
	Location
	N     int    `json:"n"`
	Hash  string `json:"hash"`
	Asked string `json:"asked"`
	Site  int    `json:"site_id"`
	Token int64  `json:"token"`
	Older bool   `json:"older"` // than what is known of the location
}

const placedSQL = `jsonb_to_recordset($1::jsonb) AS v (n int, sha256 text, hash bytea, asked bytea, site_id bigint, token bigint,
	older boolean, url text, member text, parent_url text, anchor text, context text, header jsonb,
	heading text, meta_title text, doi text, found_at timestamptz)`

func (f *Fetched) placed(n int) placed {
	l := f.Location
	l.SHA256, l.Found = f.SHA256, l.Found.Truncate(time.Microsecond)
	if l.Asked == nil {
		l.Asked = l.Hash
	}
	return placed{Location: l, N: n, Hash: byteaOf(l.Hash), Asked: byteaOf(l.Asked), Site: l.SiteID, Token: l.Token}
}

// byteaOf is b in the text format of bytea.
func byteaOf(b []byte) string { return `\x` + hex.EncodeToString(b) }

// standing finds which places are older than what is known of them. The error is ErrNotHeld
// where the lease of one is another's.
func standing(ctx context.Context, tx pgx.Tx, places []placed) error {
	type now struct{ Older, Held bool }
	all, err := List[now](ctx, tx, `SELECT v.token=0 AND EXISTS (SELECT 1 FROM locations l
			WHERE l.hash=v.hash AND (l.sha256<>v.sha256 AND l.current AND l.seen_at>v.found_at OR l.gone_at>v.found_at)),
			v.token=0 OR coalesce(v.token=(SELECT s.token FROM sites s WHERE s.id=v.site_id), false)
		FROM `+placedSQL+` ORDER BY v.n`, places)
	last := map[string]string{} // the document that comes last at a location
	for i := len(all) - 1; i >= 0; i-- {
		p := &places[i]
		if !all[i].Held {
			return ErrNotHeld
		}
		sha, is := last[p.Hash]
		if p.Older = all[i].Older || is && sha != p.SHA256; !p.Older {
			last[p.Hash] = p.SHA256
		}
	}
	return err
}

// queueParents writes the pages that name places.
func queueParents(b *pgx.Batch, places []placed) {
	var pages [][]byte
	var urls, hosts []string
	for i := range places {
		parent := places[i].Parent
		if host := weburl.Host(parent); host != "" {
			page := frontier.HashOf(parent)
			pages, urls, hosts = append(pages, page[:]), append(urls, parent), append(hosts, host)
		}
	}
	if len(pages) > 0 {
		b.Queue(`INSERT INTO parents (page, url, host) SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[])
			ORDER BY 1 ON CONFLICT DO NOTHING`, pages, urls, hosts)
	}
}

// queueDocuments writes documents, and notes whose files were removed.
func queueDocuments(b *pgx.Batch, docs []Document, removed map[string]bool) {
	shas := each.Of(docs, func(d Document) string { return d.SHA256 })
	note := func(rows pgx.Rows) error {
		var sha string
		_, err := pgx.ForEachRow(rows, []any{&sha}, func() error { removed[sha] = true; return nil })
		return err
	}
	b.Queue(`WITH d AS (SELECT sha256, blob_removed_at FROM documents
			WHERE sha256 = ANY($1) ORDER BY sha256 FOR NO KEY UPDATE)
		SELECT sha256 FROM d WHERE blob_removed_at IS NOT NULL`, shas).Query(note)
	b.Queue(`DELETE FROM cleaned WHERE sha256 = ANY($1) RETURNING sha256`, shas).Query(note)
	b.Queue(`INSERT INTO documents (sha256, sha1, md5, bytes, kind)
		SELECT * FROM jsonb_to_recordset($1::jsonb) v (sha256 text, sha1 text, md5 text, bytes bigint, kind text) ORDER BY sha256
		ON CONFLICT (sha256) DO UPDATE SET blob_removed_at=NULL, blob_left=false, updated_at=now(), state='new', tries=0, deaths=0
		WHERE documents.blob_removed_at IS NOT NULL
			OR documents.state='failed' AND documents.outcome<>'`+string(frontier.Killed)+`'`, docs)
}

// queuePlaces writes where documents on record were found.
func queuePlaces(b *pgx.Batch, places []placed) {
	b.Queue(`UPDATE documents d SET ingestion=CASE WHEN p.back THEN 'new' ELSE d.ingestion END,
			compared=CASE WHEN p.fresh THEN 0 ELSE d.compared END,
			updated_at=CASE WHEN p.back AND d.ingestion<>'new' THEN now() ELSE d.updated_at END
		FROM (SELECT v.sha256, coalesce(bool_or(NOT v.older AND NOT l.current), false) AS back,
				bool_or(l.current IS NOT TRUE) AS fresh
			FROM `+placedSQL+`
			LEFT JOIN LATERAL (SELECT current FROM locations WHERE hash=v.hash AND sha256=v.sha256 LIMIT 1) l ON true
			GROUP BY v.sha256) p
		WHERE d.sha256=p.sha256 AND (p.back AND d.ingestion<>'new' OR p.fresh AND d.compared<>0)`, places)
	b.Queue(`UPDATE locations l SET current=false FROM `+placedSQL+`
		WHERE l.hash=v.hash AND l.sha256<>v.sha256 AND l.current AND NOT v.older`, places)
	b.Queue(`INSERT INTO locations (hash, sha256, site_id, url, member, parent, anchor, context, header, heading, meta_title, doi,
			found_at, seen_at, asked, current)
		SELECT DISTINCT ON (hash, sha256) hash, sha256, site_id, url, coalesce(member, ''), parent_url, coalesce(anchor, ''),
			coalesce(context, ''), coalesce(header, '{}'), coalesce(heading, ''), coalesce(meta_title, ''), coalesce(doi, ''),
			found_at, found_at, asked, NOT older
		FROM `+placedSQL+` ORDER BY hash, sha256
		ON CONFLICT (hash, sha256) DO UPDATE SET current=EXCLUDED.current, seen_at=greatest(locations.seen_at, EXCLUDED.seen_at),
			gone_at=CASE WHEN NOT EXCLUDED.current THEN locations.gone_at END, asked=EXCLUDED.asked`, places)
}

const documentColumns = `d.sha256, d.id, d.sha1, d.md5, d.bytes, d.kind, d.state, d.outcome, d.detail, d.reader, d.class, d.score, d.reasons, d.pages, d.words, d.refs,
	d.meta_title, d.first_pages, d.deaths, d.compared, d.same_as, d.ingestion, d.discovered_at, d.updated_at, d.blob_removed_at`

// mostLocations bounds the locations that are read with a document, which may be at any number
// of addresses.
const mostLocations = 1000

// Document returns one document and where it was found, its current locations
// first, mostLocations at most.
func (db DocumentRecords) Document(ctx context.Context, sha string) (Document, []Location, error) {
	d, err := One(ctx, db, pgx.RowToStructByPos[Document], fmt.Errorf("%s: %w", sha, ErrNoDocument),
		`SELECT `+documentColumns+` FROM documents d WHERE d.sha256=$1`, sha)
	if err != nil {
		return d, nil, err
	}
	places, err := db.places(ctx, sha)
	return d, places, err
}

// Taken is a document that somebody is about to judge.
type Taken struct {
	Document            // its Deaths are those before
	Places   []Location `db:"-"`
	Mine     bool       // the caller's for a while; a death is counted over it until it is judged, or Free
	Suspect  bool       // not taken, since a process died over it: it is to be judged alone
}

// Take is Document of one that is judged now. It is taken where it is new, or is judged again,
// nobody else has taken it, and no process died over it or it is judged alone.
func (db DocumentRecords) Take(ctx context.Context, sha string, hold Hold, again, alone bool) (t Taken, err error) {
	const free = `(d.state='new' OR $4) AND (d.taken_by=$3 OR d.taken_until < now())`
	t, err = One(ctx, db, pgx.RowToStructByPos[Taken], fmt.Errorf("%s: %w", sha, ErrNoDocument), `WITH taken AS (
			UPDATE documents d SET deaths=deaths+1, taken_until=now()+$2, taken_by=$3
			WHERE sha256=$1 AND (d.deaths=0 OR $5) AND `+free+` RETURNING sha256)
		SELECT `+documentColumns+`, EXISTS (SELECT FROM taken), d.deaths > 0 AND NOT $5 AND `+free+`
		FROM documents d WHERE d.sha256=$1`,
		sha, hold.For, hold.By, again, alone)
	if err == nil {
		t.Places, err = db.places(ctx, sha)
	}
	return t, err
}

// places are where a document was found.
func (db DocumentRecords) places(ctx context.Context, sha string) ([]Location, error) {
	ls, err := List[Location](ctx, db, `SELECT `+locationColumns+` FROM locations
		WHERE sha256=$1 ORDER BY current DESC, url, member LIMIT $2`, sha, mostLocations)
	if err == nil {
		err = owners(ctx, db, ls)
	}
	return ls, err
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
	return One(ctx, db, pgx.RowTo[[]string], nil, `SELECT reference_list FROM documents WHERE sha256=$1`, sha)
}
