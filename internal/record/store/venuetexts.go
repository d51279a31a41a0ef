package store

import "context"

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
