package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Counters are those of CDI (Wu et al., WIDM 2012, Table 1), of every file that a
// harvest's sites gave, in each version. They are computed from the record, so a
// file that was taken twice counts once. All is the sum of the others but
// Filtered, which is the sum of its two parts, and SameText.
type Counters struct {
	All                int `json:"all"`
	SavedNew           int `json:"saved_New"`              // accepted, the first from its URL
	SavedDuplicate     int `json:"saved_Duplicate"`        // accepted, from a URL from which one was saved before: another version
	Filtered           int `json:"filtered"`               //
	FilteredMTF        int `json:"filtered_MTF"`           // by kind: no document, a source, a web page in its place
	FilteredDCF        int `json:"filtered_DCF"`           // by content: not academic
	FailedTextExtract  int `json:"failed_TextExtract"`     // encrypted, broken, cut off, pictures, no reader for it
	FailedFileNotFound int `json:"failed_FileNotFound"`    // the repository has lost the file, or examining it failed for good
	FailedPDFNotFound  int `json:"failed_PDFFilenotFound"` // an archive without a document
	Unexamined         int `json:"unexamined"`             // waits
	SameText           int `json:"same_text"`              // of the saved ones, those with the same bytes or text as another; not CDI's
}

// ByKind are the outcomes by which a file is rejected for its kind, and not for
// what it says.
func ByKind() []string {
	return []string{"not-a-document", "source", "unwelcome", "wall", "error-page"}
}

// HarvestCounters computes Counters of a harvest; "" is the whole collection.
func (db StatisticRecords) HarvestCounters(ctx context.Context, harvest string) (Counters, error) {
	return One(ctx, db, pgx.RowToStructByPos[Counters], nil, `
		WITH item AS (SELECT l.hash, d.kind, d.state, d.outcome, d.class, CASE WHEN d.same_as='' THEN d.sha256 ELSE d.same_as END AS text
			FROM locations l JOIN documents d ON d.sha256=l.sha256
			WHERE $1='' OR l.site_id IN (SELECT site_id FROM harvest_sites WHERE harvest_id=$1)),
		other AS (SELECT count(*) AS n FROM urls u WHERE u.state=4 AND u.outcome='wrong-mimetype'
			AND ($1='' OR u.site_id IN (SELECT site_id FROM harvest_sites WHERE harvest_id=$1))),
		n AS (SELECT count(*) AS every,
			count(DISTINCT hash) FILTER (WHERE state='accepted') AS fresh, count(*) FILTER (WHERE state='accepted') AS accepted,
			count(DISTINCT text) FILTER (WHERE state='accepted') AS texts,
			count(*) FILTER (WHERE by_kind AND NOT packed) AS mtf, count(*) FILTER (WHERE by_kind AND packed) AS hollow,
			count(*) FILTER (WHERE state='rejected' AND class<>'') AS dcf,
			count(*) FILTER (WHERE state='rejected' AND class='' AND NOT by_kind) AS unread,
			count(*) FILTER (WHERE state='failed') AS failed, count(*) FILTER (WHERE state='new') AS waiting
			FROM (SELECT *, state='rejected' AND class='' AND outcome = ANY ($2) AS by_kind,
				kind IN ('zip', 'tar', 'gzip', 'compress', 'bzip2', 'packed') AS packed FROM item) i)
		SELECT every + o.n, fresh, accepted - fresh, mtf + o.n + dcf, mtf + o.n, dcf, unread, failed, hollow, waiting, accepted - texts FROM n, other o`, harvest, ByKind())
}
