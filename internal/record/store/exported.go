package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

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
	for i := range out {
		out[i].Identity = out[i].Paper
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
