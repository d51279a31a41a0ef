package store

import "context"

// Counters are those of CDI (Wu et al., WIDM 2012, Table 1), of every file that a
// harvest's sites gave, in each version. They are computed from the record, so a
// file that was taken twice counts once. All is the sum of the others but
// Filtered, which is the sum of its two parts.
type Counters struct {
	All                int `json:"all"`
	SavedNew           int `json:"saved_New"`              // accepted, the first of its text
	SavedDuplicate     int `json:"saved_Duplicate"`        // accepted, the same bytes or text as one of saved_New
	Filtered           int `json:"filtered"`               //
	FilteredMTF        int `json:"filtered_MTF"`           // by kind: no document, no reader for it, a source
	FilteredDCF        int `json:"filtered_DCF"`           // by content: not academic
	FailedTextExtract  int `json:"failed_TextExtract"`     // encrypted, broken, cut off, pictures
	FailedFileNotFound int `json:"failed_FileNotFound"`    // the repository has lost the file, or examining it failed for good
	FailedPDFNotFound  int `json:"failed_PDFFilenotFound"` // a web page in a document's place
	Unexamined         int `json:"unexamined"`             // waits
}

// HarvestCounters computes Counters of a harvest; "" is the whole collection.
func (db *DB) HarvestCounters(ctx context.Context, harvest string) (c Counters, err error) {
	err = db.Pool.QueryRow(ctx, `
		WITH item AS (SELECT d.sha256, d.state, d.outcome, d.class, CASE WHEN d.same_as='' THEN d.sha256 ELSE d.same_as END AS text
			FROM locations l JOIN documents d ON d.sha256=l.sha256
			WHERE $1='' OR l.site_id IN (SELECT site_id FROM harvest_sites WHERE harvest_id=$1)),
		other AS (SELECT count(*) AS n FROM urls u WHERE u.state=4 AND u.outcome='wrong-mimetype'
			AND ($1='' OR u.site_id IN (SELECT site_id FROM harvest_sites WHERE harvest_id=$1))),
		n AS (SELECT count(*) AS every,
			count(DISTINCT text) FILTER (WHERE state='accepted') AS fresh, count(*) FILTER (WHERE state='accepted') AS accepted,
			count(*) FILTER (WHERE state='rejected' AND class='' AND outcome IN ('not-a-document', 'no-reader', 'source', 'unwelcome')) AS mtf,
			count(*) FILTER (WHERE state='rejected' AND class<>'') AS dcf,
			count(*) FILTER (WHERE state='rejected' AND class='' AND outcome IN ('wall', 'error-page')) AS page,
			count(*) FILTER (WHERE state='rejected' AND class='' AND outcome NOT IN ('not-a-document', 'no-reader', 'source', 'unwelcome', 'wall', 'error-page')) AS unread,
			count(*) FILTER (WHERE state='failed') AS failed, count(*) FILTER (WHERE state='new') AS waiting FROM item)
		SELECT every + o.n, fresh, accepted - fresh, mtf + o.n + dcf, mtf + o.n, dcf, unread, failed, page, waiting FROM n, other o`, harvest).
		Scan(&c.All, &c.SavedNew, &c.SavedDuplicate, &c.Filtered, &c.FilteredMTF, &c.FilteredDCF, &c.FailedTextExtract, &c.FailedFileNotFound,
			&c.FailedPDFNotFound, &c.Unexamined)
	return c, err
}
