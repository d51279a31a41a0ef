package store

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/record/frontier"
)

// KeptLinks are links of pages of a site that a harvest takes after all.
type KeptLinks struct {
	Harvest string                      // "" where no harvest asks
	Site    int                         // of the pages
	Links   []frontier.Entry            // of the same site
	Leads   map[string][]frontier.Entry // of others, by host
	Whole   [][]byte                    // pages to be fetched again, since their links had no room
}

// TakeKeptLinks adds links to the frontiers of their hosts, and the hosts to the
// harvest. It returns how many were new or wait again; a repetition changes nothing.
// The site's own links are entered before, some at a time: while many are, its lease
// and those of other hosts are renewed.
func (db SiteRecords) TakeKeptLinks(ctx context.Context, k KeptLinks) (n int, err error) {
	for some := range slices.Chunk(k.Links, manyLinks) {
		var own int
		err := db.Tx(ctx, func(tx pgx.Tx) (err error) {
			if _, err = tx.Exec(ctx, `SELECT FROM sites WHERE id=$1 FOR NO KEY UPDATE`, k.Site); err == nil {
				own, err = k.takeOwn(ctx, tx, some, nil)
			}
			return err
		})
		if err != nil {
			return n, err
		}
		n += own
	}
	var rest int
	err = db.Tx(ctx, func(tx pgx.Tx) error {
		hosts, sites, err := holdSites(ctx, tx, k.Site, k.Leads)
		if err != nil {
			return err
		}
		if rest, err = k.takeOwn(ctx, tx, nil, k.Whole); err != nil {
			return err
		}
		for i, host := range hosts {
			added, err := writeLeads(ctx, tx, k.Harvest, k.Site, sites[i], k.Leads[host])
			if err != nil {
				return err
			}
			rest += waiting(added)
		}
		return nil
	})
	return n + rest, err
}

// takeOwn enters links of the site itself, whose row is locked, and has pages of it
// fetched again. It returns how many of both wait.
func (k *KeptLinks) takeOwn(ctx context.Context, tx pgx.Tx, links []frontier.Entry, pages [][]byte) (int, error) {
	added, err := frontier.Add(ctx, tx, k.Site, links)
	if err != nil {
		return 0, err
	}
	whole, err := frontier.AskWhole(ctx, tx, k.Site, pages)
	if err != nil {
		return 0, err
	}
	taken := func(e frontier.Entry) bool { return e.Skip == "" }
	if k.Harvest != "" && (whole > 0 || slices.ContainsFunc(links, taken)) {
		err = JoinSite(ctx, tx, k.Harvest, k.Site, "link")
	}
	return waiting(added) + whole, err
}

func waiting(added map[frontier.Hash]frontier.Added) int {
	return each.Count(slices.Collect(maps.Values(added)), func(a frontier.Added) bool { return a.Waiting })
}

// KnownURLs counts the URLs of a site that are on record, but for those that a limit kept out.
func (db SiteRecords) KnownURLs(ctx context.Context, siteID int) (int, error) {
	return Get[int](ctx, db, `SELECT coalesce(sum(n), 0)::int FROM url_counts WHERE site_id=$1 AND state<>5`, siteID)
}

// SetView notes under which options the links of a site's pages were taken.
func (db SiteRecords) SetView(ctx context.Context, siteID int, view string) error {
	return db.Exec(ctx, `UPDATE sites SET view=$2 WHERE id=$1 AND view<>$2`, siteID, view)
}

// ReadSites lists the hosts of a harvest of which pages were read, after a host.
func (db SiteRecords) ReadSites(ctx context.Context, harvest, after string, limit int) ([]string, error) {
	return Column[string](ctx, db, `SELECT s.host FROM sites s JOIN harvest_sites h ON h.site_id=s.id
		WHERE h.harvest_id=$1 AND s.view<>'' AND s.host > $2 COLLATE "C" ORDER BY s.host COLLATE "C" LIMIT $3`, harvest, after, limit)
}

// LinkCounts are what of the record a harvest took up: links found for its papers, links
// that other options let it take, and documents that another filter judged again.
type LinkCounts struct {
	Found     int `json:"found"`
	Reopened  int `json:"reopened"`
	Documents int `json:"documents,omitempty"`
}

// CountLinks notes the links.
func (db HarvestRecords) CountLinks(ctx context.Context, harvest string, n LinkCounts) error {
	return db.Exec(ctx, `UPDATE harvests SET links_found=$2, links_reopened=$3 WHERE id=$1`, harvest, n.Found, n.Reopened)
}

// LinkCounts returns them.
func (db HarvestRecords) LinkCounts(ctx context.Context, harvest string) (LinkCounts, error) {
	return One(ctx, db, pgx.RowToStructByPos[LinkCounts], pgx.ErrNoRows,
		`SELECT links_found, links_reopened, documents_judged FROM harvests WHERE id=$1`, harvest)
}
