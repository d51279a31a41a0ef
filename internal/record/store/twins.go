package store

import (
	"context"

	"gleaner/internal/each"
)

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
	out := map[string][]relative{}
	for _, r := range all {
		out[r.Of] = append(out[r.Of], r)
	}
	return out, err
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
