package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// SaveListing replaces what a source lists for a volume.
func (db PaperRecords) SaveListing(ctx context.Context, source, venueKey, volume string, papers []gleaner.Paper) error {
	b := &pgx.Batch{}
	b.Queue(`DELETE FROM listings WHERE source=$1 AND venue=$2 AND volume=$3`, source, venueKey, volume)
	b.Queue(`INSERT INTO listings (source, venue, volume, position, year, paper) SELECT $1, $2, $3, n - 1, (paper->>'year')::int, paper
		FROM jsonb_array_elements($4::jsonb) WITH ORDINALITY p (paper, n)`, source, venueKey, volume, each.List(papers))
	year := 0
	if len(papers) > 0 {
		year = papers[0].Year
	}
	b.Queue(`INSERT INTO volumes (id, venue, year, papers) VALUES ($1,$2,$3,$4)
		ON CONFLICT (id) DO UPDATE SET papers=EXCLUDED.papers, listed_at=now()`, volumeID(source, venueKey, volume), venueKey, year, len(papers))
	return db.Send(ctx, b)
}

func volumeID(source, venueKey, volume string) string { return source + ":" + venueKey + ":" + volume }

// ListedAt says when a source listed a volume last, zero if never.
func (db PaperRecords) ListedAt(ctx context.Context, source, venueKey, volume string) (time.Time, error) {
	return Get[time.Time](ctx, db, `SELECT coalesce((SELECT listed_at FROM volumes WHERE id=$1), `+never+`)`, volumeID(source, venueKey, volume))
}

// Listing lists what a source says that a venue published in the years, in the
// source's order.
func (db PaperRecords) Listing(ctx context.Context, source, venueKey string, years gleaner.Years) ([]gleaner.Paper, error) {
	return Column[gleaner.Paper](ctx, db, `SELECT paper FROM listings WHERE source=$1 AND venue=$2 AND ($3::int[] IS NULL OR year = ANY($3)) ORDER BY year, volume, position`,
		source, venueKey, years.All())
}

// WantedList is a list of wanted papers that somebody entered.
type WantedList struct {
	Name     string    `json:"name"`
	Papers   int       `json:"papers"`
	Entered  time.Time `json:"entered_at"`
	Harvests []string  `json:"harvests"` // of it that are on record
}

// WantedLists lists the lists of wanted papers, the last entered first.
func WantedLists(ctx context.Context, db *DB) ([]WantedList, error) {
	return List[WantedList](ctx, db, `SELECT substr(v.venue, 8), sum(v.papers)::int, max(v.listed_at),
			ARRAY(SELECT h.id FROM harvests h WHERE h.venue=v.venue ORDER BY h.id)
		FROM volumes v WHERE v.id LIKE 'file:papers:%' GROUP BY v.venue ORDER BY 3 DESC, 1`)
}

// RemoveList removes a list of wanted papers, and reports whether there was one of which no
// harvest is on record. What is known of its papers stays.
func RemoveList(ctx context.Context, db *DB, goal string) (was bool, err error) {
	err = db.Tx(ctx, func(tx pgx.Tx) (err error) {
		was, err = Get[bool](ctx, tx, `WITH was AS (DELETE FROM volumes v
				WHERE venue=$1 AND NOT EXISTS (SELECT 1 FROM harvests h WHERE h.venue=v.venue) RETURNING venue),
			listed AS (DELETE FROM listings WHERE venue IN (SELECT venue FROM was)),
			named AS (DELETE FROM venues WHERE key IN (SELECT venue FROM was))
			SELECT EXISTS (SELECT FROM was)`, goal)
		return err
	})
	return was, err
}

// lettersOf is the SQL of the letters and digits of a title, by which two sources have the same.
func lettersOf(title string) string {
	return `regexp_replace(lower(` + title + `), '[^[:alnum:]]+', '', 'g')`
}

// PapersLike lists the papers of venues that have the DOI or the title of one of some papers.
func (db PaperRecords) PapersLike(ctx context.Context, some []gleaner.Paper) ([]gleaner.Paper, error) {
	dois := each.Of(some, func(p gleaner.Paper) string { return p.DOI })
	titles := each.Of(some, func(p gleaner.Paper) string { return p.Title })
	return List[gleaner.Paper](ctx, db, `SELECT `+paperColumns+` FROM papers p
		WHERE p.venue NOT LIKE 'papers:%' AND (p.doi<>'' AND p.doi = ANY($1)
			OR `+lettersOf("p.title")+` IN (SELECT `+lettersOf("t")+` FROM unnest($2::text[]) t WHERE t<>'')) ORDER BY p.key`, dois, titles)
}

// SaveRecords writes merged papers with the origin of the fields of each.
func (db PaperRecords) SaveRecords(ctx context.Context, papers []gleaner.Paper, from []gleaner.Origin) error {
	return savePapers(ctx, db, papers, from)
}

// SaveNewRecords is SaveRecords for those that the record does not have: of the
// others it may know more, from more sources.
func (db PaperRecords) SaveNewRecords(ctx context.Context, papers []gleaner.Paper, from []gleaner.Origin) error {
	keys := each.Of(papers, func(p gleaner.Paper) string { return p.Key })
	had, err := Column[string](ctx, db, `SELECT key FROM papers WHERE key = ANY($1)`, keys)
	if err != nil {
		return err
	}
	var new []gleaner.Paper
	var origins []gleaner.Origin
	for i, p := range papers {
		if !slices.Contains(had, p.Key) {
			new, origins = append(new, p), append(origins, from[i])
		}
	}
	return db.SaveRecords(ctx, new, origins)
}

// Venue is a venue with what a person said of it.
type Venue struct {
	gleaner.Venue
	Sources string    `json:"sources,omitempty"` // to be asked for it, "" for those of the settings
	Named   time.Time `json:"named"`             // when catalogues were asked for its names, zero if never
}

// Venue returns a venue of the record; one that it does not know has but a key.
func (db PaperRecords) Venue(ctx context.Context, key string) (Venue, error) {
	return One(ctx, db, pgx.RowToStructByPos[Venue], nil, `SELECT of.key, coalesce(name, ''), coalesce(title, ''), coalesce(ids, '{}'),
			coalesce(sources, ''), coalesce(named_at, `+never+`)
		FROM (VALUES ($1::text)) of (key) LEFT JOIN venues v ON v.key=of.key`, key)
}

// NameVenue keeps a venue's names.
func (db PaperRecords) NameVenue(ctx context.Context, v gleaner.Venue) error {
	return db.Exec(ctx, `INSERT INTO venues (key, name, title, named_at) VALUES ($1,$2,$3,now())
		ON CONFLICT (key) DO UPDATE SET name=EXCLUDED.name, title=EXCLUDED.title, named_at=EXCLUDED.named_at`, v.Key, v.Name, v.Title)
}

// DescribeVenue keeps a person's word about a venue: names of it in other
// catalogues, added to those given before, and its sources, "" to leave them.
func (db PaperRecords) DescribeVenue(ctx context.Context, key string, ids map[string]string, sources string) error {
	if ids == nil {
		ids = map[string]string{}
	}
	return db.Exec(ctx, `INSERT INTO venues (key, ids, sources) VALUES ($1,$2,$3) ON CONFLICT (key) DO UPDATE
		SET ids = venues.ids || EXCLUDED.ids, sources = CASE WHEN $3 = '' THEN venues.sources ELSE $3 END`, key, ids, sources)
}

// SavePersons keeps what a directory says of people, by id; ids that it does not
// know map to nil.
func (db PersonRecords) SavePersons(ctx context.Context, source string, people map[string]*gleaner.Person) error {
	return db.Exec(ctx, `INSERT INTO persons (source, id, person) SELECT $1, key, nullif(value, 'null') FROM jsonb_each($2::jsonb) ORDER BY key
		ON CONFLICT (source, id) DO UPDATE SET person=EXCLUDED.person, asked_at=now()`, source, people)
}

// Persons returns what a directory said of people within maxAge. An id that it
// did not know maps to nil; one that it was not asked for is absent.
func (db PersonRecords) Persons(ctx context.Context, source string, ids []string, maxAge time.Duration) (map[string]*gleaner.Person, error) {
	return Map[string, *gleaner.Person](ctx, db, `SELECT id, person FROM persons
		WHERE source=$1 AND id = ANY($2) AND asked_at > now() - $3::interval`, source, ids, maxAge)
}

// ErrNoSource is returned where nothing was imported from a source.
var ErrNoSource = errors.New("nothing was imported from there")

// errDryRun rolls back what was only tried.
var errDryRun = errors.New("dry run")

// Imported says what an import of holdings came to.
type Imported struct {
	Papers int `json:"papers"` // that the list names, each once
	New    int `json:"new"`    // that no other list named before
	Known  int `json:"known"`
	Gone   int `json:"gone"` // that an earlier list of the name had, and that no list names any more
}

// HeldSource is a list of holdings that was imported.
type HeldSource struct {
	Source   string    `json:"source"`
	Papers   int       `json:"papers"`
	Alone    int       `json:"alone"` // of them, that no other list names
	Imported time.Time `json:"imported"`
}

// heldID is what makes two records of a library the same paper: title and first
// author, however written, and the year. One without a title is told by its identifiers.
func heldID(p gleaner.Paper) []byte {
	if p.Title == "" {
		id := sha256.Sum256(fmt.Appendf(nil, "doi %s\narxiv %s", p.DOI, p.ArXiv))
		return id[:16]
	}
	first := ""
	if names := p.Surnames(); len(names) > 0 {
		first = text.Normalise(names[0])
	}
	id := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", text.Normalise(p.Title), p.Year, first))
	return id[:16]
}

// heldAtOnce is how many papers are written by one statement after another before it
// is told how many there are.
const heldAtOnce = 1000

// SaveHoldings adds what a list says that a library holds, in place of an earlier list of
// its name. A dry run only says what that would come to; told, where it is given, hears how
// many were written.
func (db PaperRecords) SaveHoldings(ctx context.Context, papers []gleaner.Paper, source string, dry bool, told func(done, of int)) (done Imported, err error) {
	byID := map[string]gleaner.Paper{}
	for _, p := range papers {
		byID[string(heldID(p))] = p
	}
	order := slices.Sorted(maps.Keys(byID))
	ids := each.Of(order, func(id string) []byte { return []byte(id) })
	err = db.Tx(ctx, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT count(DISTINCT hash) FROM holdings WHERE hash = ANY($1)`, ids).Scan(&done.Known); err != nil {
			return err
		}
		done.Papers, done.New = len(ids), len(ids)-done.Known
		err := tx.QueryRow(ctx, `WITH del AS (DELETE FROM holdings h WHERE source=$2 AND NOT EXISTS (SELECT FROM unnest($1::bytea[]) hash WHERE hash=h.hash) RETURNING hash)
			SELECT count(*) FROM del WHERE NOT EXISTS (SELECT 1 FROM holdings o WHERE o.hash=del.hash AND o.source <> $2)`, ids, source).Scan(&done.Gone)
		if err != nil {
			return err
		}
		if dry {
			return errDryRun
		}
		written := 0
		for some := range slices.Chunk(order, heldAtOnce) {
			b := &pgx.Batch{}
			for _, id := range some {
				p := byID[id]
				b.Queue(`INSERT INTO holdings (hash, title, year, authors, doi, source) VALUES ($1,$2,$3,$4,$5,$6) ON CONFLICT (hash, source) DO UPDATE
				SET title=EXCLUDED.title, authors=EXCLUDED.authors, doi=EXCLUDED.doi, imported_at=now()`,
					[]byte(id), p.Title, p.Year, each.List(p.Authors), p.DOI, source)
			}
			if err := tx.SendBatch(ctx, b).Close(); err != nil {
				return err
			}
			if written += len(some); told != nil {
				told(written, len(byID))
			}
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return done, err
}

// HeldSources lists the lists of holdings, the last imported first.
func (db PaperRecords) HeldSources(ctx context.Context) ([]HeldSource, error) {
	return List[HeldSource](ctx, db, `SELECT h.source, count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM holdings o WHERE o.hash = h.hash AND o.source <> h.source)), max(h.imported_at)
		FROM holdings h GROUP BY h.source ORDER BY 4 DESC, 1`)
}

// ForgetHoldings removes what one list named, and returns how many papers are no
// longer held. Harvests that began before keep what they were told.
func (db PaperRecords) ForgetHoldings(ctx context.Context, source string, dry bool) (gone int, err error) {
	err = db.Tx(ctx, func(tx pgx.Tx) error {
		var had int
		err := tx.QueryRow(ctx, `WITH del AS (DELETE FROM holdings WHERE source=$1 RETURNING hash)
			SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM holdings o WHERE o.hash = del.hash AND o.source <> $1)) FROM del`, source).Scan(&had, &gone)
		switch {
		case err != nil:
			return err
		case had == 0:
			return fmt.Errorf("%q: %w", source, ErrNoSource)
		case dry:
			return errDryRun
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return gone, err
}

// Holdings lists what the library holds, each paper once.
func (db PaperRecords) Holdings(ctx context.Context) ([]gleaner.Paper, error) {
	return Collect(ctx, db, pgx.RowToStructByNameLax[gleaner.Paper], `SELECT DISTINCT ON (hash) title, year, authors, doi FROM holdings ORDER BY hash, doi DESC, jsonb_array_length(authors) DESC, source`)
}

// VenueText is the beginning of a found paper.
type VenueText struct {
	URL    string
	Parent string // the page that leads to it
	Title  string
	Text   string // of its first pages
}

// VenueTexts are found papers of a venue, a person or a list that can be read, at most
// so many: always the same ones while no other is found, and of all years alike.
func (db PaperRecords) VenueTexts(ctx context.Context, venue string, most int) ([]VenueText, error) {
	return List[VenueText](ctx, db, `SELECT url, parent, title, first_pages FROM (
			SELECT DISTINCT ON (p.key) p.key, l.url, l.parent, p.title, d.first_pages
			FROM papers p JOIN matches m ON m.paper_key=p.key JOIN documents d ON d.sha256=m.sha256
				JOIN LATERAL (SELECT * FROM locations l WHERE l.sha256=d.sha256 ORDER BY l.current DESC, l.url COLLATE "C" LIMIT 1) l ON true
			WHERE `+goalSQL("$1")+` AND `+FoundSQL+` AND d.first_pages <> ''
			ORDER BY p.key, m.score DESC, d.sha256) found
		ORDER BY md5(key) LIMIT $2`, venue, most)
}

// VenueTitles are titles of papers of a venue, a person or a list, at most so many.
func (db PaperRecords) VenueTitles(ctx context.Context, venue string, most int) ([]string, error) {
	return Column[string](ctx, db, `SELECT p.title FROM papers p WHERE `+goalSQL("$1")+` ORDER BY md5(p.key) LIMIT $2`, venue, most)
}
