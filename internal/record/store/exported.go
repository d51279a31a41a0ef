package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// Exported is one found paper as scripts read it.
type Exported struct {
	Paper     string           `json:"paper"`
	Title     string           `json:"title"`
	Year      int              `json:"year,omitempty"` // 0 where it is not known
	SHA256    string           `json:"sha256"`
	URL       string           `json:"url"`
	ParentURL string           `json:"parent_url"`
	MatchedBy string           `json:"matched_by"`
	Score     float64          `json:"score"`
	FetchedAt time.Time        `json:"fetched_at"`
	Path      string           `json:"path" db:"-"`
	Authors   []gleaner.Author `json:"authors,omitempty"`
	DOI       string           `json:"doi,omitempty"`
	Venue     string           `json:"venue,omitempty"`      // its key
	VenueName string           `json:"venue_name,omitempty"` // as people write it; the key where that is not known

	Type string `json:"type,omitempty" db:"-"` // of its entry in the list, as gleaner.Paper has it

	References    int      `json:"references" db:"-"` // entries of its reference list
	ReferenceList []string `json:"reference_list,omitempty" db:"-"`

	Kind string `json:"kind"`        // of the document: pdf, postscript, …
	Also []Twin `json:"also" db:"-"` // the same paper in other files, the best first

	ChangedAt time.Time `json:"-"`        // when it became what it is
	DocumentN int64     `json:"-"`        // the how manieth document it is
	Identity  string    `json:"-" db:"-"` // by which it is known for good: its paper, its document that was found first, its address
}

// Twin is another document of a paper: its PostScript beside its PDF, its draft
// beside what was printed.
type Twin struct {
	SHA256 string `json:"sha256"`
	URL    string `json:"url"`
	Kind   string `json:"kind"`
	Path   string `json:"path" db:"-"`
}

// candidateColumns are those of documents d at locations l that may stand for what they
// were found as, if anything.
const candidateColumns = `coalesce(p.key, ''), coalesce(p.title, ''), coalesce(p.year, 0), d.sha256, l.url, l.parent,
	CASE WHEN m.settled='yes' THEN 'settled' ELSE coalesce(m.verdict, '') END, coalesce(m.score, d.score), l.found_at, coalesce(p.authors, '[]'), coalesce(p.doi, ''),
	coalesce(p.venue, ''), coalesce((SELECT coalesce(nullif(v.title, ''), nullif(v.name, '')) FROM venues v WHERE v.key=p.venue), p.venue, ''), d.kind,
	greatest(l.found_at, coalesce(m.matched_at, d.updated_at)), d.id`

// goalSQL is true of a paper p that is of the goal named by an argument: a venue's
// own, or one of the papers that a harvest of that name is after.
func goalSQL(arg string) string {
	return `(p.venue=` + arg + ` OR EXISTS (SELECT 1 FROM harvest_papers hp JOIN harvests v ON v.id=hp.harvest_id WHERE hp.paper_key=p.key AND v.venue=` + arg + `))`
}

// Export lists the found papers of a venue, a person or a list with their best
// document and the others, by key.
func (db DocumentRecords) Export(ctx context.Context, venueKey string, years gleaner.Years) ([]Exported, error) {
	all, err := List[Exported](ctx, db, `SELECT `+candidateColumns+`
		FROM papers p JOIN matches m ON m.paper_key=p.key JOIN documents d ON d.sha256=m.sha256
			JOIN LATERAL (SELECT * FROM locations l WHERE l.sha256=d.sha256 ORDER BY l.current DESC, l.url COLLATE "C" LIMIT 1) l ON true
		WHERE `+goalSQL("$1")+` AND (p.venue<>$1 OR `+listedSQL+`) AND ($2::int[] IS NULL OR p.year = ANY($2)) AND `+FoundSQL+`
		ORDER BY p.key, `+bestFirst, venueKey, years.All())
	if err != nil {
		return nil, err
	}
	kin, err := db.kin(ctx, all)
	if err != nil {
		return nil, err
	}
	var papers [][]Exported
	for i, c := range all {
		if i == 0 || all[i-1].Paper != c.Paper {
			papers = append(papers, nil)
		}
		papers[len(papers)-1] = append(papers[len(papers)-1], c)
	}
	out := namesOne(papers, kin)
	types, err := Map[string, string](ctx, db, `SELECT paper->>'key', paper->>'type' FROM listings WHERE source='file' AND venue=$1 AND paper ? 'type'`, venueKey)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Identity, out[i].Type = out[i].Paper, types[out[i].Paper]
	}
	return db.withReferences(ctx, out)
}

// ExportAcademic lists the papers among the accepted documents on the sites of the
// harvests of a goal, each with its best document and the others, by URL. Of a site they
// are those within the scope of its last harvest.
func (db DocumentRecords) ExportAcademic(ctx context.Context, goal string) ([]Exported, error) {
	papers, kin, err := db.academic(ctx, goal)
	if err != nil {
		return nil, err
	}
	out := namesOne(papers, kin)
	slices.SortFunc(out, func(a, b Exported) int { return cmp.Or(cmp.Compare(a.URL, b.URL), cmp.Compare(a.SHA256, b.SHA256)) })
	return db.withReferences(ctx, out)
}

// ExportDocuments are some documents, each with the paper that it was found to be and
// its reference list, by SHA-256.
func (db DocumentRecords) ExportDocuments(ctx context.Context, shas []string) (map[string]Exported, error) {
	all, err := List[Exported](ctx, db, `SELECT DISTINCT ON (d.sha256) `+candidateColumns+`
		FROM documents d JOIN locations l ON l.sha256=d.sha256 LEFT JOIN matches m ON m.sha256=d.sha256 AND `+FoundSQL+` LEFT JOIN papers p ON p.key=m.paper_key
		WHERE d.sha256 = ANY($1) ORDER BY d.sha256, `+bestFirst, shas)
	if err != nil {
		return nil, err
	}
	all, err = db.withReferences(ctx, all)
	out := map[string]Exported{}
	for _, e := range all {
		e.Also, e.Identity = []Twin{}, e.SHA256
		out[e.SHA256] = e
	}
	return out, err
}

// AcademicPapers counts the papers among the accepted documents on the sites of the
// harvests of a goal, where twins are one.
func (db DocumentRecords) AcademicPapers(ctx context.Context, goal string) (int, error) {
	papers, _, err := db.academic(ctx, goal)
	return len(papers), err
}

// academic are the accepted documents on the sites of a goal, those of one paper
// together: found as the same paper, of one text, or of one name.
func (db DocumentRecords) academic(ctx context.Context, goal string) ([][]Exported, map[string][]relative, error) {
	all, err := List[Exported](ctx, db, `SELECT `+candidateColumns+`
		FROM documents d JOIN locations l ON l.sha256=d.sha256 AND l.current
			LEFT JOIN matches m ON m.sha256=d.sha256 AND `+FoundSQL+` LEFT JOIN papers p ON p.key=m.paper_key
		WHERE d.state='accepted' AND EXISTS (SELECT 1 FROM harvest_sites hs JOIN harvests v ON v.id=hs.harvest_id WHERE hs.site_id=l.site_id AND v.venue=$1)
		ORDER BY `+bestFirst, goal)
	if err != nil {
		return nil, nil, err
	}
	h, err := HarvestRecords(db).FindHarvest(ctx, goal)
	if err != nil && !errors.Is(err, ErrNoHarvest) {
		return nil, nil, err
	}
	if in := h.inScope(); in != nil {
		all = slices.DeleteFunc(all, func(c Exported) bool { return !in(c.URL, c.ParentURL) })
	}
	kin, err := db.kin(ctx, all)
	if err != nil {
		return nil, nil, err
	}
	one := joined{}
	for _, c := range all {
		if c.Paper != "" {
			one.join(c.SHA256, "paper "+c.Paper)
		}
		for _, r := range kin[c.SHA256] {
			one.join(c.SHA256, r.SHA256)
		}
	}
	var papers [][]Exported
	place := map[string]int{}
	for _, c := range all {
		root := one.root(c.SHA256)
		i, ok := place[root]
		if !ok {
			i, papers = len(papers), append(papers, nil)
			place[root] = i
		}
		papers[i] = append(papers[i], c)
	}
	return papers, kin, nil
}

// namesOne names the best document of each paper, and the others beside it. It is known
// by the one that was found first, and as new as what changed last.
func namesOne(papers [][]Exported, kin map[string][]relative) []Exported {
	out := make([]Exported, 0, len(papers))
	for _, of := range papers {
		e := of[0]
		e.Also = []Twin{}
		seen := map[string]bool{e.SHA256: true}
		add := func(t Twin) {
			if !seen[t.SHA256] {
				seen[t.SHA256] = true
				e.Also = append(e.Also, t)
			}
		}
		first := slices.MinFunc(of, func(a, b Exported) int { return cmp.Compare(a.DocumentN, b.DocumentN) })
		e.Identity = first.SHA256
		for _, c := range of {
			if c.ChangedAt.After(e.ChangedAt) {
				e.ChangedAt = c.ChangedAt
			}
			add(Twin{SHA256: c.SHA256, URL: c.URL, Kind: c.Kind})
		}
		for _, c := range of {
			for _, r := range kin[c.SHA256] {
				if !r.Known {
					add(r.Twin)
				}
			}
		}
		out = append(out, e)
	}
	return out
}

// withReferences gives each paper the reference list of its document, and its title where
// that of no paper is known.
func (db DocumentRecords) withReferences(ctx context.Context, papers []Exported) ([]Exported, error) {
	shas := each.Of(papers, func(p Exported) string { return p.SHA256 })
	type of struct {
		SHA256             string
		N                  int
		List               []string
		Anchor, Text, Meta string
	}
	all, err := List[of](ctx, db, `SELECT sha256, refs, reference_list, coalesce((SELECT l.anchor FROM locations l
			WHERE l.sha256=d.sha256 ORDER BY l.current DESC, l.url LIMIT 1), ''), left(first_pages, 1000), meta_title
		FROM documents d WHERE sha256 = ANY($1)`, shas)
	by := map[string]of{}
	for _, o := range all {
		by[o.SHA256] = o
	}
	for i := range papers {
		p, o := &papers[i], by[papers[i].SHA256]
		p.References, p.ReferenceList = o.N, o.List
		p.Title = cmp.Or(p.Title, DocumentTitle(o.Anchor, o.Text, o.Meta))
	}
	return papers, err
}

// relative is a document that is another's paper too, by its text or its name.
type relative struct {
	Of string
	Twin
	Known bool // what it is was found or said: the paper that it is named for may be another
}

// endings are those of files that papers come in, packed or not.
const endings = `'(\.(pdf|ps|eps|dvi|djvu|docx?|rtf|odt|tex)(\.(gz|z|bz2|zip))?|\.zip)$'`

// namedSQL are locations with their URL without the file's ending. An archive's
// name is that of a document only where it holds one.
const namedSQL = `SELECT l.sha256, l.site_id, l.url, regexp_replace(l.url, ` + endings + `, '', 'i') AS name FROM locations l
	WHERE l.current AND l.url ~* ` + endings + ` AND (l.member='' OR NOT EXISTS (SELECT 1 FROM locations o
		WHERE o.site_id=l.site_id AND md5(o.url)=md5(l.url) AND o.member<>'' AND o.member<>l.member AND o.current))`

// kin lists for each document those of the same text, and those that have its name
// with another ending: whoever puts paper.ps.gz beside paper.pdf means one paper,
// also where no program reads one of them.
func (db DocumentRecords) kin(ctx context.Context, of []Exported) (map[string][]relative, error) {
	shas := each.Of(of, func(c Exported) string { return c.SHA256 })
	all, err := List[relative](ctx, db, `
		WITH f AS (SELECT d.sha256, CASE WHEN d.same_as='' THEN d.sha256 ELSE d.same_as END AS root FROM documents d WHERE d.sha256 = ANY($1)),
		at AS (`+namedSQL+` AND l.sha256 = ANY($1)),
		beside AS (`+namedSQL+` AND l.site_id IN (SELECT site_id FROM at)),
		pairs AS (
			SELECT f.sha256 AS of, f.root AS sha256 FROM f UNION
			SELECT f.sha256, d.sha256 FROM f JOIN documents d ON d.same_as=f.root AND d.same_as<>'' UNION
			SELECT at.sha256, b.sha256 FROM at JOIN beside b ON b.site_id=at.site_id AND b.name=at.name)
		SELECT pairs.of, d.sha256, l.url, d.kind,
			EXISTS (SELECT 1 FROM matches m WHERE m.sha256=d.sha256 AND (m.settled='no' OR `+FoundSQL+`))
		FROM pairs JOIN documents d ON d.sha256=pairs.sha256
			JOIN LATERAL (SELECT url FROM locations l WHERE l.sha256=d.sha256 ORDER BY current DESC, url COLLATE "C" LIMIT 1) l ON true
		WHERE pairs.of<>d.sha256
		ORDER BY pairs.of, d.outcome='ok' DESC, d.kind='pdf' DESC, d.kind='postscript' DESC, l.url COLLATE "C", d.sha256`, shas)
	return each.By(all, func(r relative) string { return r.Of }), err
}

// joined are names of which some mean the same thing.
type joined map[string]string

func (j joined) root(name string) string {
	for j[name] != "" {
		name = j[name]
	}
	return name
}

func (j joined) join(a, b string) {
	if a, b = j.root(a), j.root(b); a != b {
		j[a] = b
	}
}

// publishedSQL is how many pages a paper p has in print, by what its source says
// ("12-34", "205:1-205:23"); null where that is a first page alone, or no number.
const publishedSQL = `(SELECT CASE WHEN b.last - b.first < 400 THEN b.last - b.first + 1 END
	FROM (SELECT r[1]::int AS first, r[2]::int AS last FROM regexp_match(p.pages, '^\s*(?:\w{1,9}:)?[a-zA-Z]?(\d{1,7})\s*[-–—]+\s*(?:\w{1,9}:)?[a-zA-Z]?(\d{1,7})\s*$') r) b
	WHERE b.last >= b.first)`

// farOffSQL is by how many pages a document d is longer or shorter than its paper p is
// in print. Less than half of that and more than twice it say only that it is another
// form of the work; where either is not known, or that is so, all are alike.
const farOffSQL = `(SELECT CASE WHEN d.pages BETWEEN (n.pages+1)/2 AND 2*n.pages THEN abs(d.pages - n.pages) ELSE 1000 END FROM (SELECT ` + publishedSQL + ` AS pages) n)`

// bestFirst orders documents d, at locations l, of one paper p that they match by m, or
// of one text: what a person said, what still stands where it was found, accepted,
// read whole, PDF before PostScript, of the length that was printed, the surer match,
// the published form, the longer.
const bestFirst = `coalesce(m.settled, '')='yes' DESC, coalesce(l.current, false) DESC, d.state='accepted' DESC, d.outcome='ok' DESC,
	d.kind='pdf' DESC, d.kind='postscript' DESC, ` + farOffSQL + `,
	array_position(ARRAY['exact','strong','ambiguous','different'], m.verdict), array_position(ARRAY['paper','preprint','extended','slides','poster'], m.form),
	d.pages DESC, d.words DESC, d.bytes DESC, d.sha256, m.score DESC NULLS LAST, p.key, l.url COLLATE "C"`

// besideSQL is what bestFirst asks of a document d beside itself.
const besideSQL = ` LEFT JOIN locations l ON l.sha256=d.sha256 LEFT JOIN matches m ON m.sha256=d.sha256 AND ` + FoundSQL + ` LEFT JOIN papers p ON p.key=m.paper_key `

// mostCopies bounds how many documents that share a band are compared: the bands
// of much-used boilerplate lead to many, of which those that share most come
// first.
const mostCopies = 64

// mostShared bounds how many documents that share a band are looked at. A copy
// shares most of its bands, and so many share one only where boilerplate is all
// that a text has.
const mostShared = 4096

// copiesLock is what a judgement holds until it is committed: shared with the
// others where the text has no copy, alone where groups are put together. Of two
// copies that are judged at once the first holds it shared, and the second, which
// sees the first one's sketch, waits until that is judged.
const copiesLock = `hashtext('gleaner copies')`

// copiesOf takes the lock, alone or shared, and lists the documents whose text is
// that of one.
func copiesOf(ctx context.Context, tx pgx.Tx, sha string, kin Kin, alone bool) ([]string, error) {
	if len(kin.Bands) == 0 {
		return nil, nil
	}
	lock := `SELECT pg_advisory_xact_lock_shared(` + copiesLock + `)`
	if alone {
		lock = `SELECT pg_advisory_xact_lock(` + copiesLock + `)`
	}
	// In one round; each statement sees what was committed until it began, and the
	// last one thus what was until the lock was had. How many rows share a band
	// the planner cannot tell, and would at some size read them all.
	b := &pgx.Batch{}
	b.Queue(lock)
	b.Queue(`SET LOCAL enable_seqscan = off`)
	var out []string
	b.Queue(`SELECT s.sha256, s.sketch FROM (SELECT * FROM sketches WHERE bands && $1 AND sha256 <> $2 LIMIT $4) s
		ORDER BY (SELECT count(*) FROM unnest(s.bands) b WHERE b = ANY($1)) DESC, s.sha256 LIMIT $3`, kin.Bands, sha, mostCopies, mostShared).
		Query(func(rows pgx.Rows) error {
			var other string
			var sketch []byte
			_, err := pgx.ForEachRow(rows, []any{&other, &sketch}, func() error {
				if kin.Same(sketch) {
					out = append(out, other)
				}
				return nil
			})
			return err
		})
	err := tx.SendBatch(ctx, b).Close()
	return out, err
}

// group makes one group of all groups that the documents belong to, with the best
// copy as the one that same_as names. Those not judged yet join when they are.
// Whole groups are joined, so the result does not depend on the order in which
// copies were met.
func group(ctx context.Context, tx pgx.Tx, shas []string) error {
	_, err := tx.Exec(ctx, `
		WITH roots AS (SELECT DISTINCT CASE WHEN same_as='' THEN sha256 ELSE same_as END AS sha256 FROM documents WHERE sha256 = ANY($1) AND state <> 'new'),
		members AS (SELECT d.* FROM documents d WHERE d.state <> 'new' AND (d.sha256 IN (SELECT sha256 FROM roots) OR d.same_as IN (SELECT sha256 FROM roots))),
		best AS (SELECT d.sha256 FROM members d`+besideSQL+`ORDER BY `+bestFirst+` LIMIT 1)
		UPDATE documents u SET same_as = CASE WHEN u.sha256 = b.sha256 THEN '' ELSE b.sha256 END, updated_at = now()
		FROM best b WHERE u.sha256 IN (SELECT sha256 FROM members)
			AND u.same_as <> CASE WHEN u.sha256 = b.sha256 THEN '' ELSE b.sha256 END`, shas)
	return err
}

// Duplicates lists the documents of the same text as one, the best first, itself
// among them; only itself where there are none.
func (db DocumentRecords) Duplicates(ctx context.Context, sha string) ([]string, error) {
	return Column[string](ctx, db, `SELECT d.sha256 FROM documents d, (SELECT CASE WHEN same_as='' THEN sha256 ELSE same_as END AS sha256 FROM documents WHERE sha256=$1) r
		WHERE d.sha256=r.sha256 OR d.same_as=r.sha256 ORDER BY d.same_as<>'', d.sha256`, sha)
}
