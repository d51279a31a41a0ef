package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// DomainYield is what the pages of a registrable domain lead to: accepted documents (by
// content, copies of one text once), wherever they lie, and the DOIs of their papers.
type DomainYield struct {
	Domain    string
	Documents int
	DOIs      []string
}

// referredSQL selects which page refers to which accepted document, or with ingested as $1
// of these those alone that the library's own system took in.
const referredSQL = `SELECT r.url, split_part(r.url, '/', 3) AS host, d.* FROM (` + refersSQL + `) r JOIN documents d ON d.sha256=r.sha256
	WHERE d.state='accepted' AND (NOT $1 OR d.ingestion='ingested')`

// Yields lists what the domains of parent pages lead to, by domain (Wu et al., WebSci
// 2012). A document without a parent page counts for none.
func (db ListRecords) Yields(ctx context.Context, ingested bool) ([]DomainYield, error) {
	hosts, err := Column[string](ctx, db, `SELECT DISTINCT d.host FROM (`+referredSQL+`) d`, ingested)
	if err != nil {
		return nil, err
	}
	domains := each.Of(hosts, weburl.Domain)
	return List[DomainYield](ctx, db, `SELECT v.domain, count(DISTINCT CASE WHEN d.same_as='' THEN d.sha256 ELSE d.same_as END),
			coalesce(array_agg(DISTINCT lower(p.doi)) FILTER (WHERE p.doi <> ''), '{}')
		FROM (`+referredSQL+`) d JOIN unnest($2::text[], $3::text[]) v (host, domain) ON v.host=d.host
			LEFT JOIN matches m ON m.sha256=d.sha256 AND `+FoundSQL+` LEFT JOIN papers p ON p.key=m.paper_key
		GROUP BY v.domain ORDER BY v.domain`, ingested, each.List(hosts), domains)
}

// ParentPage is a page that links to accepted documents.
type ParentPage struct {
	URL       string
	Documents int
}

// ParentPages lists pages with at least one of the documents that Yields counts, but
// for those that are gone and those on blacklisted hosts.
func (db ListRecords) ParentPages(ctx context.Context, ingested bool) ([]ParentPage, error) {
	return List[ParentPage](ctx, db, `SELECT r.url, count(*) FROM (`+referredSQL+`) r
		WHERE NOT EXISTS (SELECT 1 FROM blacklist b WHERE b.host=r.host)
			AND NOT EXISTS (SELECT 1 FROM urls u JOIN sites s ON s.id=u.site_id
				WHERE s.host=r.host AND u.url=r.url AND u.state=4)
			AND NOT EXISTS (SELECT 1 FROM parents p WHERE p.host=r.host AND p.url=r.url AND p.gone <> '')
		GROUP BY r.url ORDER BY r.url`, ingested)
}

// DomainRank is a registrable domain's place among the givers.
type DomainRank struct {
	Domain     string  `json:"domain"`
	Documents  int     `json:"documents"` // n_d
	Citations  int64   `json:"citations"` // n_c
	PDocuments float64 `json:"p_d"`
	PCitations float64 `json:"p_c"`
	F1         float64 `json:"f1"`
	Rank       int     `json:"rank"`
	List       string  `json:"list,omitempty"` // core, D, C
}

// ListedURL is a line of the whitelist.
type ListedURL struct {
	URL       string `json:"url"`
	Domain    string `json:"domain"`
	Position  int    `json:"position"`
	Documents int    `json:"documents"`
	Good      bool   `json:"good"` // more than one: a good parent, as the paper calls it
}

// SaveWhitelist replaces the ranks and the generated part of the whitelist; what
// was imported stays.
func (db ListRecords) SaveWhitelist(ctx context.Context, ranks []DomainRank, urls []ListedURL) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `LOCK domains, whitelist IN SHARE ROW EXCLUSIVE MODE;
			DELETE FROM domains; DELETE FROM whitelist WHERE origin='generated'`)
		if err != nil {
			return err
		}
		_, err = tx.CopyFrom(ctx, pgx.Identifier{"domains"}, []string{"domain", "documents", "citations", "p_documents", "p_citations", "f1", "rank", "list"},
			pgx.CopyFromSlice(len(ranks), func(i int) ([]any, error) {
				r := ranks[i]
				return []any{r.Domain, r.Documents, r.Citations, r.PDocuments, r.PCitations, r.F1, r.Rank, r.List}, nil
			}))
		if err != nil {
			return err
		}
		return addListed(ctx, tx, urls, "generated")
	})
}

func addListed(ctx context.Context, tx pgx.Tx, urls []ListedURL, origin string) error {
	b := &pgx.Batch{}
	inOrder := slices.SortedStableFunc(slices.Values(urls), func(a, b ListedURL) int { return strings.Compare(a.URL, b.URL) })
	for _, u := range inOrder {
		b.Queue(`INSERT INTO whitelist (url, domain, position, documents, origin) VALUES ($1,$2,$3,$4,$5)
			ON CONFLICT (md5(url)) DO UPDATE SET position=EXCLUDED.position, documents=greatest(whitelist.documents, EXCLUDED.documents)`,
			u.URL, u.Domain, u.Position, u.Documents, origin)
	}
	return tx.SendBatch(ctx, b).Close()
}

// ImportWhitelist adds URLs that a person lists.
func (db ListRecords) ImportWhitelist(ctx context.Context, urls []ListedURL) error {
	return db.Tx(ctx, func(tx pgx.Tx) error { return addListed(ctx, tx, urls, "imported") })
}

const whitelistSQL = `SELECT url, domain, position, documents, documents > 1 FROM whitelist
	WHERE position >= $1 AND (position, url) > ($1, $2) ORDER BY position, url LIMIT nullif($3, 0)`

// Whitelist lists the URLs after one, the best domain's first; limit 0 is all.
func (db ListRecords) Whitelist(ctx context.Context, position int, url string, limit int) ([]ListedURL, error) {
	return List[ListedURL](ctx, db, whitelistSQL, position, url, limit)
}

// DomainRanks lists the domains by rank; limit 0 is all.
func (db ListRecords) DomainRanks(ctx context.Context, limit int) ([]DomainRank, error) {
	return List[DomainRank](ctx, db, `SELECT domain, documents, citations, p_documents, p_citations, f1, rank, list FROM domains ORDER BY rank, domain LIMIT nullif($1, 0)`, limit)
}

// Blocked is a host that is not to be asked.
type Blocked struct {
	Host   string    `json:"host"`
	Reason string    `json:"reason,omitempty"`
	Added  time.Time `json:"added_at,omitzero"`
}

const blacklistSQL = `SELECT host, reason, added_at FROM blacklist WHERE host > $1 ORDER BY host LIMIT nullif($2, 0)`

// Blacklist lists the hosts that are not to be asked, behind one; limit 0 is all.
func (db ListRecords) Blacklist(ctx context.Context, host string, limit int) ([]Blocked, error) {
	return List[Blocked](ctx, db, blacklistSQL, host, limit)
}

// Block puts hosts on the blacklist; Unblock takes one off it again.
func (db ListRecords) Block(ctx context.Context, hosts []Blocked) error {
	b := &pgx.Batch{}
	inOrder := slices.SortedStableFunc(slices.Values(hosts), func(a, b Blocked) int { return strings.Compare(a.Host, b.Host) })
	for _, h := range inOrder {
		b.Queue(`INSERT INTO blacklist (host, reason) VALUES ($1,$2) ON CONFLICT (host) DO UPDATE SET reason=coalesce(nullif(EXCLUDED.reason, ''), blacklist.reason)`, h.Host, h.Reason)
	}
	return db.Pool.SendBatch(ctx, b).Close()
}

// Unblock reports whether the host was on the blacklist. Authors of whom it kept a page out
// are to be looked for again.
func (db ListRecords) Unblock(ctx context.Context, host string) (bool, error) {
	return Get[bool](ctx, db, `WITH off AS (DELETE FROM blacklist WHERE host=$1 RETURNING host),
		again AS (UPDATE homepage_decisions d SET next_try=now() FROM off
			WHERE EXISTS (SELECT 1 FROM (`+barredSQL+`).url') v) c WHERE NOT EXISTS (
				SELECT 1 FROM blacklist b WHERE b.host=split_part(c.url, '/', 3) AND b.host<>off.host))),
		site AS (UPDATE sites s SET reason=overlay(s.reason PLACING $3 FROM 1 FOR length($2)) FROM off
			WHERE s.host=off.host AND s.state='stopped' AND starts_with(s.reason, $2))
		SELECT EXISTS (SELECT 1 FROM off)`, host, gleaner.Blacklisted, gleaner.Unblocked)
}

// blockedSQL begins a query of why a host is on the blacklist.
const blockedSQL = `(SELECT concat_ws(': ', 'the host is on the blacklist', nullif(b.reason, '')) FROM blacklist b WHERE`

// Blocked tells why a host is on the blacklist, "" where it is not.
func (db ListRecords) Blocked(ctx context.Context, host string) (string, error) {
	return Get[string](ctx, db, `SELECT coalesce(`+blockedSQL+` b.host=$1), '')`, host)
}

// ListStatus says how a host stands with the lists.
type ListStatus struct {
	Blocked bool
	Reason  string
	Listed  bool // its domain is on the whitelist
}

// ListStatus looks up a host.
func (db ListRecords) ListStatus(ctx context.Context, host, domain string) (ListStatus, error) {
	return One(ctx, db, pgx.RowToStructByPos[ListStatus], nil, `SELECT EXISTS (SELECT 1 FROM blacklist WHERE host=$1), coalesce((SELECT reason FROM blacklist WHERE host=$1), ''),
		EXISTS (SELECT 1 FROM whitelist WHERE domain=$2)`, host, domain)
}

// SaveCitations keeps citation counts by domain or DOI; a later count replaces
// an earlier one.
func (db ListRecords) SaveCitations(ctx context.Context, source string, cited map[string]int64) error {
	return db.Exec(ctx, `INSERT INTO citations (key, cited, source) SELECT key, value::bigint, $2 FROM jsonb_each_text($1::jsonb) ORDER BY key
		ON CONFLICT (key) DO UPDATE SET cited=EXCLUDED.cited, source=EXCLUDED.source`, cited, source)
}

// Citations returns all kept counts by domain or DOI.
func (db ListRecords) Citations(ctx context.Context) (map[string]int64, error) {
	return Map[string, int64](ctx, db, `SELECT key, cited FROM citations`)
}

// SeedWhitelist gives the whitelist's pages to the frontiers of their hosts, in
// the order of the list, and makes these hosts due. It returns how many hosts of
// the list have pages. A page that is known already is put back; but those of domains
// that gave fewer than small accepted documents, and their hosts, are asked when their
// own time has come, and new pages there at once.
func (db ListRecords) SeedWhitelist(ctx context.Context, small int) (int, error) {
	urls, err := db.Whitelist(ctx, -1, "", 0)
	if err != nil {
		return 0, err
	}
	rarely, err := Column[string](ctx, db, `SELECT domain FROM domains WHERE documents < $1`, small)
	if err != nil {
		return 0, err
	}
	byHost := map[string][]frontier.Entry{}
	for _, u := range urls {
		host := weburl.Host(u.URL)
		byHost[host] = append(byHost[host], frontier.Entry{Role: frontier.Member, Candidate: page.Candidate{
			Link: page.Link{URL: u.URL, Position: u.Position, Source: page.SourceSeed}, Queue: 3, Priority: 1 / float64(1+u.Position)}})
	}
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		again := !slices.Contains(rarely, weburl.Domain(host))
		if err := db.Tx(ctx, func(tx pgx.Tx) error { return seedHost(ctx, tx, host, firstOfEach(byHost[host]), again) }); err != nil {
			return 0, fmt.Errorf("store: seed %s: %w", host, err)
		}
	}
	return len(byHost), nil
}

// seedHost enters pages of a host. again makes those due that were asked before.
func seedHost(ctx context.Context, tx pgx.Tx, host string, entries []frontier.Entry, again bool) error {
	id, err := HoldSite(ctx, tx, host)
	if err != nil {
		return err
	}
	added, err := frontier.Add(ctx, tx, id, entries)
	if err != nil || len(added) == 0 && !again {
		return err
	}
	hashes := each.Of(entries, func(e frontier.Entry) frontier.Hash { return e.Hash() })
	if _, err := tx.Exec(ctx, `UPDATE urls SET due_at=now() WHERE $3 AND site_id=$1 AND hash = ANY($2) AND state IN (1, 2)`, id, hashes, again); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE sites SET due_at=now() WHERE id=$1`, id)
	return err
}

// firstOfEach drops entries of one identity, keeping the first.
func firstOfEach(entries []frontier.Entry) []frontier.Entry {
	met := map[frontier.Hash]bool{}
	return slices.DeleteFunc(entries, func(e frontier.Entry) bool {
		h := e.Hash()
		defer func() { met[h] = true }()
		return met[h]
	})
}
