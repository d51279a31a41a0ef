package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/record/frontier"
)

// ImportRecord is what became of one resource of an import's log. The outcomes
// saved_… , filtered_… and failed_… are those of Counters.
type ImportRecord struct {
	N          int64  `json:"n"` // its place in the log, from 1
	URL        string `json:"url"`
	Source     string `json:"source,omitempty"` // the file of the log that it is in
	Known      bool   `json:"known"`            // a document was saved from this URL before
	Outcome    string `json:"outcome"`
	Detail     string `json:"detail,omitempty"`
	Kind       string `json:"kind,omitempty"`  // what the filter of kinds made of it
	Class      string `json:"class,omitempty"` // what the filter of contents did
	SHA256     string `json:"sha256,omitempty"`
	Bytes      int64  `json:"bytes,omitempty"`
	Difference string `json:"difference,omitempty"` // between what the log promises and what is on record

	// As the log says.
	Parent  string     `json:"parent,omitempty"` // the page that led there
	Depth   *int       `json:"depth,omitempty"`  // links from the seed; nil where nobody says
	Seed    bool       `json:"seed,omitempty"`
	Crawled *time.Time `json:"crawled_at,omitempty"`
}

// RecordHeads are the heads of the columns of a row of RecordRows.
func RecordHeads() []string {
	return []string{"n", "url", "outcome", "kind", "detail", "class", "sha256", "bytes", "source", "difference",
		"parent", "depth", "seed", "crawled_at"}
}

// RecordRows returns a function that returns the next rows of a job, and none at the end.
func (db JobRecords) RecordRows(ctx context.Context, job int64) func() ([][]string, error) {
	after := int64(0)
	return func() ([][]string, error) {
		records, err := db.ImportRecords(ctx, job, after, false, 1000)
		return each.Of(records, func(r ImportRecord) []string { after = r.N; return r.row() }), err
	}
}

// row is a record as a line of CSV. A cell that a spreadsheet would take for a formula
// begins with an apostrophe.
func (r ImportRecord) row() []string {
	var depth, seed, crawled string
	if r.Depth != nil {
		depth = strconv.Itoa(*r.Depth)
	}
	if r.Seed {
		seed = "yes"
	}
	if r.Crawled != nil {
		crawled = r.Crawled.UTC().Format(time.RFC3339)
	}
	row := []string{strconv.FormatInt(r.N, 10), r.URL, r.Outcome, r.Kind, r.Detail, r.Class, r.SHA256,
		strconv.FormatInt(r.Bytes, 10), r.Source, r.Difference,
		r.Parent, depth, seed, crawled}
	for i, cell := range row {
		if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			row[i] = "'" + cell
		}
	}
	return row
}

const importColumns = `n, url, source, known, outcome, detail, kind, class, sha256, bytes, difference, parent, depth, seed, crawled_at`

// ImportStep is a part of an import: what it came to, and where it goes on.
type ImportStep struct {
	Job      int64
	Run      int
	From     int64 // records done before it
	Done     int64 // and after
	Position any
	Counters any
	Records  []ImportRecord
	Parents  []ParentSeen
	Links    []frontier.Seen
}

// SaveImport writes a step of an import: all of it, or nothing where another
// attempt has gone on (ErrJobMoved). So no record counts twice.
func (db JobRecords) SaveImport(ctx context.Context, s ImportStep) error {
	return db.JobStep(ctx, func(pgx.Tx) (ImportStep, error) { return s, nil })
}

// JobStep does a step of a job and writes down what it came to, in one transaction: all
// of it, or nothing where another attempt has gone on (ErrJobMoved).
func (db JobRecords) JobStep(ctx context.Context, do func(pgx.Tx) (ImportStep, error)) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		s, err := do(tx)
		if err != nil {
			return err
		}
		return saveStep(ctx, tx, s)
	})
}

func saveStep(ctx context.Context, tx pgx.Tx, s ImportStep) error {
	err := unlessNone(ErrJobMoved)(tx.Exec(ctx, `UPDATE jobs SET done=$4, position=$5, counters=$6, note='', attempts=least(attempts, 1), updated_at=now() WHERE id=$1 AND run=$2 AND done=$3 AND state='running'`,
		s.Job, s.Run, s.From, s.Done, s.Position, s.Counters))
	if err == nil {
		err = saveImportRecords(ctx, tx, s)
	}
	if err == nil {
		err = saveImportedLinks(ctx, tx, s.Parents, s.Links)
	}
	return err
}

// linksAtOnce is how many links are written by one statement.
const linksAtOnce = 10_000

func saveImportRecords(ctx context.Context, tx pgx.Tx, s ImportStep) error {
	if len(s.Records) == 0 {
		return nil
	}
	first, last := s.Records[0].N, s.Records[len(s.Records)-1].N // BeginRecords wrote some of them
	_, err := tx.Exec(ctx, `DELETE FROM import_records WHERE job=$1 AND n BETWEEN $2 AND $3`, s.Job, first, last)
	if err == nil {
		_, err = tx.CopyFrom(ctx, pgx.Identifier{"import_records"}, strings.Split("job, "+importColumns, ", "),
			pgx.CopyFromSlice(len(s.Records), func(i int) ([]any, error) {
				r := &s.Records[i]
				return []any{s.Job, r.N, r.URL, r.Source, r.Known, r.Outcome, r.Detail, r.Kind, r.Class, r.SHA256, r.Bytes, r.Difference,
					r.Parent, r.Depth, r.Seed, r.Crawled}, nil
			}))
	}
	return err
}

// saveImportedLinks keeps which pages of a log link to which files, and the pages: all in
// one order, so that two who write the same wait for one another in turn.
func saveImportedLinks(ctx context.Context, tx pgx.Tx, pages []ParentSeen, links []frontier.Seen) error {
	if err := saveParents(ctx, tx, pages); err != nil {
		return err
	}
	slices.SortFunc(links, func(a, b frontier.Seen) int {
		return cmp.Or(cmp.Compare(a.Site, b.Site), bytes.Compare(a.Page[:], b.Page[:]), bytes.Compare(a.Target[:], b.Target[:]))
	})
	for some := range slices.Chunk(links, linksAtOnce) {
		if err := frontier.LinkSeen(ctx, tx, some); err != nil {
			return err
		}
	}
	return nil
}

// TryImport notes that an attempt at an import begins. It returns up to which resource
// it is to take one at a time: the next few, once an attempt that began at the same place
// was not heard of since, as when it ended its worker.
func (db JobRecords) TryImport(ctx context.Context, job int64, run, few int) (wary int64, err error) {
	return One(ctx, db, pgx.RowTo[int64], ErrJobOver, `UPDATE jobs SET attempts=attempts+1, wary=CASE WHEN attempts>0 THEN done+$3 ELSE wary END
		WHERE id=$1 AND run=$2 AND state='running' RETURNING wary`, job, run, few)
}

// NoteImport notes what an attempt at an import begins, until it ends as it should or
// the next step of the import is written down.
func (db JobRecords) NoteImport(ctx context.Context, job int64, run int, trying any) error {
	return db.Exec(ctx, `UPDATE jobs SET position=position || jsonb_build_object('trying', $3::jsonb) WHERE id=$1 AND run=$2 AND state='running'`, job, run, trying)
}

// NoteWaiting notes why an import waits, until its next step is written down.
func (db JobRecords) NoteWaiting(ctx context.Context, job int64, run int, why string) error {
	return db.Exec(ctx, `UPDATE jobs SET note=$3 WHERE id=$1 AND run=$2 AND state='running'`, job, run, why)
}

// NoteOpened notes how much there is of an import's log, once it was opened.
func (db JobRecords) NoteOpened(ctx context.Context, job int64, run int, counters any) error {
	return db.Exec(ctx, `UPDATE jobs SET counters=$3, note='' WHERE id=$1 AND run=$2 AND state='running'`, job, run, counters)
}

// LeaveImport notes that an attempt at an import ended as it should, whatever it came to.
func (db JobRecords) LeaveImport(ctx context.Context, job int64, run int) error {
	return db.Exec(ctx, `UPDATE jobs SET attempts=0, position=position - 'trying' WHERE id=$1 AND run=$2`, job, run)
}

// BeginRecords notes that resources of an import are about to be taken, and sets Known where
// a document was saved from their URL before that: an attempt that takes them again finds
// the answer of the first.
func (db JobRecords) BeginRecords(ctx context.Context, job int64, run int, some []*ImportRecord) error {
	numbers, urls, hashes := make([]int64, len(some)), make([]string, len(some)), make([]frontier.Hash, len(some))
	for i, r := range some {
		numbers[i], urls[i], hashes[i] = r.N, r.URL, frontier.HashOf(r.URL)
	}
	// LIMIT 1 keeps the planner from reading all documents for a few.
	known, err := Map[int64, bool](ctx, db, `WITH begun AS (INSERT INTO import_records (job, n, url, known)
			SELECT $1, v.n, v.url, coalesce(k.is, false)
			FROM unnest($3::bigint[], $4::text[], $5::bytea[]) v (n, url, hash) LEFT JOIN LATERAL (SELECT true AS is
				FROM locations l JOIN documents d ON d.sha256=l.sha256 WHERE l.asked=v.hash AND d.state='accepted' LIMIT 1) k ON true
			WHERE EXISTS (SELECT 1 FROM jobs WHERE id=$1 AND run=$2 AND state='running') ON CONFLICT DO NOTHING RETURNING n, known)
		SELECT n, known FROM begun UNION ALL SELECT n, known FROM import_records WHERE job=$1 AND n = ANY($3)`, job, run, numbers, urls, hashes)
	if err == nil && len(known) < len(some) {
		err = ErrJobMoved
	}
	for _, r := range some {
		r.Known = known[r.N]
	}
	return err
}

const importRecordsSQL = `SELECT ` + importColumns + ` FROM import_records WHERE job=$1 AND n>$2 AND outcome<>'' AND (NOT $3 OR difference<>'') ORDER BY n LIMIT $4`

// ImportRecords lists what became of the records of an import behind a number, in
// order, at most limit of them. differ gives those alone that differ from what the
// log promises.
func (db JobRecords) ImportRecords(ctx context.Context, job, after int64, differ bool, limit int) ([]ImportRecord, error) {
	return List[ImportRecord](ctx, db, importRecordsSQL, job, after, differ, limit)
}

// SkippedRecords lists the records of an import, behind a number, that were passed over
// for a reason, which begins their detail.
func (db JobRecords) SkippedRecords(ctx context.Context, job, after int64, why string, limit int) ([]ImportRecord, error) {
	return List[ImportRecord](ctx, db, `SELECT `+importColumns+` FROM import_records
		WHERE job=$1 AND n>$2 AND outcome='skipped' AND starts_with(detail, $3) ORDER BY n LIMIT $4`, job, after, why, limit)
}

// Waited is a record of an import whose document waited to be examined when the import ended,
// and what was decided of that since.
type Waited struct {
	ImportRecord
	Job     int64
	Options json.RawMessage
}

// DocumentsOf are the documents of a record: its own and, where that is a member of an archive,
// the other members.
func (db JobRecords) DocumentsOf(ctx context.Context, w Waited) ([]Document, error) {
	return List[Document](ctx, db, `SELECT `+documentColumns+` FROM documents d WHERE sha256=$1 OR EXISTS (SELECT FROM locations l
		JOIN locations o ON o.asked=l.asked AND o.member<>'' AND o.current WHERE l.asked=$2 AND l.sha256=$1 AND l.member<>'' AND o.sha256=d.sha256)`, w.SHA256, frontier.HashOf(w.URL))
}

// waitedSQL are such records r, whose imports j ended before their documents were judged. What
// waits is among what differs from the log, which has an index.
const waitedSQL = ` FROM jobs j JOIN import_records r ON r.job=j.id AND r.difference<>'' AND r.outcome='unexamined' JOIN documents d USING (sha256)
		WHERE j.state NOT IN ('new', 'running') AND (j.counters->>'unexamined')::bigint > 0 AND d.state<>'new'`

// ExaminedLater lists the next such records behind one of a job.
func (db JobRecords) ExaminedLater(ctx context.Context, job, n int64, limit int) ([]Waited, error) {
	return List[Waited](ctx, db, `SELECT r.`+strings.ReplaceAll(importColumns, ", ", ", r.")+`, j.id, j.options`+waitedSQL+` AND (r.job, r.n) > ($1, $2)
		ORDER BY r.job, r.n LIMIT $3`, job, n, limit)
}

// RecordExamined writes down what became of a record that waited, and the counters of its import that
// count gives, unless another has.
func (db JobRecords) RecordExamined(ctx context.Context, w Waited, count func(counters json.RawMessage) (any, error)) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		now, err := Column[json.RawMessage](ctx, tx, `SELECT counters FROM jobs WHERE id=$1 AND state NOT IN ('new', 'running') FOR NO KEY UPDATE`, w.Job)
		if err != nil || len(now) == 0 {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE import_records SET outcome=$3, detail=$4, class=$5, difference=$6 WHERE job=$1 AND n=$2 AND outcome='unexamined'`,
			w.Job, w.N, w.Outcome, w.Detail, w.Class, w.Difference)
		if err != nil || tag.RowsAffected() == 0 { // another has counted it
			return err
		}
		counters, err := count(now[0])
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE jobs SET counters=$2 WHERE id=$1`, w.Job, counters)
		}
		return err
	})
}

// Saved is a document that an import says it saved, and what the record has of it.
type Saved struct {
	N      int64
	SHA256 string
	State  string // of the document; "" where there is no row
	Bytes  int64
	Pruned bool
	URL    string // where it was saved from
	Placed bool   `db:"-"` // that URL leads to it
}

// SavedBy lists the documents that an import saved, behind a number.
func (db JobRecords) SavedBy(ctx context.Context, job, after int64, limit int) ([]Saved, error) {
	saved, err := List[Saved](ctx, db, `SELECT r.n, r.sha256, coalesce(d.state, ''), coalesce(d.bytes, 0), coalesce(d.blob_removed_at IS NOT NULL, false), r.url
		FROM import_records r LEFT JOIN documents d ON d.sha256=r.sha256 WHERE r.job=$1 AND r.n>$2 AND r.outcome LIKE 'saved%' ORDER BY r.n LIMIT $3`, job, after, limit)
	if err != nil {
		return nil, err
	}
	hashes := each.Of(saved, func(s Saved) frontier.Hash { return frontier.HashOf(s.URL) })
	shas := each.Of(saved, func(s Saved) string { return s.SHA256 })
	placed, err := Column[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM locations l WHERE l.sha256=v.sha256 AND v.hash IN (l.hash, l.asked))
		FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY v (hash, sha256, n) ORDER BY v.n`, hashes, shas)
	for i := range placed {
		saved[i].Placed = placed[i]
	}
	return saved, err
}

// Differ notes differences by the numbers of their records.
func (db JobRecords) Differ(ctx context.Context, job int64, differences map[int64]string) error {
	return db.Exec(ctx, `UPDATE import_records SET difference=v.value FROM jsonb_each_text($2::jsonb) v
		WHERE job=$1 AND n=v.key::bigint`, job, differences)
}

// Differences counts the records of an import, and those that differ.
func (db JobRecords) Differences(ctx context.Context, job int64) (records, differ int64, err error) {
	err = db.Pool.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE difference<>'') FROM import_records WHERE job=$1 AND outcome<>''`, job).Scan(&records, &differ)
	return records, differ, err
}

// Earlier finds the file that a URL gave before, by the URL's identity and its SHA-1
// (raw, nil where it is not known), else the file of that SHA-1 from wherever: "" where it
// is not on record. Of several, it is the one that was found on a day (zero for any), or
// the current one.
func (db JobRecords) Earlier(ctx context.Context, sha1, hash []byte, on time.Time) (d Document, header map[string]string, err error) {
	const from = `SELECT l.sha256, l.header, d.kind, d.bytes FROM locations l JOIN documents d ON d.sha256=l.sha256 WHERE l.member='' AND d.blob_removed_at IS NULL AND `
	const order = ` ORDER BY l.found_at=$2 DESC, l.current DESC, l.seen_at DESC LIMIT 1`
	sum := hex.EncodeToString(sha1)
	err = db.Pool.QueryRow(ctx, from+`l.asked=$3 AND ($1='' OR d.sha1=$1)`+order, sum, on, hash).Scan(&d.SHA256, &header, &d.Kind, &d.Bytes)
	if errors.Is(err, pgx.ErrNoRows) && sum != "" {
		err = db.Pool.QueryRow(ctx, from+`d.sha1=$1`+order, sum, on).Scan(&d.SHA256, &header, &d.Kind, &d.Bytes)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return Document{}, nil, nil
	}
	return d, header, err
}
