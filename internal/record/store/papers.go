package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// SavePapers writes papers and their authors, overwriting what was known of the
// same keys.
func (db PaperRecords) SavePapers(ctx context.Context, papers []gleaner.Paper, origin any) error {
	how, err := json.Marshal(origin)
	if err != nil {
		return err
	}
	return savePapers(ctx, db, papers, slices.Repeat([]json.RawMessage{how}, len(papers)))
}

// savePapers takes the rows of authors, and then those of papers, in the order of
// their keys: other harvests save papers of the same people.
func savePapers[T any](ctx context.Context, db PaperRecords, papers []gleaner.Paper, origins []T) error {
	order := make([]int, len(papers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(papers[a].Key, papers[b].Key) })
	return db.Tx(ctx, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		var changed []string
		queueAuthors(b, papers)
		for _, i := range order {
			queuePaper(b, papers[i], origins[i], func() { changed = append(changed, papers[i].Key) })
		}
		if err := tx.SendBatch(ctx, b).Close(); err != nil || len(changed) == 0 {
			return err
		}
		wanted, err := Column[string](ctx, tx, `SELECT DISTINCT paper_key FROM harvest_papers WHERE paper_key = ANY($1) AND NOT held`, changed)
		if err != nil || len(wanted) == 0 {
			return err
		}
		return changeWanted(ctx, tx, wanted)
	})
}

// queueAuthors gives everybody the name that the last of the papers has.
func queueAuthors(b *pgx.Batch, papers []gleaner.Paper) {
	byID := map[string]gleaner.Author{}
	for _, p := range papers {
		for _, a := range p.Authors {
			byID[a.ID()] = a
		}
	}
	ids := slices.Sorted(maps.Keys(byID))
	b.Queue(`INSERT INTO authors (id, pid, name) SELECT DISTINCT ON (id) id, pid, name
		FROM unnest($1::text[], $2::text[], $3::text[]) AS a (id, pid, name) ORDER BY id
		ON CONFLICT (id) DO UPDATE SET name=EXCLUDED.name WHERE authors.name <> EXCLUDED.name`, ids,
		each.Of(ids, func(id string) string { return byID[id].PID }), each.Of(ids, func(id string) string { return byID[id].Name }))
}

func queuePaper(b *pgx.Batch, p gleaner.Paper, origin any, changed func()) {
	b.Queue(`INSERT INTO papers (key, venue, year, title, authors, doi, arxiv, pages, links, origin)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)
		ON CONFLICT (key) DO UPDATE SET venue=EXCLUDED.venue, year=EXCLUDED.year, title=EXCLUDED.title,
			authors=EXCLUDED.authors, doi=EXCLUDED.doi, arxiv=EXCLUDED.arxiv, pages=EXCLUDED.pages,
			links=EXCLUDED.links, origin=EXCLUDED.origin, updated_at=now()
		WHERE (papers.venue, papers.year, papers.title, papers.authors, papers.doi, papers.arxiv, papers.pages, papers.links, papers.origin)
			IS DISTINCT FROM (EXCLUDED.venue, EXCLUDED.year, EXCLUDED.title, EXCLUDED.authors, EXCLUDED.doi, EXCLUDED.arxiv, EXCLUDED.pages, EXCLUDED.links, EXCLUDED.origin)`,
		p.Key, p.Venue, p.Year, p.Title, each.List(p.Authors), p.DOI, p.ArXiv, p.Pages, each.List(p.Links), origin).
		Exec(func(tag pgconn.CommandTag) error {
			if tag.RowsAffected() > 0 {
				changed()
			}
			return nil
		})
	b.Queue(`DELETE FROM paper_authors WHERE paper_key=$1`, p.Key)
	b.Queue(`INSERT INTO paper_authors (paper_key, author_id, position)
		SELECT $1, id, n - 1 FROM unnest($2::text[]) WITH ORDINALITY AS a (id, n) ON CONFLICT DO NOTHING`, p.Key, each.Of(p.Authors, gleaner.Author.ID))
}

const paperColumns = `p.key, p.venue, p.year, p.title, p.authors, p.doi, p.arxiv, p.pages, p.links`

// listedSQL is true of a paper p unless its venue is a file's and the file no longer lists it.
const listedSQL = `(NOT EXISTS (SELECT 1 FROM venues v WHERE v.key=p.venue AND v.sources='file')
	OR EXISTS (SELECT 1 FROM listings l WHERE l.source='file' AND l.venue=p.venue AND l.paper->>'key'=p.key))`

// Papers lists what is known of a venue's years, by year and key.
func (db PaperRecords) Papers(ctx context.Context, venueKey string, years gleaner.Years) ([]gleaner.Paper, error) {
	return List[gleaner.Paper](ctx, db, `SELECT `+paperColumns+` FROM papers p
		WHERE p.venue=$1 AND ($2::int[] IS NULL OR p.year = ANY($2)) AND `+listedSQL+` ORDER BY p.year, p.key`, venueKey, years.All())
}

// Wanted lists every paper that a harvest wants and its library lacks, over all
// harvests that were not cancelled, by key.
func (db PaperRecords) Wanted(ctx context.Context) ([]gleaner.Paper, error) {
	return List[gleaner.Paper](ctx, db, `SELECT `+paperColumns+` FROM papers p
		WHERE EXISTS (SELECT 1 FROM harvest_papers h WHERE h.paper_key=p.key AND `+wantedSQL+`) ORDER BY p.key`)
}

// wantedSQL is true of a harvest_papers row h that the library lacks and whose harvest was not cancelled.
const wantedSQL = `NOT h.held AND EXISTS (SELECT 1 FROM harvests v WHERE v.id=h.harvest_id AND v.stage<>'cancelled')`

// missingSQL is true of a harvest_papers row h whose paper was not found.
const missingSQL = `NOT EXISTS (SELECT 1 FROM matches m WHERE m.paper_key=h.paper_key AND ` + FoundSQL + `)`

// Missing lists the wanted papers of a harvest that were not found yet.
func (db PaperRecords) Missing(ctx context.Context, harvest string) ([]gleaner.Paper, error) {
	return List[gleaner.Paper](ctx, db, `SELECT `+paperColumns+` FROM papers p JOIN harvest_papers h ON h.paper_key=p.key
		WHERE h.harvest_id=$1 AND NOT h.held AND `+missingSQL+` ORDER BY p.year, p.key`, harvest)
}

// HoldPapers notes of wanted papers of a harvest that the library holds them by now, and why.
func (db PaperRecords) HoldPapers(ctx context.Context, harvest string, held map[string]string) error {
	if len(held) == 0 {
		return nil
	}
	keys := slices.Sorted(maps.Keys(held))
	return db.Tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE harvest_papers h SET held=true, held_why=n.why FROM jsonb_each_text($2) n(key, why)
			WHERE h.harvest_id=$1 AND h.paper_key=n.key`, harvest, held)
		if err != nil {
			return err
		}
		return changeWanted(ctx, tx, keys)
	})
}

// HeldPapers lists the papers of a harvest that the library holds.
func (db PaperRecords) HeldPapers(ctx context.Context, harvest string) ([]gleaner.Paper, error) {
	return List[gleaner.Paper](ctx, db, `SELECT `+paperColumns+` FROM papers p JOIN harvest_papers h ON h.paper_key=p.key
		WHERE h.harvest_id=$1 AND h.held ORDER BY p.key`, harvest)
}

// TitlesOf returns the titles of papers, in no order.
func (db PaperRecords) TitlesOf(ctx context.Context, keys []string) ([]string, error) {
	return Column[string](ctx, db, `SELECT title FROM papers WHERE key = ANY($1)`, keys)
}

// TitlesFound returns the titles of the papers that were found on a site.
func (db PaperRecords) TitlesFound(ctx context.Context, siteID int) ([]string, error) {
	return Column[string](ctx, db, `SELECT DISTINCT p.title FROM locations l JOIN matches m ON m.sha256=l.sha256 JOIN papers p ON p.key=m.paper_key
		WHERE l.site_id=$1 AND l.current AND `+FoundSQL, siteID)
}

// SetHarvestPapers makes papers the papers of a harvest; held maps the keys that
// the library has to the reason.
func (db PaperRecords) SetHarvestPapers(ctx context.Context, harvest string, papers []gleaner.Paper, held map[string]string) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		keys := each.Of(papers, func(p gleaner.Paper) string { return p.Key })
		b := &pgx.Batch{}
		var changed []string
		note := func(rows pgx.Rows) error {
			some, err := pgx.CollectRows(rows, pgx.RowTo[string])
			changed = append(changed, some...)
			return err
		}
		b.Queue(`INSERT INTO harvest_papers (harvest_id, paper_key, held, held_why)
			SELECT DISTINCT $1, key, why IS NOT NULL, coalesce(why, '') FROM unnest($2::text[]) key LEFT JOIN jsonb_each_text($3::jsonb) h (k, why) ON h.k=key
			ON CONFLICT (harvest_id, paper_key) DO UPDATE SET held=EXCLUDED.held, held_why=EXCLUDED.held_why,
				wanted_at=CASE WHEN harvest_papers.held THEN now() ELSE harvest_papers.wanted_at END
			WHERE (harvest_papers.held, harvest_papers.held_why) IS DISTINCT FROM (EXCLUDED.held, EXCLUDED.held_why) RETURNING paper_key`, harvest, keys, held).Query(note)
		b.Queue(`DELETE FROM harvest_papers WHERE harvest_id=$1 AND NOT paper_key = ANY($2) RETURNING paper_key`, harvest, keys).Query(note)
		if err := tx.SendBatch(ctx, b).Close(); err != nil || len(changed) == 0 {
			return err
		}
		return changeWanted(ctx, tx, changed)
	})
}

// FoundPapers lists the papers that documents on record are.
func (db PaperRecords) FoundPapers(ctx context.Context) ([]gleaner.Paper, error) {
	return List[gleaner.Paper](ctx, db, `SELECT `+paperColumns+` FROM papers p
		WHERE EXISTS (SELECT 1 FROM matches m WHERE m.paper_key=p.key AND `+FoundSQL+`)`)
}

// Copy is a place where a catalogue says that a paper is.
type Copy struct {
	Paper   string `json:"paper"`
	URL     string `json:"url"`
	Landing bool   `json:"landing"`
	Version string `json:"version"`
	License string `json:"license,omitempty"`
	Host    string `json:"host"`
	Source  string `json:"source"`
}

// SaveCopies records copies by paper and URL.
func (db PaperRecords) SaveCopies(ctx context.Context, copies []Copy) error {
	b := &pgx.Batch{}
	inOrder := slices.SortedStableFunc(slices.Values(copies), func(a, b Copy) int { return cmp.Or(strings.Compare(a.Paper, b.Paper), strings.Compare(a.URL, b.URL)) })
	for _, c := range inOrder {
		b.Queue(`INSERT INTO copies (paper_key, url, landing, version, license, host_kind, source) VALUES ($1,$2,$3,$4,$5,$6,$7)
			ON CONFLICT (paper_key, md5(url)) DO UPDATE SET landing=EXCLUDED.landing, version=EXCLUDED.version, license=EXCLUDED.license,
				host_kind=EXCLUDED.host_kind, source=EXCLUDED.source`, c.Paper, c.URL, c.Landing, c.Version, c.License, c.Host, c.Source)
	}
	return db.Pool.SendBatch(ctx, b).Close()
}

// OpenCopies lists where catalogues say that copies of some papers are, by paper;
// landing pages come last.
func (db PaperRecords) OpenCopies(ctx context.Context, papers []string) (map[string][]Copy, error) {
	return Map[string, []Copy](ctx, db, `SELECT paper_key,
			array_agg(ROW(paper_key, url, landing, version, license, host_kind, source) ORDER BY landing, url)
		FROM copies WHERE paper_key = ANY($1) GROUP BY paper_key`, papers)
}

// ErrNoPaper is returned for a paper that the record does not know.
var ErrNoPaper = errors.New("no such paper")

// How a paper stands in a harvest.
const (
	PaperHeld    = "held"    // the library had it
	PaperFound   = "found"   // a document is it
	PaperMissing = "missing" // neither
)

// HarvestPaper is a paper as it stands in a harvest.
type HarvestPaper struct {
	Paper   string   `json:"paper"`
	Title   string   `json:"title"`
	Year    int      `json:"year"`
	Authors []string `json:"authors"`
	State   string   `json:"state"`
	HeldWhy string   `json:"held_why,omitempty"`
	SHA256  string   `json:"sha256,omitempty"` // of the best document that is it

	// Why it is missing, as the report says that was kept last.
	Reason   string   `json:"reason,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
}

// PaperQuery are conditions on the papers of a harvest; zero fields are none.
type PaperQuery struct {
	Harvest string
	State   string
	Years   gleaner.Years
	After   string // the paper before the first
	Limit   int
}

const harvestPapersSQL = `
	SELECT p.key, p.title, p.year, ARRAY(SELECT a->>'name' FROM jsonb_array_elements(p.authors) a), s.state, h.held_why, coalesce(f.sha256, ''), coalesce(w.reason, ''), coalesce(w.evidence, '[]')
	FROM harvest_papers h JOIN papers p ON p.key=h.paper_key
		LEFT JOIN LATERAL (SELECT m.sha256 FROM matches m JOIN documents d ON d.sha256=m.sha256 LEFT JOIN locations l ON l.sha256=m.sha256
			WHERE m.paper_key=h.paper_key AND ` + FoundSQL + ` ORDER BY ` + bestFirst + ` LIMIT 1) f ON true
		CROSS JOIN LATERAL (SELECT CASE WHEN h.held THEN 'held' WHEN f.sha256 IS NOT NULL THEN 'found' ELSE 'missing' END AS state) s
		LEFT JOIN missing_papers w ON w.harvest_id=h.harvest_id AND w.paper_key=h.paper_key AND s.state='missing'
	WHERE h.harvest_id=$1 AND h.paper_key > $2 AND p.key > $2 AND ($3='' OR s.state=$3) AND ($4::int[] IS NULL OR p.year = ANY($4))
	ORDER BY h.paper_key LIMIT $5`

func (q PaperQuery) args() []any {
	return []any{q.Harvest, q.After, q.State, q.Years.All(), q.Limit}
}

// HarvestPapers lists papers of a harvest, by key.
func (db PaperRecords) HarvestPapers(ctx context.Context, q PaperQuery) ([]HarvestPaper, error) {
	return List[HarvestPaper](ctx, db, harvestPapersSQL, q.args()...)
}

// Paper returns a paper. The error is ErrNoPaper for one that is not known.
func (db PaperRecords) Paper(ctx context.Context, key string) (gleaner.Paper, error) {
	return One(ctx, db, pgx.RowToStructByPos[gleaner.Paper], fmt.Errorf("%s: %w", key, ErrNoPaper), `SELECT `+paperColumns+` FROM papers p WHERE p.key=$1`, key)
}

// PaperHarvest is a harvest that is after a paper.
type PaperHarvest struct {
	Harvest string `json:"harvest"`
	Held    bool   `json:"held"`
	HeldWhy string `json:"held_why,omitempty"`

	// Why it is missing, as the report says that was kept last.
	Reason   string   `json:"reason,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
}

// PaperHarvests lists the harvests that are after a paper.
func (db PaperRecords) PaperHarvests(ctx context.Context, key string) ([]PaperHarvest, error) {
	return List[PaperHarvest](ctx, db, `SELECT h.harvest_id, h.held, h.held_why, coalesce(w.reason, ''), coalesce(w.evidence, '[]') FROM harvest_papers h
		LEFT JOIN missing_papers w ON w.harvest_id=h.harvest_id AND w.paper_key=h.paper_key AND `+missingSQL+` WHERE h.paper_key=$1 ORDER BY h.harvest_id`, key)
}

// Candidate is a document that was compared with a paper.
type Candidate struct {
	SHA256  string   `json:"sha256"`
	URL     string   `json:"url"`
	Class   string   `json:"class"`
	Verdict string   `json:"verdict"`
	Score   float64  `json:"score"`
	Form    string   `json:"form"`
	Reasons []string `json:"reasons"`
	Settled string   `json:"settled,omitempty"`
	Found   bool     `json:"found"` // it is the paper
	Also    []string `json:"also"`  // titles of other papers that it is
}

// Candidates lists the documents that were compared with a paper and are like it,
// those that are it first.
func (db PaperRecords) Candidates(ctx context.Context, key string) ([]Candidate, error) {
	return List[Candidate](ctx, db, `SELECT m.sha256, coalesce((SELECT url FROM locations l WHERE l.sha256=m.sha256 ORDER BY current DESC, url LIMIT 1), ''),
			d.class, m.verdict, m.score, m.form, m.reasons, m.settled, `+FoundSQL+`, `+alsoSQL+`
		FROM matches m JOIN papers p ON p.key=m.paper_key JOIN documents d ON d.sha256=m.sha256 WHERE m.paper_key=$1 ORDER BY 9 DESC, m.score DESC, m.sha256 LIMIT 100`, key)
}

// maxTitle is the length in characters at which the first lines of a text are cut.
const maxTitle = 80

// DocumentTitle is a title of a document of no known paper, "" without one: the words of
// a link, its first lines, or its metadata. Programs that write documents fill the metadata
// with names of files, so these come last.
func DocumentTitle(anchor, text, meta string) string {
	for _, words := range []string{anchor, firstLines(text), meta} {
		if words = strings.Join(strings.Fields(words), " "); isTitle(words) {
			return words
		}
	}
	return ""
}

// firstLines are the first two lines of a text that hold words.
func firstLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.ContainsFunc(line, unicode.IsLetter) {
			lines = append(lines, line)
		}
		if len(lines) == 2 {
			break
		}
	}
	all := []rune(strings.Join(lines, " "))
	if len(all) > maxTitle {
		return string(all[:maxTitle]) + "…"
	}
	return string(all)
}

var noTitle = regexp.MustCompile(`(?i)^(untitled|microsoft word|my title)|\.(docx?|dvi|tex|ps|pdf)$`)

// isTitle reports whether words say what a document is about: a name of a file, and
// links such as "PDF" or "full text", do not.
func isTitle(words string) bool {
	long := each.Count(strings.Fields(words), func(w string) bool { return utf8.RuneCountInString(w) > 3 })
	return !noTitle.MatchString(words) && strings.Contains(words, " ") && (long > 1 || utf8.RuneCountInString(words) > 15)
}
