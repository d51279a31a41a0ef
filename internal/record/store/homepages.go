package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/web/weburl"
)

// Homepage is one kept homepage of a person, or a place of their papers beside it.
type Homepage struct {
	AuthorID string  `json:"author"`
	URL      string  `json:"url"`
	Host     string  `json:"host"`
	Rank     int     `json:"rank"`
	Source   string  `json:"source"`
	Score    float64 `json:"score"`
	Scope    string  `json:"scope,omitempty"` // of a place of papers; a homepage's is its path
}

const homepageColumns = `author_id, url, host, rank, source, score, scope`

// Prefix is what of its host is crawled for it, as weburl.InScope takes it; whole is where
// homepages are crawled with all of their hosts.
func (h Homepage) Prefix(whole bool) string {
	switch {
	case h.Scope != "":
		return h.Scope
	case whole:
		return "/"
	}
	return weburl.PathPrefix(h.URL)
}

// Override is a person's word about a homepage.
type Override struct {
	URL  string `json:"url"`
	Word string `json:"word"` // is, is-not
}

// Holds reports whether a page or file is it, or lies in what of its host is crawled for it.
func (h Homepage) Holds(url string) bool {
	return url == h.URL || weburl.Host(url) == weburl.Host(h.URL) && weburl.InScope(url, []string{h.Prefix(false)})
}

// owners notes whose homepages places lie at, or are linked from.
func owners(ctx context.Context, db source, places []Location) error {
	var hosts []string
	for _, l := range places {
		hosts = append(hosts, weburl.Host(l.URL), weburl.Host(l.Parent))
	}
	homes, err := List[Homepage](ctx, db, `SELECT `+homepageColumns+` FROM homepages
		WHERE host = ANY($1) ORDER BY author_id, rank`, hosts)
	for i := range places {
		l := &places[i]
		for _, h := range homes {
			if (h.Holds(l.URL) || h.Holds(l.Parent)) && !slices.Contains(l.Owners, h.AuthorID) {
				l.Owners = append(l.Owners, h.AuthorID)
			}
		}
	}
	return err
}

// FoundAt is where a paper was found.
type FoundAt struct{ Paper, URL, Parent string }

// FoundOf tells where papers of some authors were found, by author.
func (db PersonRecords) FoundOf(ctx context.Context, authorIDs []string) (map[string][]FoundAt, error) {
	return Map[string, []FoundAt](ctx, db, `SELECT pa.author_id, array_agg(ROW(pa.paper_key, l.url, l.parent)) FROM paper_authors pa
		JOIN matches m ON m.paper_key=pa.paper_key AND `+FoundSQL+` JOIN locations l ON l.sha256=m.sha256 AND l.current
		WHERE pa.author_id = ANY($1) GROUP BY pa.author_id`, authorIDs)
}

// Sought is an author who is to be looked for, at a place of the order in which a
// harvest does: who wrote most of the papers that it wants comes first, so that a
// budget that is spent, and a harvest that is stopped, has asked where most was to be
// had. What was found meanwhile moves nobody.
type Sought struct {
	gleaner.Author
	Place string
}

// AuthorRange is a part of the authors by their places: those after one, up to
// another ("" is the end), as many as the limit (0 is all). What was found after the
// time, unless that is zero, makes nobody one who need not be looked for: it is found by
// crawls that go on meanwhile, and who is looked for is not to depend on how quick they
// are.
type AuthorRange struct {
	After, UpTo string
	Limit       int
	AsOf        time.Time
}

// Suspect reports whether a process may have died over the search of a harvest for an author.
func (db PersonRecords) Suspect(ctx context.Context, author, harvest string) (bool, error) {
	return Get[bool](ctx, db, `SELECT deaths > 0 OR sought_by=$2 FROM authors WHERE id=$1`, author, harvest)
}

// BeginSearch notes that a harvest looks for an author, and returns how many processes died
// over that: one that began and came to no end did.
func (db PersonRecords) BeginSearch(ctx context.Context, author, harvest string) (int, error) {
	return Get[int](ctx, db, `UPDATE authors SET deaths = deaths + (sought_by=$2)::int, sought_by=$2
		WHERE id=$1 RETURNING deaths`, author, harvest)
}

// EndSearch notes that nobody died over the search of a harvest for an author.
func (db PersonRecords) EndSearch(ctx context.Context, author, harvest string) error {
	return db.Exec(ctx, `UPDATE authors SET sought_by='', deaths=0 WHERE id=$1 AND sought_by=$2`, author, harvest)
}

// missingAsOf is missingSQL as it was at the time $8.
const missingAsOf = `NOT EXISTS (SELECT 1 FROM matches m WHERE m.paper_key=h.paper_key AND m.matched_at <= $8 AND ` + FoundSQL + `)`

// AuthorsToFind lists the authors of a harvest's missing papers that are in a
// range, in their order. On the first pass: those not decided since the time given, and
// those for whom nobody was there to be asked when they were (a search that has
// come back is worth another try), but for this very harvest; and those of whom
// something that did not answer is due again. On the second pass: those for whom
// no homepage was found until that time, and none was looked for since.
func (db PersonRecords) AuthorsToFind(ctx context.Context, harvest string, in AuthorRange, since time.Time, second bool) ([]Sought, error) {
	const place = `'@' || lpad((999999 - least(w.n, 999999))::text, 6, '0') || ' ' || a.id COLLATE "C"`
	asOf := pgtype.Timestamptz{Time: in.AsOf, Valid: true}
	if in.AsOf.IsZero() {
		asOf.InfinityModifier = pgtype.Infinity
	}
	return List[Sought](ctx, db, `
		WITH w AS (SELECT pa.author_id, count(*) AS n, bool_or(`+missingAsOf+`) AS missing FROM paper_authors pa JOIN harvest_papers h ON h.paper_key=pa.paper_key
			WHERE h.harvest_id=$1 AND NOT h.held AND `+soughtSQL+` GROUP BY pa.author_id),
		who AS (SELECT a.id, a.pid, a.name, `+place+` AS place FROM authors a JOIN w ON w.author_id=a.id WHERE w.missing)
		SELECT a.pid, a.name, a.place FROM who a
		WHERE a.place > $2 AND ($7='' OR a.place <= $7)
			AND CASE WHEN $5 THEN EXISTS (SELECT 1 FROM homepage_decisions d WHERE d.author_id=a.id AND d.not_found <> '' AND d.decided_at <= $3)
				ELSE NOT EXISTS (SELECT 1 FROM homepage_decisions d WHERE d.author_id=a.id AND d.decided_at > $3
					AND (d.next_try IS NULL OR d.next_try > now())
					AND (d.not_found <> ALL($6) OR d.decided_at > coalesce((SELECT started_at FROM harvests WHERE id=$1), '-infinity'))) END
		ORDER BY a.place LIMIT NULLIF($4, 0)`, harvest, in.After, since, in.Limit, second, []string{evidence.NoSearch, evidence.NoCandidates, evidence.Barred}, in.UpTo, asOf)
}

// PapersOf lists the papers of an author that the record knows, wanted ones first.
func (db PersonRecords) PapersOf(ctx context.Context, authorID string) ([]gleaner.Paper, error) {
	return List[gleaner.Paper](ctx, db, `SELECT `+paperColumns+` FROM papers p JOIN paper_authors pa ON pa.paper_key=p.key WHERE pa.author_id=$1
		ORDER BY NOT EXISTS (SELECT 1 FROM harvest_papers h WHERE h.paper_key=p.key AND NOT h.held), p.year DESC, p.key`, authorID)
}

// HomepagesOf lists kept homepages of some authors, by author and rank.
func (db PersonRecords) HomepagesOf(ctx context.Context, authorIDs []string) ([]Homepage, error) {
	return List[Homepage](ctx, db, `SELECT `+homepageColumns+` FROM homepages WHERE author_id = ANY($1) ORDER BY author_id, rank`, authorIDs)
}

// wantsAuthor is true of an author, whom a column names, of a paper that the harvest $1 wants.
func wantsAuthor(column string) string {
	return `EXISTS (SELECT 1 FROM paper_authors pa JOIN harvest_papers h ON h.paper_key=pa.paper_key
		WHERE pa.author_id=` + column + ` AND h.harvest_id=$1 AND NOT h.held AND ` + soughtSQL + `)`
}

// HarvestHomepages lists kept homepages of the authors of a harvest's wanted papers.
func (db PersonRecords) HarvestHomepages(ctx context.Context, harvest string) ([]Homepage, error) {
	return List[Homepage](ctx, db, `SELECT `+homepageColumns+` FROM homepages g
		WHERE `+wantsAuthor("g.author_id")+` ORDER BY author_id, rank`, harvest)
}

// Elsewhere is a place of an author's papers beside the homepage.
type Elsewhere struct {
	Author   string `json:"author"`
	Homepage string `json:"homepage"`
	Papers   string `json:"papers"`
}

// PapersElsewhere lists the places of papers of the authors of a harvest's wanted papers.
func (db PersonRecords) PapersElsewhere(ctx context.Context, harvest string) ([]Elsewhere, error) {
	return List[Elsewhere](ctx, db, `SELECT a.name, coalesce((SELECT h.url FROM homepages h WHERE h.author_id=a.id AND h.scope='' ORDER BY h.rank LIMIT 1), ''), g.url
		FROM homepages g JOIN authors a ON a.id=g.author_id
		WHERE g.scope <> '' AND `+wantsAuthor("g.author_id")+` ORDER BY a.name, a.id, g.rank`, harvest)
}

// SaveDecision replaces what was decided about an author's homepages. Of pages of blacklisted
// hosts it keeps no title.
func (db PersonRecords) SaveDecision(ctx context.Context, d evidence.Decision, kept []Homepage) error {
	return db.Tx(ctx, func(tx pgx.Tx) error { return saveDecision(ctx, tx, d, kept) })
}

// ReviseDecision replaces what was decided about an author by what revise makes of it,
// unless that is nothing. Nobody decides meanwhile.
func (db PersonRecords) ReviseDecision(ctx context.Context, authorID string, revise func(evidence.Decision) (d evidence.Decision, kept []Homepage, is bool)) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		var d evidence.Decision
		err := tx.QueryRow(ctx, `SELECT decision FROM homepage_decisions WHERE author_id=$1 FOR UPDATE`, authorID).Scan(&d)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		d, kept, is := revise(d)
		if !is {
			return nil
		}
		return saveDecision(ctx, tx, d, kept)
	})
}

func saveDecision(ctx context.Context, tx pgx.Tx, d evidence.Decision, kept []Homepage) error {
	authorID := d.Author.ID()
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	urls := each.Of(kept, func(h Homepage) string { return h.URL })
	slices.Sort(urls)
	// Documents may be papers, or none, by lying at the author's homepage alone.
	papers, err := Column[string](ctx, tx, `SELECT DISTINCT m.paper_key FROM matches m JOIN paper_authors pa ON pa.paper_key=m.paper_key
		WHERE pa.author_id=$1 AND m.settled='' AND m.verdict IN ('ambiguous', 'strong')
			AND (SELECT coalesce(array_agg(url ORDER BY url COLLATE "C"), '{}') FROM homepages WHERE author_id=$1) <> $2::text[]`, authorID, urls)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`INSERT INTO homepage_decisions (author_id, decision, not_found, requests, next_try)
		VALUES ($1,`+untitledDecision("$2::jsonb")+`,$3,$4,$5)
		ON CONFLICT (author_id) DO UPDATE SET decision=EXCLUDED.decision, not_found=EXCLUDED.not_found, requests=EXCLUDED.requests, next_try=EXCLUDED.next_try, decided_at=now()`,
		authorID, body, d.NotFound, d.Fetches, UnlessZero(d.NextTry))
	b.Queue(`DELETE FROM homepages WHERE author_id=$1`, authorID)
	for i, h := range kept {
		b.Queue(`INSERT INTO homepages (author_id, url, host, rank, source, score, scope) VALUES ($1,$2,$3,$4,$5,$6,$7) ON CONFLICT DO NOTHING`,
			authorID, h.URL, h.Host, i, h.Source, h.Score, h.Scope)
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil || len(papers) == 0 {
		return err
	}
	return changeWanted(ctx, tx, papers)
}

// Decisions lists what was decided about some authors until a time (zero: ever),
// by author.
func (db PersonRecords) Decisions(ctx context.Context, authorIDs []string, until time.Time) ([]evidence.Decision, error) {
	return Column[evidence.Decision](ctx, db, `SELECT decision FROM homepage_decisions WHERE author_id = ANY($1) AND decided_at <= coalesce($2::timestamptz, 'infinity') ORDER BY author_id`,
		authorIDs, UnlessZero(until))
}

// HarvestDecisions lists the decisions about the authors of a harvest's wanted
// papers, by author.
func (db PersonRecords) HarvestDecisions(ctx context.Context, harvest string) ([]evidence.Decision, error) {
	return Column[evidence.Decision](ctx, db, `SELECT d.decision FROM homepage_decisions d
		WHERE `+wantsAuthor("d.author_id")+` ORDER BY d.author_id`, harvest)
}

// AllDecisions lists every decision of the record, by author.
func (db PersonRecords) AllDecisions(ctx context.Context) ([]evidence.Decision, error) {
	return Column[evidence.Decision](ctx, db, `SELECT decision FROM homepage_decisions ORDER BY author_id`)
}

// ForgetDecision makes an author one who was not looked for.
func (db PersonRecords) ForgetDecision(ctx context.Context, authorID string) error {
	return db.Exec(ctx, `WITH pages AS (DELETE FROM homepages WHERE author_id=$1)
		DELETE FROM homepage_decisions WHERE author_id=$1`, authorID)
}

// Now is the database's time, by which the record is dated.
func (db PersonRecords) Now(ctx context.Context) (time.Time, error) {
	return Get[time.Time](ctx, db, `SELECT clock_timestamp()`)
}

// Overrides lists a person's words about an author's homepages.
func (db PersonRecords) Overrides(ctx context.Context, authorID string) ([]Override, error) {
	return List[Override](ctx, db, `SELECT url, word FROM homepage_overrides WHERE author_id=$1 ORDER BY said_at, url`, authorID)
}

// SetOverride keeps a person's word; the empty word forgets it.
func (db PersonRecords) SetOverride(ctx context.Context, authorID, url, word string) error {
	if word == "" {
		return db.Exec(ctx, `DELETE FROM homepage_overrides WHERE author_id=$1 AND md5(url)=md5($2)`, authorID, url)
	}
	return db.Exec(ctx, `INSERT INTO homepage_overrides (author_id, url, word) VALUES ($1,$2,$3)
		ON CONFLICT (author_id, md5(url)) DO UPDATE SET word=EXCLUDED.word, said_at=now()`, authorID, url, word)
}

// AuthorsByName lists authors whose id or name it is. Those that lists name without an id are
// taken for the others of that name.
func (db PersonRecords) AuthorsByName(ctx context.Context, name string) ([]gleaner.Author, error) {
	return List[gleaner.Author](ctx, db, `SELECT pid, name FROM authors a WHERE id=$1 OR lower(name)=lower($1)
		AND (pid<>'' OR NOT EXISTS (SELECT 1 FROM authors o WHERE lower(o.name)=lower($1) AND o.pid<>'')) ORDER BY id`, name)
}

// AuthorsLike lists a few authors in whose names all words stand.
func (db PersonRecords) AuthorsLike(ctx context.Context, words []string, limit int) ([]gleaner.Author, error) {
	return List[gleaner.Author](ctx, db, `SELECT pid, name FROM authors WHERE NOT EXISTS
			(SELECT 1 FROM unnest($1::text[]) w WHERE strpos(lower(name), lower(w)) = 0) ORDER BY name, id LIMIT $2`, words, limit)
}

// AuthorHomepages is one line of a list of authors.
type AuthorHomepages struct {
	gleaner.Author `json:"author"`
	Wanted         int        `json:"wanted"` // papers of theirs that a harvest wants
	Homepages      []Homepage `json:"homepages"`
	NotFound       string     `json:"not_found,omitempty"`
	DecidedAt      *time.Time `json:"decided_at,omitempty"` // absent: not looked for
	Found          bool       `json:"found,omitempty"`      // all their wanted papers were: nobody looks for a homepage
}

// ListHomepages lists the authors of a harvest's wanted papers ("": of all) with
// their homepages, by name.
func (db PersonRecords) ListHomepages(ctx context.Context, harvest string) ([]AuthorHomepages, error) {
	return List[AuthorHomepages](ctx, db, `SELECT a.pid, a.name, n.papers,
			ARRAY(SELECT ROW(`+homepageColumns+`) FROM homepages WHERE author_id=a.id ORDER BY rank),
			coalesce(d.not_found, ''), d.decided_at, n.found
		FROM authors a
		JOIN (SELECT pa.author_id, count(DISTINCT h.paper_key) papers,
				bool_and(EXISTS (SELECT FROM matches m WHERE m.paper_key=h.paper_key AND `+FoundSQL+`)) found
			FROM paper_authors pa JOIN harvest_papers h ON h.paper_key=pa.paper_key
			WHERE NOT h.held AND ($1 = '' OR h.harvest_id=$1) AND `+soughtSQL+` GROUP BY 1) n ON n.author_id=a.id
		LEFT JOIN homepage_decisions d ON d.author_id=a.id
		ORDER BY a.name, a.id`, harvest)
}

// HarvestsOf lists the harvests under way that want a paper of an author.
func (db PersonRecords) HarvestsOf(ctx context.Context, authorID string) ([]Harvest, error) {
	return List[Harvest](ctx, db, `SELECT `+harvestColumns+` FROM harvests v WHERE completed_at IS NULL
			AND EXISTS (SELECT 1 FROM paper_authors pa JOIN harvest_papers h ON h.paper_key=pa.paper_key
				WHERE pa.author_id=$1 AND h.harvest_id=v.id AND NOT h.held) ORDER BY id`, authorID)
}
