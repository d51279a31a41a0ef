package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
)

// The stages whose questions Unanswered keeps, beside the authors'.
const (
	UnansweredPapers = "papers"
	UnansweredCopies = "copies"
)

// Unanswered is a question of a harvest that a source did not answer.
type Unanswered struct {
	Stage   string        `json:"stage"`
	Source  string        `json:"source"`
	Subject string        `json:"subject"` // a volume or a year; the key of a paper
	Reason  string        `json:"reason"`
	Tries   int           `json:"tries"`
	NextTry *time.Time    `json:"next_try,omitempty"`
	MayAsk  time.Duration `json:"-" db:"-"` // as the source asked; only when it is saved
}

// SetUnanswered replaces what a source left unanswered of some subjects (nil: of
// all) in a stage of a harvest. What was unanswered before waits longer.
func (db RetryRecords) SetUnanswered(ctx context.Context, harvest, stage, source string, of []string, open []Unanswered) error {
	var still []string
	b := &pgx.Batch{}
	for _, u := range open {
		still = append(still, u.Subject)
		b.Queue(`INSERT INTO unanswered AS u (harvest_id, stage, source, subject, reason, next_try) VALUES ($1,$2,$3,$4,$5, now() + greatest($6::interval, $7::interval))
			ON CONFLICT (harvest_id, stage, source, subject) DO UPDATE SET reason=EXCLUDED.reason, tries=u.tries+1,
				next_try=now() + greatest($7::interval, least($8::interval, $6::interval * power(2, least(u.tries, 16))))`,
			harvest, stage, source, u.Subject, u.Reason, evidence.FirstRetry, u.MayAsk, evidence.LastRetry)
	}
	b.Queue(`DELETE FROM unanswered WHERE harvest_id=$1 AND stage=$2 AND source=$3 AND ($4::text[] IS NULL OR subject = ANY($4)) AND NOT subject = ANY($5)`,
		harvest, stage, source, of, each.List(still))
	return db.Send(ctx, b)
}

// Unanswered lists what sources left unanswered of a harvest, by stage, source
// and subject.
func (db RetryRecords) Unanswered(ctx context.Context, harvest string) ([]Unanswered, error) {
	return List[Unanswered](ctx, db, `SELECT stage, source, subject, reason, tries, next_try FROM unanswered WHERE harvest_id=$1 ORDER BY 1, 2, 3`, harvest)
}

// NotListed lists the DOIs of a harvest's list that have no title and are no papers of it, and the
// sources of papers that did not answer, each with the volume or year and the reason.
func (db RetryRecords) NotListed(ctx context.Context, h Harvest) (dois, unasked []string, err error) {
	dois, err = Column[string](ctx, db, `SELECT l.paper->>'doi' FROM listings l
		WHERE source='file' AND venue=$2 AND $2 LIKE 'papers:%' AND ($3::int[] IS NULL OR year = ANY($3))
			AND l.paper->>'title'='' AND EXISTS (SELECT 1 FROM harvest_papers WHERE harvest_id=$1)
			AND NOT EXISTS (SELECT 1 FROM harvest_papers h JOIN papers p ON p.key=h.paper_key
				WHERE h.harvest_id=$1 AND p.doi=l.paper->>'doi') ORDER BY 1`, h.ID, h.Venue, h.Years.All())
	if err == nil {
		unasked, err = Column[string](ctx, db, `SELECT concat_ws(' ', source, nullif(subject, '')) || ': ' || reason
			FROM unanswered WHERE harvest_id=$1 AND stage='papers' ORDER BY 1`, h.ID)
	}
	return dois, unasked, err
}

// Questions counts what a harvest has to ask again, by stage.
type Questions struct {
	Papers  int        `json:"papers"`  // volumes and years that a source did not list
	Copies  int        `json:"copies"`  // papers for which a source of copies could not be asked
	Authors int        `json:"authors"` // of whom a page, a search or a directory did not answer
	Next    *time.Time `json:"next_try,omitempty"`
}

// Any reports whether there is anything.
func (o Questions) Any() bool { return o.Papers+o.Copies+o.Authors > 0 }

// authorsOfHarvest is true of a decision d about an author of a paper that the
// harvest $1, or any where it is "", misses.
const authorsOfHarvest = `EXISTS (SELECT 1 FROM paper_authors pa JOIN harvest_papers h ON h.paper_key=pa.paper_key
	WHERE pa.author_id=d.author_id AND ($1='' OR h.harvest_id=$1) AND NOT h.held
		AND ` + missingSQL + ` AND ` + soughtSQL + `)`

// openReason is why an open question u of an author is open: a page's outcome, or
// what did not answer.
const openReason = `CASE u->>'kind' WHEN '` + evidence.KindPage + `' THEN split_part(u->>'reason', ',', 1) ELSE '` + ReasonUnanswered + `' || (u->>'kind') END`

// openHost is the host of that question, empty for those that are no page's.
var openHost = `CASE u->>'kind' WHEN '` + evidence.KindPage + `' THEN ` + hostOfSQL(`u->>'what'`) + ` ELSE '' END`

// ReasonUnanswered begins the reasons of what is no URL: a search or a directory
// that did not answer for an author, a source that did not list papers or copies.
const ReasonUnanswered = "unanswered-"

// openAuthors selects the decisions d that a filter means ($1 harvest, $2 host,
// $3 reason, $4 age).
var openAuthors = `d.next_try IS NOT NULL AND ` + authorsOfHarvest + ` AND d.decided_at <= now() - $4::interval
	AND ($2='' AND $3='' OR EXISTS (SELECT 1 FROM jsonb_array_elements(d.decision->'unanswered') u WHERE ($2='' OR ` + openHost + `=$2) AND ($3='' OR ` + openReason + `=$3)))`

// stillAsked is true of a question q to a source, unless it is for copies of a
// paper that was found since.
const stillAsked = `(q.stage <> 'copies' OR EXISTS (SELECT 1 FROM harvest_papers h
	WHERE h.harvest_id=q.harvest_id AND h.paper_key=q.subject AND NOT h.held AND ` + missingSQL + `))`

// openSources selects the questions q to sources that a filter means ($1 harvest,
// $2 host, $3 reason).
const openSources = `($1='' OR q.harvest_id=$1) AND $2='' AND ($3='' OR '` + ReasonUnanswered + `' || q.stage=$3) AND ` + stillAsked

// Meant counts what AskAgain would ask.
func (db RetryRecords) Meant(ctx context.Context, f RetryFilter) (Questions, error) {
	return One(ctx, db, pgx.RowToStructByPos[Questions], nil, `SELECT count(*) FILTER (WHERE stage='papers'), count(*) FILTER (WHERE stage='copies'),
			(SELECT count(*) FROM homepage_decisions d WHERE `+openAuthors+`), NULL::timestamptz FROM unanswered q WHERE `+openSources,
		f.Harvest, f.Host, f.Reason, f.OlderThan)
}

// StillOpen counts what a harvest has to ask again, due or not.
func (db RetryRecords) StillOpen(ctx context.Context, harvest string) (Questions, error) {
	return One(ctx, db, pgx.RowToStructByPos[Questions], nil, `WITH q AS (
			SELECT stage, next_try FROM unanswered q WHERE harvest_id=$1 AND `+stillAsked+`
			UNION ALL SELECT 'authors', next_try FROM homepage_decisions d WHERE next_try IS NOT NULL AND `+authorsOfHarvest+`)
		SELECT count(*) FILTER (WHERE stage='papers'), count(*) FILTER (WHERE stage='copies'), count(*) FILTER (WHERE stage='authors'), min(next_try) FROM q`, harvest)
}

// AskAgain makes what a filter means of a harvest's unanswered questions due now,
// and forgets the failures that were kept to spare their hosts. Sources are asked
// again where no host is named, and no reason but theirs. It returns how many there are.
// With unpark, which is a person's word, hosts that only failed need not rest:
// those of the pages and, where a question to a service is open or the harvest is in a
// stage that asks them, the services.
func (db RetryRecords) AskAgain(ctx context.Context, f RetryFilter, unpark bool) (Questions, error) {
	var o Questions
	err := db.Tx(ctx, func(tx pgx.Tx) error {
		pages, services, n, err := askAuthorsAgain(ctx, tx, f)
		if o.Authors = n; err != nil {
			return err
		}
		of := func(pages string) string {
			return `host IN (SELECT ` + hostOfSQL("u") + ` FROM unnest(` + pages + `::text[]) u)`
		}
		b := &pgx.Batch{}
		b.Queue(`DELETE FROM page_cache WHERE url = ANY($1) AND outcome <> 'success'`, pages)
		if unpark {
			b.Queue(`DELETE FROM page_cache WHERE host=''`) // answers that were set aside
			b.Queue(`UPDATE harvests SET retried_at=now() WHERE id=$1`, f.Harvest)
			services = services && f.Host == "" && (f.Reason == "" || strings.HasPrefix(f.Reason, ReasonUnanswered))
			b.Queue(`WITH of AS (SELECT id FROM sites s WHERE failures > 0 AND (`+of("$4")+`
					OR ($5 OR EXISTS (SELECT 1 FROM unanswered q WHERE `+openSources+`)
						OR $2 = '' AND $3 = '' AND EXISTS (SELECT 1 FROM harvests WHERE id=$1 AND stage IN ('papers', 'copies'))) AND NOT EXISTS (SELECT 1 FROM harvest_sites h WHERE h.site_id=s.id)
						AND NOT EXISTS (SELECT 1 FROM collection_hosts c WHERE c.host=s.host) AND NOT EXISTS (SELECT 1 FROM page_cache p WHERE p.host=s.host))
					ORDER BY host COLLATE "C" FOR NO KEY UPDATE)
				UPDATE sites s SET failures=0, parked_until='-infinity', next_allowed_at=least(next_allowed_at, greatest(paced_until, asked_until))
				FROM of WHERE s.id=of.id`, f.Harvest, f.Host, f.Reason, pages, services)
		}
		b.Queue(`UPDATE robots SET expires_at=now() WHERE NOT available AND `+of("$1"), pages)
		b.Queue(`WITH q AS (UPDATE unanswered q SET next_try=now() WHERE `+openSources+` RETURNING stage)
			SELECT count(*) FILTER (WHERE stage='papers'), count(*) FILTER (WHERE stage='copies') FROM q`, f.Harvest, f.Host, f.Reason).
			QueryRow(func(row pgx.Row) error { return row.Scan(&o.Papers, &o.Copies) })
		return tx.SendBatch(ctx, b).Close()
	})
	return o, err
}

// RetriedAt is when a person last had a harvest asked again for what was out; zero
// for never.
func (db RetryRecords) RetriedAt(ctx context.Context, harvest string) (time.Time, error) {
	return Get[time.Time](ctx, db, `SELECT coalesce(max(retried_at), `+never+`) FROM harvests WHERE id=$1`, harvest)
}

// askAuthorsAgain makes authors due, and returns the pages that did not answer, whether a
// service did not, and how many authors they are.
func askAuthorsAgain(ctx context.Context, tx pgx.Tx, f RetryFilter) (pages []string, services bool, authors int, err error) {
	of, err := Column[[]evidence.Unanswered](ctx, tx, `UPDATE homepage_decisions d SET next_try=now() WHERE `+openAuthors+` RETURNING decision->'unanswered'`,
		f.Harvest, f.Host, f.Reason, f.OlderThan)
	pages = []string{}
	for _, us := range of {
		for _, u := range us {
			if u.Kind == evidence.KindPage {
				pages = append(pages, u.What)
			}
			services = services || u.Kind != evidence.KindPage
		}
	}
	return pages, services, len(of), err
}
